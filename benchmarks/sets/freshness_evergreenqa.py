"""EverGreenQA: does the answer change at all? Labels by people, questions in seven languages."""

from pathlib import Path
from typing import Final

from benchmarks.measures import (
    Labelled,
    f1,
    macro_f1,
    measure_row,
    time_row,
    weighted_f1,
)
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.regimes import EVERGREEN, MUTABLE, in_budget, mutability, regime, told_apart

YEAR: Final = 2025
LANGUAGES: Final = {
    "ru": "Russian",
    "fr": "French",
    "ge": "German",
    "he": "Hebrew",
    "ar": "Arabic",
    "ch": "Chinese",
}


def measure(directory: Path) -> list[Row]:
    """Measure on the rows of the authors' test half: only they have both kinds in number."""
    items = [
        item
        for item in read_items(directory / "questions.jsonl")
        if item["upstream_split"] == "test"
    ]
    name = "freshness_evergreenqa"

    def pairs(questions: list[str]) -> list[Labelled]:
        return [
            (EVERGREEN if item["evergreen"] else MUTABLE, mutability(regime(question, YEAR)))
            for item, question in zip(items, questions, strict=True)
        ]

    english = pairs([item["question"] for item in items])
    mutable = [(true == MUTABLE, said == MUTABLE) for true, said in english]
    rows = [
        measure_row(f"{name}: weighted F1", english, weighted_f1, goal=0.85, baseline=0.89),
        measure_row(f"{name}: macro-F1", english, macro_f1, baseline=0.86),
        measure_row(f"{name}: F1 of mutable", mutable, f1, baseline=0.80),
    ]
    for code, language in LANGUAGES.items():
        translated = pairs([item["translations"][code] for item in items])
        rows.append(measure_row(f"{name}: weighted F1, {language}", translated, weighted_f1))
    timed = time_row(name, items, lambda item: regime(item["question"], YEAR))
    return told_apart([*rows, in_budget(timed)], directory)
