"""How checks become an axis verdict: one place, so that the four axes read alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict, is_score
from seekwatch.processors.text.fold import shortened

EVIDENCE_LENGTH: Final = 200
"""Characters of an evidence line: one line of a terminal, or of a page to on-call."""

_ORDER: Final = {tag: place for place, tag in enumerate(FailureTag)}
_MAX_SPANS: Final = 20
_MAX_QUOTED: Final = 4
_MAX_CHECKS: Final = 120
_SUBJECT_LENGTH: Final = 300


def joined(
    axis: Axis,
    deciding: Sequence[Check],
    checks: Sequence[Check],
    verdict: Verdict,
    *,
    score: float | None,
    tags: Iterable[FailureTag] = (),
    spans: Iterable[str] = (),
    measures: Mapping[str, float] | None = None,
    notes: Mapping[str, str] | None = None,
    nothing: tuple[Reason, str],
    summary: str | None = None,
) -> AxisVerdict:
    """Make the verdict of an axis from its checks.

    Args:
        axis: which.
        deciding: the checks that the verdict rests on, most telling first.
        checks: every check, in a fixed order.
        verdict: how the deciding ones join.
        score: 0 to 1; dropped where the axis is unscorable or the number is no score.
        tags: in any order; each is kept once.
        spans: what the axis rests on; the first is the one it attaches to.
        measures: finite figures; others are left out.
        notes: named words.
        nothing: reason and line for when no check was asked.
        summary: the line of a good verdict, in place of its first check's.
    """
    telling = next((check for check in deciding if check.verdict is verdict), None)
    line = nothing[1] if telling is None else telling.evidence
    if verdict is Verdict.GOOD and summary is not None:
        line = summary
    reason = None
    if verdict is Verdict.UNSCORABLE:
        score = None
        reason = nothing[0] if telling is None else telling.reason
    return AxisVerdict(
        axis=axis,
        verdict=verdict,
        evidence=shortened(line, EVIDENCE_LENGTH),
        score=score if is_score(score) else None,
        reason=reason,
        checks=_reported(checks),
        tags=ordered_tags(tags),
        spans=tuple(dict.fromkeys(spans))[:_MAX_SPANS],
        measures={
            name: float(value)
            for name, value in (measures or {}).items()
            if float("-inf") < value < float("inf")
        },
        notes=dict(notes or {}),
    )


def unscorable_axis(
    axis: Axis,
    reason: Reason,
    evidence: str,
    *,
    spans: Iterable[str] = (),
    notes: Mapping[str, str] | None = None,
) -> AxisVerdict:
    """An axis that could not be judged at all."""
    return AxisVerdict(
        axis=axis,
        verdict=Verdict.UNSCORABLE,
        reason=reason,
        evidence=shortened(evidence, EVIDENCE_LENGTH),
        spans=tuple(dict.fromkeys(spans))[:_MAX_SPANS],
        notes=dict(notes or {}),
    )


def ordered_tags(tags: Iterable[FailureTag]) -> tuple[FailureTag, ...]:
    """Each tag once, in the order of the closed list."""
    return tuple(sorted(set(tags), key=_ORDER.__getitem__))


def quoted_list(spans: Iterable[str]) -> str:
    """A few spans in guillemets, the rest counted: `«2026», «Berlin» and 3 more`."""
    unique = list(dict.fromkeys(shortened(span, 48) for span in spans))
    shown = ", ".join(f"«{span}»" for span in unique[:_MAX_QUOTED])
    rest = len(unique) - _MAX_QUOTED
    return f"{shown} and {rest} more" if rest > 0 else shown


def _reported(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Bounded in number and length; where there are too many, good ones are left out first."""
    if len(checks) > _MAX_CHECKS:
        failed = [check for check in checks if check.verdict is not Verdict.GOOD][:_MAX_CHECKS]
        room = _MAX_CHECKS - len(failed)
        good = [check for check in checks if check.verdict is Verdict.GOOD][:room]
        chosen = {id(check) for check in (*failed, *good)}
        checks = [check for check in checks if id(check) in chosen]
    return tuple(_bounded(check) for check in checks)


def _bounded(check: Check) -> Check:
    return msgspec.structs.replace(
        check,
        evidence=shortened(check.evidence, EVIDENCE_LENGTH) or check.name,
        subject=None if check.subject is None else shortened(check.subject, _SUBJECT_LENGTH),
        spans=check.spans[:_MAX_SPANS],
    )
