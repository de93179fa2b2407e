"""RecencyQA: how soon the answer changes, in four regimes, by the votes of a language model.

Nearly all of its real-time questions are written by a model too, so the people's are shown apart.
"""

from pathlib import Path
from typing import Final

from benchmarks.measures import Labelled, accuracy, macro_f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import false_fast, in_budget, regime, told_apart, within_one_step

YEAR: Final = 2025
_MACHINE: Final = "llm-generated"


def measure(directory: Path) -> list[Row]:
    """Measure the regime against the labels, over all and over what people wrote."""
    items = read_items(directory / "questions.jsonl")
    judged: list[tuple[str, Labelled]] = [
        (item["source"], (item["regime"], regime(item["question"], YEAR).value)) for item in items
    ]
    pairs = [pair for _, pair in judged]
    people = [pair for source, pair in judged if source != _MACHINE]
    name = "freshness_recencyqa"
    timed = time_row(name, items, lambda item: regime(item["question"], YEAR))
    rows = [
        measure_row(f"{name}: macro-F1", pairs, macro_f1, goal=0.75, baseline=0.73),
        measure_row(f"{name}: macro-F1, people's", people, macro_f1, goal=0.68, baseline=0.66),
        measure_row(f"{name}: within one step", pairs, within_one_step, baseline=0.95),
        measure_row(f"{name}: accuracy", pairs, accuracy),
        measure_row(f"{name}: insensitive called fast", pairs, false_fast, better="lower"),
        in_budget(timed),
    ]
    return told_apart(rows, directory)
