"""How far a judge can be believed: its agreement with people, and with the deterministic scorers.

Agreement by chance is taken off (Cohen's kappa, 1960). A judge is its rubric, prompt and model
together: labels that people gave of an earlier revision say nothing of the present one, so every
revision needs a sample of its own.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from seekwatch.core.scorecard import Axis, JudgeVerdict, Scorecard
from seekwatch.core.verdicts import Verdict
from seekwatch.evidence.labels import Label

ENOUGH: Final = 50
"""Labels of one revision from which on a figure is worth reading: a share of 0.8 is then known to
about 0.11 (95 %, Wilson)."""

COUNTERPARTS: Final = {
    "claim-support": (Axis.CITATION_VALIDITY, "support"),
    "query-rewriting": (Axis.QUERY_QUALITY, None),
    "freshness-handling": (Axis.SOURCE_FRESHNESS, None),
    "source-primacy": (Axis.SOURCE_DIVERSITY, "primary"),
}
"""What of the scorers a rubric is compared with: an axis, or one of its checks."""

Pair = tuple[Verdict, Verdict]
"""Two verdicts on one thing, neither of them unscorable."""


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How often two agree.

    Attributes:
        pairs: things that both gave a verdict on.
        share: of them with the same verdict; None without any.
        low, high: its 95 % interval (Wilson 1927).
        kappa: agreement beyond chance, 1 at best; None where one of them always says the same.
        missed: bad by the other, good by the judge.
        alarms: good by the other, bad by the judge.
    """

    pairs: int
    share: float | None = None
    low: float | None = None
    high: float | None = None
    kappa: float | None = None
    missed: int = 0
    alarms: int = 0


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """One judge: a rubric in one revision with one model.

    Attributes:
        judged, unscorable: judgements with and without a verdict.
        people: agreement with labels of this very revision.
        scorer: agreement with the deterministic counterpart; None where there is none.
        wanted: labels that are missing until the figure is worth reading.
        unlabelled: traces to label next, bad ones and good ones in turns.
    """

    rubric: str
    revision: str
    model: str
    judged: int
    unscorable: int
    people: Agreement
    scorer: Agreement | None
    wanted: int
    unlabelled: tuple[str, ...] = ()


def calibrate(cards: Iterable[Scorecard], labels: Sequence[Label]) -> list[Calibration]:
    """Compare every judge that the scorecards hold with people and with the scorers."""
    judged: dict[tuple[str, str, str], list[tuple[Scorecard, JudgeVerdict]]] = {}
    for card in cards:
        for verdict in card.judgements:
            key = (verdict.rubric, verdict.revision, verdict.model)
            judged.setdefault(key, []).append((card, verdict))
    return [_calibration(key, found, labels) for key, found in sorted(judged.items())]


def _calibration(
    key: tuple[str, str, str],
    found: Sequence[tuple[Scorecard, JudgeVerdict]],
    labels: Sequence[Label],
) -> Calibration:
    rubric, revision, model = key
    mine = [label for label in labels if label.about == rubric and label.revision in ("", revision)]
    people = [pair for card, verdict in found for pair in _with_people(card, verdict, mine)]
    scorer = None
    if rubric in COUNTERPARTS:
        pairs = (_with_scorer(card, verdict) for card, verdict in found)
        scorer = agreement([pair for pair in pairs if pair is not None])
    labelled = {label.trace for label in mine}
    scored = [verdict for _, verdict in found if verdict.verdict is not Verdict.UNSCORABLE]
    return Calibration(
        rubric=rubric,
        revision=revision,
        model=model,
        judged=len(scored),
        unscorable=len(found) - len(scored),
        people=agreement(people),
        scorer=scorer,
        wanted=max(0, ENOUGH - len(people)),
        unlabelled=tuple(_to_label(found, labelled)),
    )


def _with_people(card: Scorecard, verdict: JudgeVerdict, labels: Iterable[Label]) -> Iterator[Pair]:
    for label in labels:
        same = label.trace == card.trace and label.subject in ("", verdict.subject)
        if same and Verdict.UNSCORABLE not in (label.verdict, verdict.verdict):
            yield label.verdict, verdict.verdict


def _with_scorer(card: Scorecard, verdict: JudgeVerdict) -> Pair | None:
    name, check = COUNTERPARTS[verdict.rubric]
    axis = card.axis(name)
    said = axis.verdict
    if check is not None:
        alike = [each for each in axis.checks if each.name == check]
        subject = [each for each in alike if _same(each.subject, verdict.subject)]
        chosen = subject or (alike if len(alike) == 1 else [])
        if not chosen:
            return None
        said = chosen[0].verdict
    if Verdict.UNSCORABLE in (said, verdict.verdict):
        return None
    return said, verdict.verdict


def _same(left: str | None, right: str) -> bool:
    return bool(left and right) and (left == right or right in (left or ""))


def agreement(pairs: Sequence[Pair]) -> Agreement:
    """Compare pairs of (the other's, the judge's) verdicts."""
    number = len(pairs)
    if not number:
        return Agreement(pairs=0)
    same = sum(1 for other, judge in pairs if other is judge)
    low, high = _wilson(same, number)
    return Agreement(
        pairs=number,
        share=same / number,
        low=low,
        high=high,
        kappa=_kappa(pairs),
        missed=sum(1 for pair in pairs if pair == (Verdict.BAD, Verdict.GOOD)),
        alarms=sum(1 for pair in pairs if pair == (Verdict.GOOD, Verdict.BAD)),
    )


def _kappa(pairs: Sequence[Pair]) -> float | None:
    """Cohen's kappa; None where chance alone agrees always."""
    number = len(pairs)
    others = Counter(other for other, _ in pairs)
    judges = Counter(judge for _, judge in pairs)
    chance = sum(others[verdict] * judges[verdict] for verdict in Verdict) / number**2
    if chance >= 1:
        return None
    observed = sum(1 for other, judge in pairs if other is judge) / number
    return (observed - chance) / (1 - chance)


def _wilson(same: int, number: int, z: float = 1.96) -> tuple[float, float]:
    share, square = same / number, z * z / number
    middle = (share + square / 2) / (1 + square)
    reach = z * math.sqrt(share * (1 - share) / number + square / (4 * number)) / (1 + square)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _to_label(
    found: Sequence[tuple[Scorecard, JudgeVerdict]], labelled: set[str], number: int = 6
) -> Iterator[str]:
    """Bad and good in turns: a sample of one kind alone says nothing of agreement."""
    rest = {Verdict.BAD: dict[str, None](), Verdict.GOOD: dict[str, None]()}
    for card, verdict in found:
        if card.trace not in labelled and verdict.verdict in rest:
            rest[verdict.verdict].setdefault(card.trace)
    turns = [list(traces) for traces in rest.values()]
    chosen: dict[str, None] = {}
    for index in range(number):
        for traces in turns:
            if index < len(traces) and len(chosen) < number:
                chosen.setdefault(traces[index])
    yield from chosen
