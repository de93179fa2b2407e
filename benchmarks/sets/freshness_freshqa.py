"""FreshQA: how fast the answer changes, in three regimes, by people (there is no real-time)."""

from pathlib import Path
from typing import Final

from benchmarks.measures import accuracy, macro_f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import at_most_fast, false_fast, in_budget, regime

YEAR: Final = 2023


def measure(directory: Path) -> list[Row]:
    """Measure the regime against the authors' labels, real-time counted as fast."""
    items = read_items(directory / "questions.jsonl")
    pairs = [
        (str(item["regime"]), at_most_fast(regime(item["question"], YEAR).value)) for item in items
    ]
    timed = time_row("freshness_freshqa", items, lambda item: regime(item["question"], YEAR))
    return [
        measure_row("freshness_freshqa: macro-F1", pairs, macro_f1, goal=0.70, baseline=0.59),
        measure_row("freshness_freshqa: accuracy", pairs, accuracy, baseline=0.38),
        measure_row(
            "freshness_freshqa: insensitive called fast", pairs, false_fast, better="lower"
        ),
        in_budget(timed),
    ]
