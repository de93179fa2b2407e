"""Questions of the freshness sets, asked of the classifier that the worker asks.

Each set is from its own time: a question about a year before the set's is about the past.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from benchmarks.measures import Labelled
from benchmarks.rows import Row
from seekwatch.core.policy import Regime
from seekwatch.processors.questions.regime_model import shipped
from seekwatch.processors.questions.regimes import question_words, read_words

ORDER: Final = tuple(Regime)
"""From what never changes to what changes by the hour."""
MUTABLE: Final = "mutable"
EVERGREEN: Final = "evergreen"
BUDGET: Final = 0.05
"""Milliseconds that the regime of one question may take."""


def regime(question: str, year: int) -> Regime:
    """Return the regime that the worker gives a question, nothing remembered from the last one."""
    return read_words(question_words(question, year), shipped()).regime


def at_most_fast(name: str) -> str:
    """Return a regime's name, real-time folded into fast."""
    return Regime.FAST.value if name == Regime.REAL_TIME else name


def mutability(found: Regime) -> str:
    """Return whether an answer may change: what is not insensitive is mutable."""
    return EVERGREEN if found is Regime.INSENSITIVE else MUTABLE


def within_one_step(items: Sequence[Labelled]) -> float | None:
    """Share of items whose regime is right or next to the right one."""
    steps = [abs(ORDER.index(Regime(true)) - ORDER.index(Regime(said))) for true, said in items]
    return sum(step <= 1 for step in steps) / len(steps) if steps else None


def false_fast(items: Sequence[Labelled]) -> float | None:
    """Share of insensitive questions that are said to be fast or real-time.

    Such a mistake condemns good sources for their age.
    """
    said = [found for true, found in items if true == Regime.INSENSITIVE]
    fast = {Regime.FAST.value, Regime.REAL_TIME.value}
    return sum(found in fast for found in said) / len(said) if said else None


def told_apart(rows: list[Row], directory: Path) -> list[Row]:
    """Say which rows are a training figure, and add the set's cross-validated ones in their place.

    The model was trained on one half of the sets. There the goals are put to models that have not
    seen the questions they are asked; on any other half, to the model that ships.
    """
    name = directory.name
    if sha256((directory / "questions.jsonl").read_bytes()).hexdigest() not in shipped().trained_on:
        return rows
    held_back = _held_back(directory.parent)
    described = [
        replace(row, name=f"{row.name} (seen in training)", goal=None)
        if row.unit == "ratio" and row.name != f"{name}: time per item"
        else row
        for row in rows
    ]
    crossed = [
        Row(
            name=f"{row.name} (cross-validated)",
            value=held_back[row.name],
            unit=row.unit,
            better=row.better,
            goal=row.goal,
            baseline=row.baseline,
            n=row.n,
        )
        for row in rows
        if row.name in held_back
    ]
    return [*crossed, *described]


@lru_cache(maxsize=1)
def _held_back(data: Path) -> dict[str, float]:
    # Training reads the sets' years from their modules, which read this one.
    from benchmarks.training.regimes import cross_validated, examples, summary

    return summary(cross_validated(examples(data), folds=10, turn=0))


def in_budget(row: Row) -> Row:
    """Return a row of time with the goal that every regime's has."""
    return replace(row, goal=BUDGET)
