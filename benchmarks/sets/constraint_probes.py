"""Is one removed constraint noticed, and named? By type of constraint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measures import f1, measure_row
from benchmarks.rows import Row
from benchmarks.sets.queries import judged_queries, lines
from benchmarks.sets.reading import read_items
from seekwatch.core.verdicts import Verdict
from seekwatch.processors.text.words import content_words

_GOALS: Final = {"ordinal": 0.90, "negation": 0.95}
_GOAL: Final = 0.97

Probe = tuple[dict[str, Any], bool, str]
"""The item, whether the constraint check fails, and what it says."""


def measure(directory: Path) -> list[Row]:
    """Measure the constraint check by type, and whether it names the dropped span."""
    probes = [_probe(item) for item in read_items(directory / "probes.jsonl")]
    rows = [measure_row("constraint_probes: F1", _pairs(probes), f1, baseline=0.91)]
    for kind in sorted({item["type"] for item, _, _ in probes}):
        of_kind = [probe for probe in probes if probe[0]["type"] == kind]
        goal = _GOALS.get(kind, _GOAL)
        rows.append(measure_row(f"constraint_probes: F1, {kind}", _pairs(of_kind), f1, goal=goal))
    named = [
        all(_names(said, part) for part in item["dropped"])
        for item, noticed, said in probes
        if item["label"] == "drops" and noticed
    ]
    rows.append(measure_row("constraint_probes: span named", named, _share, goal=0.95))
    return rows


def _probe(item: dict[str, Any]) -> Probe:
    verdict = judged_queries(item["question"], [item["query"]])
    noticed = any(
        check.name == "constraints" and check.verdict is Verdict.BAD for check in verdict.checks
    )
    return item, noticed, lines(verdict)


def _names(said: str, dropped: str) -> bool:
    """Tell whether a line names what was dropped: its content words, "in" and full stops aside."""
    return set(content_words(dropped)) <= set(content_words(said))


def _pairs(probes: Sequence[Probe]) -> list[tuple[bool, bool]]:
    return [(item["label"] == "drops", noticed) for item, noticed, _ in probes]


def _share(items: Sequence[bool]) -> float | None:
    return sum(items) / len(items) if items else None
