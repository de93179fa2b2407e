"""FreshQA: how fast the answer changes, in three regimes, by people (there is no real-time).

A quarter of the questions are about what never happened ("When did Google release ChatGPT?"); their
labels say how soon it might, which no wording tells. The others are also shown by themselves.
"""

from pathlib import Path
from typing import Final

from benchmarks.measures import accuracy, macro_f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import at_most_fast, false_fast, in_budget, regime, told_apart

YEAR: Final = 2023


def measure(directory: Path) -> list[Row]:
    """Measure the regime against the authors' labels, real-time counted as fast."""
    items = read_items(directory / "questions.jsonl")
    judged = [
        (item, (str(item["regime"]), at_most_fast(regime(item["question"], YEAR).value)))
        for item in items
    ]
    pairs = [pair for _, pair in judged]
    sound = [pair for item, pair in judged if not item["false_premise"]]
    timed = time_row("freshness_freshqa", items, lambda item: regime(item["question"], YEAR))
    rows = [
        measure_row("freshness_freshqa: macro-F1", pairs, macro_f1, goal=0.70, baseline=0.59),
        measure_row("freshness_freshqa: macro-F1, what is asked exists", sound, macro_f1),
        measure_row("freshness_freshqa: accuracy", pairs, accuracy, baseline=0.38),
        measure_row(
            "freshness_freshqa: insensitive called fast", pairs, false_fast, better="lower"
        ),
        in_budget(timed),
    ]
    return told_apart(rows, directory)
