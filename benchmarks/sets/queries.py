"""Questions and queries of the labelled sets, judged by the axis that the worker judges them by."""

from collections.abc import Sequence

from seekwatch.core.evidence import NO_EVIDENCE
from seekwatch.core.model import Episode, Lane, RunContext, Search
from seekwatch.core.policy import Policy
from seekwatch.core.scorecard import AxisVerdict
from seekwatch.core.verdicts import Verdict
from seekwatch.processors.axes.query_quality import judge
from seekwatch.processors.sources.run_view import RunView

from .pages import SEEN_AT


def judged_queries(question: str, queries: Sequence[str]) -> AxisVerdict:
    """Return the verdict on a run that asked these queries for this question."""
    searches = tuple(
        Search(span=f"{index + 1:016x}", start=SEEN_AT, end=SEEN_AT, query=query, results=())
        for index, query in enumerate(queries)
    )
    episode = Episode(
        trace="0" * 32,
        root="f" * 16,
        start=SEEN_AT,
        end=SEEN_AT,
        context=RunContext(agent="measured", lane=Lane.FIXTURE),
        question=question,
        searches=searches,
    )
    return judge(RunView(episode, NO_EVIDENCE, Policy()))


def drops(verdict: AxisVerdict) -> bool:
    """Tell whether the axis says that something was dropped."""
    return verdict.verdict is Verdict.BAD


def lack(verdict: AxisVerdict) -> float:
    """Return how much is missing, 0 (nothing) to 1; 0 where there was nothing to lose."""
    return 0.0 if verdict.score is None else 1.0 - verdict.score


def lines(verdict: AxisVerdict) -> str:
    """Return the evidence of all failed checks: where a dropped span is named."""
    return "\n".join(
        check.evidence for check in verdict.checks if check.verdict is Verdict.BAD
    ).casefold()
