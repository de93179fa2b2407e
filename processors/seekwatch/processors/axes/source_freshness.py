"""Axis 2: were the sources young enough for this question, and if not, does the answer say so?

The regime of the question sets the floor; the age of the youngest cited source decides unless
policy chooses the median or the share (measured: the youngest predicts right answers, the median
does not).
"""

from collections.abc import Sequence
from statistics import median
from typing import Final

from seekwatch.core.policy import FreshnessRule, Regime
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict, conjunction
from seekwatch.processors.axes.joining import joined, unscorable_axis
from seekwatch.processors.questions.regimes import reading_of_question, regime_from_name
from seekwatch.processors.sources.ages import DAY, SourceAge, age_of, cache_finding
from seekwatch.processors.sources.run_view import RunView, Source
from seekwatch.processors.text.dates import iso_day
from seekwatch.processors.text.fold import shortened
from seekwatch.processors.text.phrases import has_caveat

CHECK_NAMES: Final = frozenset({"youngest", "median", "share", "source-date", "caveat", "cache"})
"""One of `youngest`, `median`, `share` decides, by policy; `cache` too for fast and real-time
questions. `source-date` (one per source without a date) and `caveat` are reported."""

_MAX_REPORTED: Final = 20
_WHY_LENGTH: Final = 44
_LINE_LENGTH: Final = 200
_ENOUGH: Final = 3
"""Fresh sources beyond which more of them do not make an answer likelier to be right (measured)."""
_CACHE_ORDER: Final = {True: 0, None: 1, False: 2}
_DATED_SHARE: Final = 0.5
"""Fewer sources with a date than this, and old ones do not condemn the rest."""


def judge(run: RunView) -> AxisVerdict:
    """Compare the ages of the cited sources (of the read pages where none is cited) to the floor.

    The score, when the youngest source decides, is the mean of floor / (floor + age) and of how
    many sources, up to three, are inside the floor: at least 0.41 inside, at most 0.25 outside.
    For the median it is floor / (floor + age), for the share the share itself; 1 for an
    insensitive question.
    """
    regime, notes = regime_of(run)
    if run.unanswered is not None:
        return unscorable_axis(Axis.SOURCE_FRESHNESS, *run.unanswered, notes=notes)
    basis, sources = run.basis
    if regime is None:
        line = "no question, so no regime to judge ages by"
        return unscorable_axis(Axis.SOURCE_FRESHNESS, Reason.NO_QUESTION, line)
    floor = _floor(run, regime)
    if floor is None:
        return _insensitive(run, notes)
    if not sources:
        line = f"{_asked(notes)}: no source was cited or read"
        return unscorable_axis(Axis.SOURCE_FRESHNESS, Reason.NO_SOURCES, line, notes=notes)
    notes["sources"] = basis
    return _judged(run, regime, floor, sources, notes)


def regime_of(run: RunView) -> tuple[Regime | None, dict[str, str]]:
    """The regime, and as notes where it is from: the agent's own word, else the question's."""
    declared = regime_from_name(run.episode.context.freshness_regime)
    if declared is not None:
        return declared, {"regime": declared.value, "regime_from": "agent"}
    if not run.episode.question:
        return None, {}
    reading = reading_of_question(run.episode.question, _year(run.episode.as_of))
    why = shortened(reading.why, _WHY_LENGTH)
    return reading.regime, {
        "regime": reading.regime.value,
        "regime_from": "question",
        "regime_why": why,
    }


def _asked(notes: dict[str, str]) -> str:
    """`fast («latest»)`: the regime and why, for evidence."""
    return f"{notes['regime']} ({notes.get('regime_why', 'says the agent')})"


def _year(nanoseconds: int) -> int:
    day = iso_day(nanoseconds)
    return int(day[:4]) if day[:4].isdigit() else 1970


def _floor(run: RunView, regime: Regime) -> float | None:
    """Seconds that still count as fresh: the truth record's window, else the regime's floor."""
    truth = run.evidence.truth
    if truth is not None and truth.freshness_window is not None:
        return truth.freshness_window
    return run.policy.freshness.floors.get(regime)


def _insensitive(run: RunView, notes: dict[str, str]) -> AxisVerdict:
    line = f"{_asked(notes)}: sources of any age will do"
    check = Check.good("youngest", line, spans=run.answer_spans)
    return joined(
        Axis.SOURCE_FRESHNESS,
        [check],
        [check],
        Verdict.GOOD,
        score=1.0,
        spans=run.answer_spans,
        notes=notes,
        nothing=(Reason.NOT_APPLICABLE, line),
    )


def _judged(
    run: RunView, regime: Regime, floor: float, sources: Sequence[Source], notes: dict[str, str]
) -> AxisVerdict:
    policy = run.policy.freshness
    aged = [age_of(source, run.episode.as_of, policy.minimum_confidence) for source in sources]
    ages = [age for age in aged if age is not None]
    undated = [source for source, age in zip(sources, aged, strict=True) if age is None]
    rules = _age_checks(ages, len(sources), floor, policy.minimum_share, _asked(notes))
    rule, cache = rules[policy.rule], _cache_check(sources)
    caveat = _caveat_check(run) if rule.verdict is Verdict.BAD else None
    moving = regime in (Regime.FAST, Regime.REAL_TIME)
    told = cache is not None and cache.verdict is not Verdict.UNSCORABLE
    deciding = [rule, *([cache] if cache is not None and told and moving else [])]
    tagged = (
        (rule, FailureTag.STALE_SOURCE),
        (caveat, FailureTag.MISSING_CAVEAT),
        (cache, FailureTag.STALE_CACHE),
    )
    tags = [tag for check, tag in tagged if check and check.verdict is Verdict.BAD]
    if undated and moving:
        tags.append(FailureTag.UNDATED_SOURCE)
    reported = (*rules.values(), *map(_undated, undated[:_MAX_REPORTED]), caveat, cache)
    scores = [check.score for check in deciding if check.score is not None]
    return joined(
        Axis.SOURCE_FRESHNESS,
        deciding,
        [check for check in reported if check is not None],
        conjunction(check.verdict for check in deciding),
        score=min(scores, default=None),
        tags=tags,
        spans=[*run.answer_spans, *(span for source in sources for span in source.spans)],
        measures=_measures(ages, len(undated), floor),
        notes=notes,
        nothing=(Reason.NO_DATES, "no source has a date"),
    )


def _age_checks(
    ages: list[SourceAge], count: int, floor: float, minimum_share: float, asked: str
) -> dict[FreshnessRule, Check]:
    """The three named checks, in the order of `FreshnessRule`."""
    if not ages:
        line = f"none of {count} sources has a date that is sure enough"
        return {name: Check.unscorable(name.value, Reason.NO_DATES, line) for name in FreshnessRule}
    spans = [span for age in ages for span in age.source.spans]
    enough = len(ages) >= _DATED_SHARE * count
    checks: dict[FreshnessRule, Check] = {}
    for name, (fresh, score, found) in _findings(ages, floor, minimum_share, asked).items():
        if fresh:
            checks[name] = Check.good(name.value, found, score=score, spans=spans)
        elif enough:
            checks[name] = Check.bad(name.value, found, score=score, spans=spans)
        else:
            few = f"only {len(ages)} of {count} sources have a date; {found}"
            checks[name] = Check.unscorable(name.value, Reason.NO_DATES, few, spans=spans)
    return checks


def _findings(
    ages: list[SourceAge], floor: float, minimum_share: float, asked: str
) -> dict[FreshnessRule, tuple[bool, float, str]]:
    """For each rule: does it hold, its score, its line."""
    youngest = min(ages, key=lambda age: age.seconds)
    middle = median(age.seconds for age in ages)
    fresh = sum(age.seconds <= floor for age in ages)
    inside = fresh / len(ages)
    dated, limit = f"{len(ages)} dated sources", f"floor {_days(floor)} for {asked}"
    first = f"youngest of {dated} is {_days(youngest.seconds)} old, {limit}: "
    return {
        FreshnessRule.YOUNGEST: (
            youngest.seconds <= floor,
            (_score(youngest.seconds, floor) + min(1.0, fresh / _ENOUGH)) / 2,
            first + shortened(youngest.line, _LINE_LENGTH - len(first)),
        ),
        FreshnessRule.MEDIAN: (
            middle <= floor,
            _score(middle, floor),
            f"median age {_days(middle)} of {dated}, {limit}",
        ),
        FreshnessRule.SHARE: (
            inside >= minimum_share,
            inside,
            f"{inside:.0%} of {dated} inside the {limit}",
        ),
    }


def _score(age: float, floor: float) -> float:
    """Half at the floor, falling with age, never below 0."""
    return floor / (floor + age) if floor > 0 else float(age == 0)


def _undated(source: Source) -> Check:
    line = f"no date that is sure enough for {shortened(source.url, 120)}"
    return Check.unscorable(
        "source-date", Reason.NO_DATES, line, subject=source.url, spans=source.spans
    )


def _caveat_check(run: RunView) -> Check | None:
    answer = run.episode.answer
    if answer is None or not answer.text:
        return None
    if has_caveat(answer.text):
        return Check.good(
            "caveat", "the answer says how old its sources are", spans=run.answer_spans
        )
    line = "stale sources, and the answer does not say so"
    return Check.bad("caveat", line, spans=run.answer_spans)


def _cache_check(sources: Sequence[Source]) -> Check | None:
    """Whether a page came out of a cache past its freshness; None when no cache was involved."""
    found = [
        (source.fetch, finding)
        for source in sources
        if source.fetch is not None and (finding := cache_finding(source.fetch)) is not None
    ]
    if not found:
        return None
    # A stale page is told of before one that we know too little of, and that before a good one.
    fetch, finding = min(found, key=lambda pair: _CACHE_ORDER[pair[1].stale])
    line = f"{shortened(fetch.url, 100)} {finding.line}"
    if finding.stale:
        return Check.bad("cache", line, subject=fetch.url, spans=(fetch.span,))
    if finding.stale is None:
        return Check.unscorable("cache", Reason.NO_DATES, line, spans=(fetch.span,))
    return Check.good("cache", line, spans=[fetch.span for fetch, _ in found])


def _measures(ages: list[SourceAge], undated: int, floor: float) -> dict[str, float]:
    measures = {"dated": float(len(ages)), "undated": float(undated), "floor_days": floor / DAY}
    if ages:
        measures["youngest_days"] = round(min(age.days for age in ages), 3)
        measures["median_days"] = round(median(age.days for age in ages), 3)
        measures["oldest_days"] = round(max(age.days for age in ages), 3)
        measures["share_inside"] = sum(age.seconds <= floor for age in ages) / len(ages)
    return measures


def _days(seconds: float) -> str:
    days = seconds / DAY
    return f"{days:.0f} d" if days >= 2 else f"{seconds / 3600:.1f} h"
