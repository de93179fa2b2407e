"""Does the freshness score predict a right answer? Ages of the pages that news answers rest on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measures import Ranked, auc, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.core.evidence import Evidence
from seekwatch.core.model import (
    Answer,
    Citation,
    Episode,
    PageDate,
    RunContext,
    Search,
    SearchResult,
)
from seekwatch.core.policy import Policy, Regime
from seekwatch.core.scorecard import AxisVerdict
from seekwatch.processors.axes.source_freshness import judge
from seekwatch.processors.sources.run_view import RunView

_NOW: Final = 1_780_000_000 * 1_000_000_000
_DAY: Final = 86_400 * 1_000_000_000
_SPAN: Final = "0" * 16


def verdict_of(item: dict[str, Any]) -> AxisVerdict:
    """Return the axis of a run that cites each page that its search returned."""
    ages = item["ages_days"]
    results = tuple(
        SearchResult(
            rank=number,
            url=f"https://site-{number}.example/page",
            published=PageDate(at=_NOW - age * _DAY, method="provider", confidence=0.9),
        )
        for number, age in enumerate(ages, 1)
    )
    search = Search(span=_SPAN, start=_NOW, end=_NOW, query="news", results=results)
    citations = tuple(Citation(url=result.url or "") for result in results)
    context = RunContext(agent=item["system"], freshness_regime=Regime.FAST.value)
    episode = Episode(
        trace="0" * 32,
        root=_SPAN,
        start=_NOW,
        end=_NOW,
        context=context,
        question="What happened in the news?",
        searches=(search,),
        answer=Answer(text="An answer.", span=_SPAN, citations=citations),
    )
    return judge(RunView(episode, Evidence(), Policy()))


def auc_within(items: Sequence[tuple[str, Ranked]]) -> float | None:
    """Mean of the systems' own AUC, each by its number of runs."""
    found: list[tuple[float, int]] = []
    for system in {name for name, _ in items}:
        pairs = [pair for name, pair in items if name == system]
        value = auc(pairs)
        if value is not None:
            found.append((value, len(pairs)))
    count = sum(size for _, size in found)
    return sum(value * size for value, size in found) / count if count else None


def measure(directory: Path) -> list[Row]:
    """Measure the axis' score on runs with results; all questions are about the week's news.

    Systems differ in how often they are right, whatever they read, so they are compared within
    themselves: the rows by generation hold one system, or several that are equally good.
    """
    items = [item for item in read_items(directory / "runs.jsonl") if item["ages_days"]]
    scored = [(item, verdict_of(item)) for item in items]
    name = "freshness_outcomes"

    def ranked(
        measure: str | None, chosen: list[tuple[dict[str, Any], AxisVerdict]]
    ) -> list[Ranked]:
        return [
            (
                bool(item["correct"]),
                (verdict.score or 0.0) if measure is None else -verdict.measures[measure],
            )
            for item, verdict in chosen
        ]

    systems: dict[str, list[Ranked]] = {}
    for system in sorted({item["system"] for item, _ in scored}):
        systems[system] = ranked(None, [pair for pair in scored if pair[0]["system"] == system])
    labelled = [(system, pair) for system, pairs in systems.items() for pair in pairs]
    recent = [pair for pair in scored if pair[0]["qid"] >= "2026"]
    gpt3 = [pair for pair in scored if pair[0]["system"] == "gpt3"]
    return [
        measure_row(f"{name}: AUC, 2026", ranked(None, recent), auc, goal=0.67, baseline=0.57),
        measure_row(f"{name}: AUC, GPT-3", ranked(None, gpt3), auc, goal=0.67, baseline=0.60),
        measure_row(f"{name}: AUC within systems", labelled, auc_within, goal=0.67),
        measure_row(f"{name}: AUC, all systems", ranked(None, scored), auc),
        measure_row(f"{name}: AUC of the median age, 2026", ranked("median_days", recent), auc),
        time_row(name, items[:500], verdict_of),
    ]
