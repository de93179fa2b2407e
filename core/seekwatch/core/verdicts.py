"""Verdicts and the algebra that joins them.

A check ends in good, bad or unscorable with a reason. Unscorable is neither good nor bad: it leaves
every ratio. Joining follows three-valued logic (Kleene's strong conjunction, with `unscorable` as
the unknown): one bad decides, else one unscorable keeps the answer open, else all were good.
"""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

import msgspec


class Verdict(StrEnum):
    """How a check or an axis ended."""

    GOOD = "good"
    BAD = "bad"
    UNSCORABLE = "unscorable"


class Reason(StrEnum):
    """Why something is unscorable: a closed set, fit for a metric label."""

    NO_QUESTION = "no-question"
    NO_QUERY = "no-query"
    NO_ANSWER = "no-answer"
    NO_CITATIONS = "no-citations"
    NO_SOURCES = "no-sources"
    NO_DATES = "no-dates"
    NO_PAGE = "no-page"
    NO_CONTENT = "content-withheld"
    NO_QUOTE = "no-quote"
    NOT_APPLICABLE = "not-applicable"
    NOT_FETCHED = "not-fetched"
    TRUNCATED = "truncated"
    INCOMPLETE_TRACE = "incomplete-trace"
    ACCESS_DENIED = "access-denied"
    UNREACHABLE = "unreachable"
    SCORER_ERROR = "scorer-error"
    INVALID_SCORE = "invalid-score"
    JUDGE_FAILED = "judge-failed"
    NOTHING_TO_DIVIDE = "nothing-to-divide"


class Check(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question that a scorer asked of an episode, and its answer.

    Attributes:
        name: the check's name, from a closed set per axis.
        verdict: how it ended.
        reason: why, when unscorable; None otherwise.
        score: a finite number from 0.0 (worst) to 1.0 (best), or None without one.
        evidence: one line that an on-call engineer can read.
        subject: what was looked at (a query, a URL), when a check runs on several things.
        spans: ids of the spans it rests on, as 16 hex characters, each once.
    """

    name: str
    verdict: Verdict
    evidence: str
    reason: Reason | None = None
    score: float | None = None
    subject: str | None = None
    spans: tuple[str, ...] = ()

    @classmethod
    def good(
        cls,
        name: str,
        evidence: str,
        *,
        score: float = 1.0,
        subject: str | None = None,
        spans: Iterable[str] = (),
    ) -> Self:
        """A check that passed."""
        return cls._answered(Verdict.GOOD, name, evidence, score, subject, spans)

    @classmethod
    def bad(
        cls,
        name: str,
        evidence: str,
        *,
        score: float = 0.0,
        subject: str | None = None,
        spans: Iterable[str] = (),
    ) -> Self:
        """A check that the agent failed."""
        return cls._answered(Verdict.BAD, name, evidence, score, subject, spans)

    @classmethod
    def unscorable(
        cls,
        name: str,
        reason: Reason,
        evidence: str,
        *,
        subject: str | None = None,
        spans: Iterable[str] = (),
    ) -> Self:
        """A check that the monitor could not answer."""
        return cls(
            name=name,
            verdict=Verdict.UNSCORABLE,
            evidence=evidence,
            reason=reason,
            subject=subject,
            spans=tuple(dict.fromkeys(spans)),
        )

    @classmethod
    def _answered(
        cls,
        verdict: Verdict,
        name: str,
        evidence: str,
        score: float,
        subject: str | None,
        spans: Iterable[str],
    ) -> Self:
        return cls(
            name=name,
            verdict=verdict,
            evidence=evidence,
            score=score,
            subject=subject,
            spans=tuple(dict.fromkeys(spans)),
        ).validated()

    def validated(self) -> Self:
        """Return this check, or an unscorable one in its place when its score is no score."""
        if self.score is None or is_score(self.score):
            return self
        return self.unscorable(
            self.name,
            Reason.INVALID_SCORE,
            f"scorer returned {self.score!r}, which is not a number from 0 to 1",
            subject=self.subject,
            spans=self.spans,
        )


def is_score(value: object) -> bool:
    """Tell whether `value` is a finite number from 0 to 1; booleans and text are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0.0 <= value <= 1.0


def conjunction(verdicts: Iterable[Verdict]) -> Verdict:
    """Join verdicts of which all should be good; none at all is unscorable."""
    seen = set(verdicts)
    if Verdict.BAD in seen:
        return Verdict.BAD
    if Verdict.UNSCORABLE in seen or not seen:
        return Verdict.UNSCORABLE
    return Verdict.GOOD


def decided(verdicts: Iterable[Verdict]) -> Verdict:
    """Join verdicts of which the answered ones decide; unscorable only when none was answered.

    For many like things (the citations of one answer), where one that we could not see must not
    hide what we saw of the others.
    """
    seen = set(verdicts)
    if Verdict.BAD in seen:
        return Verdict.BAD
    return Verdict.GOOD if Verdict.GOOD in seen else Verdict.UNSCORABLE


def ratio(numerator: float, denominator: float) -> float | None:
    """Divide, or None for 0/0 and everything else that has no finite quotient."""
    if denominator == 0:
        return None
    try:
        quotient = numerator / denominator
    except OverflowError:  # whole numbers beyond the range of a float
        return None
    return quotient if math.isfinite(quotient) else None
