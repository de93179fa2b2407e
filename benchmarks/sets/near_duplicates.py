"""Is one article a copy of another? Syndicated variants, and other reports of the same event."""

from pathlib import Path
from typing import Any

from benchmarks.measures import f1, false_alarms, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.core.policy import DiversityPolicy
from seekwatch.processors.sources.duplicates import copies


def measure(directory: Path) -> list[Row]:
    """Measure which pairs count as one source."""
    pairs = read_items(directory / "pairs.jsonl")
    threshold = DiversityPolicy().near_duplicate

    def merged(pair: dict[str, Any]) -> bool:
        return bool(copies([pair["a"], pair["b"]], threshold))

    judged = [(bool(pair["duplicate"]), merged(pair)) for pair in pairs]
    return [
        measure_row("near_duplicates: F1", judged, f1, goal=0.99, baseline=0.98),
        measure_row(
            "near_duplicates: different stories merged",
            judged,
            false_alarms,
            goal=0.0,
            better="lower",
            unit="pairs",
        ),
        time_row("near_duplicates", pairs, merged),
    ]
