"""Real episodes of search agents with their outcomes.

Whether an agent succeeds at a question of several steps does not hang on its queries alone, so the
axis is reported here and has no goal. What the trace tells of the outcome is measured beside it.
"""

from pathlib import Path
from typing import Any, Final

from benchmarks.measures import auc, f1, macro_f1, measure_row
from benchmarks.rows import Row
from benchmarks.sets.queries import judged_queries, lack
from benchmarks.sets.reading import read_items
from seekwatch.core.evidence import NO_EVIDENCE
from seekwatch.core.model import Answer, Episode, Lane, RunContext, Search, SearchResult, StopReason
from seekwatch.core.policy import Policy
from seekwatch.core.scorecard import Outcome
from seekwatch.processors.score import score

from .pages import SEEN_AT

_ANSWERED: Final = frozenset({"success", "partial", "wrong"})
"""Outcomes that only the right answer tells apart."""


def measure(directory: Path) -> list[Row]:
    """Measure the query axis against success, and the outcome as far as the trace tells it."""
    items = [item for item in read_items(directory / "episodes.jsonl") if item["queries"]]
    ranked = [
        (
            item["outcome"] == "success",
            -lack(judged_queries(item["question"], item["queries"])),
        )
        for item in items
    ]
    told = [(_truth(item), _outcome(item)) for item in items]
    rows = [
        measure_row("agent_trajectories: AUC of the query axis for success", ranked, auc),
        measure_row("agent_trajectories: macro-F1 of answered, abstained, halted", told, macro_f1),
    ]
    for label in ("abstained", "halted"):
        pairs = [(truth == label, said == label) for truth, said in told]
        rows.append(measure_row(f"agent_trajectories: F1 of {label}", pairs, f1))
    return rows


def _truth(item: dict[str, Any]) -> str:
    outcome: str = item["outcome"]
    return "answered" if outcome in _ANSWERED else outcome


def _outcome(item: dict[str, Any]) -> str:
    card = score(_episode(item), NO_EVIDENCE, Policy())
    if card.outcome is Outcome.REFUSAL:
        return "abstained"
    return "answered" if item["final"] else "halted"


def _episode(item: dict[str, Any]) -> Episode:
    steps = [step for step in item["steps"] if step["action"] == "search"]
    searches = tuple(
        Search(
            span=f"{index + 1:016x}",
            start=SEEN_AT + index,
            end=SEEN_AT + index,
            query=step["arg"],
            results=(SearchResult(rank=1, snippet=step["observation"]),),
        )
        for index, step in enumerate(steps)
    )
    final = item["final"]
    return Episode(
        trace="0" * 32,
        root="f" * 16,
        start=SEEN_AT,
        end=SEEN_AT + len(steps),
        context=RunContext(agent="measured", lane=Lane.FIXTURE),
        question=item["question"],
        searches=searches,
        answer=Answer(text=final, span="f" * 16) if final else None,
        stop_reason=StopReason.ANSWERED if final else None,
    )
