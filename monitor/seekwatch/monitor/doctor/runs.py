"""What the scorecards of each agent lack: an axis that is never scored alerts nobody."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from seekwatch.core.model import Lane
from seekwatch.core.scorecard import Axis, Outcome, Scorecard, ScoreEntry
from seekwatch.core.verdicts import Reason, Verdict

from .durations import ago
from .findings import Finding, note, ok, wrong

_ENOUGH: Final = 3
"""Runs from which "never" means something."""
_SLACK: Final = 5.0
"""Seconds by which the first scorecard may be later than usual: spans come in batches."""
_MANY: Final = 0.1
"""Share of runs from which something is worth a word."""

_SEARCHES: Final = (
    "the search calls are not seen: instrument() covers httpx; put @retriever on the function that "
    "searches, or describe the API with search_apis="
)
_STEPS: Final = {
    Reason.NO_QUESTION: "wrap the run: with agent_run(question) as run, or entrypoint=",
    Reason.NO_QUERY: _SEARCHES,
    Reason.NO_SOURCES: _SEARCHES,
    Reason.NO_ANSWER: "report the answer: run.answer(text, citations=[…])",
    Reason.NO_CITATIONS: "report what it cites: run.answer(text, citations=[{'url': …}])",
    Reason.NO_DATES: "sources have no dates: keep capture_pages on, or use a search API with dates",
    Reason.NO_PAGE: "pages are not captured: set capture_pages to a number of bytes above 0",
    Reason.NO_CONTENT: "content is withheld by capture_content=False; these axes need it",
    Reason.TRUNCATED: "raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT and _VALUE_LENGTH_LIMIT in the agent",
    Reason.INCOMPLETE_TRACE: "spans are missing: see the agent's log for dropped spans",
    Reason.SCORER_ERROR: "the scorer failed; the worker's log has the trace id and the error",
}


def examine_runs(
    scores: Sequence[ScoreEntry], *, unscored: float | None, now: float, usual: float
) -> list[Finding]:
    """Look at the newest scorecards.

    Args:
        scores: oldest first.
        unscored: when the oldest span arrived, in seconds since the epoch; None where none has.
            Only read without scorecards.
        now: seconds since the epoch.
        usual: seconds from the end of a run to its scorecard when all is well.
    """
    if not scores:
        return [] if unscored is None else [_none_scored(now - unscored, usual)]
    by_agent: dict[str, list[Scorecard]] = {}
    for entry in scores:
        by_agent.setdefault(entry.scorecard.agent, []).append(entry.scorecard)
    findings: list[Finding] = []
    for agent, cards in sorted(by_agent.items()):
        findings += _agent(agent, cards, now)
    return findings


def _none_scored(age: float, usual: float) -> Finding:
    if age < usual + _SLACK:
        return note(
            "scores",
            f"spans arrive and no run is scored yet; the first came {ago(age)}",
            f"a run is scored about {usual:.0f} s after it ends; look again then",
        )
    return wrong(
        "scores",
        "spans arrive and no run was ever scored",
        "is a worker running (see below)? Traces need an agent, model or retriever span, and "
        "close `closing.quiet` seconds after their root has ended",
    )


def _agent(agent: str, cards: list[Scorecard], now: float) -> Iterator[Finding]:
    outcomes = Counter(str(card.outcome) for card in cards)
    named = ", ".join(f"{name} {number}" for name, number in outcomes.most_common())
    newest = ago(now - max(card.end for card in cards) / 1e9)
    number = "1 run" if len(cards) == 1 else f"{len(cards)} runs"
    yield ok(agent, f"{number} looked at, the newest ended {newest}: {named}")
    if _is_withheld(cards):
        yield note(
            agent,
            "it sends no content (capture_content=False), so no axis of its runs can be scored, "
            "and of most the outcome is unknown",
            "nothing, where that is meant so: durations, cost, counts and errors are watched "
            "still; for the axes, send content and mask by redact= what must not leave",
        )
    elif len(cards) >= _ENOUGH:
        yield from _never_scored(agent, cards)
    if len(cards) >= _ENOUGH:
        yield from _never_done(agent, cards)
    yield from _incomplete(agent, cards)


def _is_withheld(cards: Iterable[Scorecard]) -> bool:
    """Tell whether every axis of every run lacks the content, and nothing else."""
    return all(verdict.reason is Reason.NO_CONTENT for card in cards for verdict in card.axes)


def _never_scored(agent: str, cards: Sequence[Scorecard]) -> Iterator[Finding]:
    for axis in Axis:
        verdicts = [card.axis(axis) for card in cards]
        if any(verdict.verdict is not Verdict.UNSCORABLE for verdict in verdicts):
            continue
        reasons = Counter(verdict.reason for verdict in verdicts)
        reason = reasons.most_common(1)[0][0]
        example = next(verdict for verdict in verdicts if verdict.reason is reason)
        step = _STEPS.get(reason) if reason else None
        yield wrong(
            agent,
            f"{axis} was never scored: {reason}, {example.evidence}",
            step or "see docs/axes.md for what this axis needs",
        )


def _never_done(agent: str, cards: Sequence[Scorecard]) -> Iterator[Finding]:
    if not any(card.work.searches for card in cards):
        yield wrong(agent, "no run has a search in it (no RETRIEVER span)", _SEARCHES)
    if not any(card.work.generations for card in cards):
        yield note(
            agent,
            "no run has a call to a model in it, so no cost",
            "install the instrumentor of your model library, or put @llm on the function",
        )
    elif all(card.cost.total is None for card in cards):
        unpriced = sorted({name for card in cards for name in card.cost.unpriced})
        yield note(
            agent,
            f"no run has a known cost; without a price: {', '.join(unpriced[:5]) or 'unknown'}",
            "add them under prices.models in the policy",
        )
    if all(card.outcome is Outcome.UNKNOWN for card in cards) and not _is_withheld(cards):
        yield wrong(
            agent,
            "every outcome is unknown: the answer is not seen",
            _STEPS[Reason.NO_ANSWER],
        )
    if not any(card.lane == Lane.LIVE for card in cards):
        lanes = ", ".join(sorted({card.lane for card in cards}))
        yield note(
            agent,
            f"no run is in the live lane (only {lanes}), so no alert can fire",
            'in production: instrument(…, environment="production"); see lanes in the policy',
        )


def _incomplete(agent: str, cards: Sequence[Scorecard]) -> Iterator[Finding]:
    share = _share(not card.complete for card in cards)
    if share >= _MANY:
        yield wrong(
            agent,
            f"{share:.0%} of its traces are incomplete: spans or attributes were dropped",
            "raise OTEL_BSP_MAX_QUEUE_SIZE in the agent; see whether a Collector drops",
        )


def _share(truths: Iterable[bool]) -> float:
    values = list(truths)
    return sum(values) / len(values) if values else 0.0
