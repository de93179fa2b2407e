"""For every ratio alert: over its line it fires, under its line and with few runs it is silent."""

from collections.abc import Iterator

from tests.rules.promtool import Case
from tests.rules.ratio_expectations import SUBJECTS, Subject
from tests.rules.series import runs

_A_MINUTE = 10
# Long enough for the patience of each alert, and short enough that every window holds all runs.
_MINUTES = {"BurnFast": 30, "High": 40, "BurnSlow": 60, "BurnTicket": 100}
# A whole number of samples just under the minimum, spread over the same time.
_TOO_FEW = {"BurnFast": 18, "High": 45, "BurnSlow": 48, "BurnTicket": 96}


def _cases_of(subject: Subject) -> Iterator[Case]:
    for suffix, lines in subject.lines.items():
        alert = f"{subject.prefix}{suffix}"
        minutes = _MINUTES[suffix]
        at = f"{minutes}m"
        samples = dict.fromkeys(lines, _A_MINUTE * minutes)
        over, under = max(lines.values()) + 5, min(lines.values()) - 2
        yield Case(
            sentence=f"{alert} fires at {over:g} % bad",
            alert=alert,
            series=_traffic(subject, over, _A_MINUTE, minutes),
            expect={at: [subject.firing(suffix, over, samples)]},
        )
        yield Case(
            sentence=f"{alert} is silent at {under:g} % bad",
            alert=alert,
            series=_traffic(subject, under, _A_MINUTE, minutes),
            expect={f"{minutes // 2}m": [], at: []},
        )
        yield Case(
            sentence=f"{alert} is silent at 100 % bad of {_TOO_FEW[suffix]} runs",
            alert=alert,
            series=_traffic(subject, 100, _TOO_FEW[suffix] / minutes, minutes),
            expect={at: []},
        )
        yield Case(
            sentence=f"{alert} is silent without traffic",
            alert=alert,
            series=_traffic(subject, 50, 0, minutes),
            expect={at: []},
        )


def _traffic(subject: Subject, bad_percent: float, rate: float, minutes: int) -> dict[str, str]:
    bad = rate * bad_percent / 100
    return subject.traffic(rate - bad, bad, minutes)


def _special_cases() -> Iterator[Case]:
    by_prefix = {subject.prefix: subject for subject in SUBJECTS}
    citations, success = by_prefix["CitationValidity"], by_prefix["SuccessRate"]
    yield Case(
        sentence="CitationValidityBurnTicket fires on the trend alone, at 15 % bad",
        alert="CitationValidityBurnTicket",
        series=_traffic(citations, 15, _A_MINUTE, 100),
        expect={"100m": [citations.firing("BurnTicket", 15, {"1d": 1000, "3d": 1000})]},
    )
    yield Case(
        sentence="SuccessRateBurnFast counts neither for nor against an unknown outcome",
        alert="SuccessRateBurnFast",
        series={**_traffic(success, 80, _A_MINUTE, 50), **runs("shop", "unknown", (90, 50))},
        expect={"50m": [success.firing("BurnFast", 80, {"1h": 500})]},
    )
    yield Case(
        sentence="SuccessRateBurnFast takes a refusal that was right for a success",
        alert="SuccessRateBurnFast",
        series=runs("shop", "correct_refusal", (10, 50)),
        expect={"50m": []},
    )
    latency = by_prefix["Latency"]
    yield Case(
        sentence="LatencyHigh reads the bucket in the spelling of the text format as well",
        alert="LatencyHigh",
        series={
            series.replace('.0"', '"'): values
            for series, values in _traffic(latency, 25, _A_MINUTE, 55).items()
        },
        expect={"55m": [latency.firing("High", 25, {"1h": 550})]},
    )


CASES = [*(case for subject in SUBJECTS for case in _cases_of(subject)), *_special_cases()]
