"""Measures of how well a scorer agrees with labels, each with its bootstrap interval.

The measures themselves are scikit-learn's; here they become rows. An interval resamples items, or
groups of items where several come from one source, so that it does not promise more than the data.
"""

import random
import time
from collections.abc import Callable, Hashable, Sequence
from typing import Final, Literal, TypeVar

from sklearn.metrics import f1_score, precision_score, recall_score, roc_auc_score

from benchmarks.rows import Row

Item = TypeVar("Item")
Statistic = Callable[[Sequence[Item]], float | None]
"""A number of a sample; None where it has none (one class only)."""

ROUNDS: Final = 500


def measure_row(
    name: str,
    items: Sequence[Item],
    statistic: Statistic[Item],
    *,
    goal: float | None = None,
    baseline: float | None = None,
    better: Literal["higher", "lower"] = "higher",
    unit: str = "ratio",
    group: Callable[[Item], Hashable] | None = None,
) -> Row:
    """Return a row of a statistic of labelled items, with its 95 % interval.

    Args:
        name: `set: measure`.
        items: what was judged, with its label.
        statistic: the measure.
        goal: what the held-out half should reach.
        baseline: of a simple method on the same kind of data.
        better: which way is better.
        unit: of the value.
        group: what items are resampled together by; each alone by default.
    """
    low, high = _interval(items, statistic, group)
    return Row(
        name=name,
        value=statistic(items),
        unit=unit,
        better=better,
        goal=goal,
        baseline=baseline,
        n=len(items),
        ci_low=low,
        ci_high=high,
    )


def _interval(
    items: Sequence[Item],
    statistic: Statistic[Item],
    group: Callable[[Item], Hashable] | None,
) -> tuple[float | None, float | None]:
    groups: dict[Hashable, list[Item]] = {}
    for index, item in enumerate(items):
        groups.setdefault(index if group is None else group(item), []).append(item)
    source, members = random.Random(0), list(groups.values())
    values: list[float] = []
    for _ in range(ROUNDS):
        drawn = source.choices(members, k=len(members)) if members else []
        value = statistic([item for one in drawn for item in one])
        if value is not None:
            values.append(value)
    if not values:
        return None, None
    values.sort()
    return values[int(len(values) * 0.025)], values[int(len(values) * 0.975)]


Judged = tuple[bool, bool]
"""What is true, and what the scorer says."""
Ranked = tuple[bool, float]
"""What is true, and the scorer's number: higher for true."""
Labelled = tuple[str, str]
"""The label, and the scorer's."""


def precision(items: Sequence[Judged]) -> float | None:
    """Share of right ones among those that the scorer says are true."""
    truth, said = _columns(items)
    return float(precision_score(truth, said)) if any(said) else None


def recall(items: Sequence[Judged]) -> float | None:
    """Share of the true ones that the scorer finds."""
    truth, said = _columns(items)
    return float(recall_score(truth, said)) if any(truth) else None


def f1(items: Sequence[Judged]) -> float | None:
    """Harmonic mean of precision and recall."""
    truth, said = _columns(items)
    return float(f1_score(truth, said, zero_division=0.0)) if any(truth) else None


def auc(items: Sequence[Ranked]) -> float | None:
    """Chance that a true item has a higher number than another (area under the ROC curve)."""
    truth = [true for true, _ in items]
    if len(set(truth)) < 2:
        return None
    return float(roc_auc_score(truth, [number for _, number in items]))


def macro_f1(items: Sequence[Labelled]) -> float | None:
    """Mean of the F1 of each label, each counted alike."""
    return _labelled_f1(items, "macro")


def weighted_f1(items: Sequence[Labelled]) -> float | None:
    """Mean of the F1 of each label, by how often it is true."""
    return _labelled_f1(items, "weighted")


def accuracy(items: Sequence[tuple[object, object]]) -> float | None:
    """Share of items whose label the scorer says."""
    return sum(true == said for true, said in items) / len(items) if items else None


def false_alarms(items: Sequence[Judged]) -> float:
    """Number of items that the scorer says are true and are not."""
    return float(sum(said and not true for true, said in items))


def time_row(name: str, items: Sequence[Item], judge: Callable[[Item], object]) -> Row:
    """Return the time of a scorer per item, for orientation: it has no goal of its own."""
    for item in items[:5]:
        judge(item)
    began = time.perf_counter()
    for item in items:
        judge(item)
    spent = time.perf_counter() - began
    return Row(
        name=f"{name}: time per item",
        value=1000 * spent / max(1, len(items)),
        unit="ms",
        better="lower",
        n=len(items),
    )


def _labelled_f1(items: Sequence[Labelled], average: str) -> float | None:
    if not items:
        return None
    truth, said = zip(*items, strict=True)
    return float(f1_score(truth, said, average=average, zero_division=0.0))


def _columns(items: Sequence[Judged]) -> tuple[list[bool], list[bool]]:
    return [true for true, _ in items], [said for _, said in items]
