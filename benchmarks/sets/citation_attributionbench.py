"""Do the cited passages support the claim? People's judgements from six sets."""

from pathlib import Path
from typing import Any

from benchmarks.measures import auc, macro_f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.support import support_score, supported


def measure(directory: Path) -> list[Row]:
    """Measure the support check: its number, its verdict, and both by source."""
    items = read_items(directory / "claims.jsonl")
    judged = [(item, *_judge(item)) for item in items]
    truth = [(item["label"] == "supported", number) for item, number, _ in judged]
    labels = [(item["label"], "supported" if good else "not_supported") for item, _, good in judged]
    name = "citation_attributionbench"
    rows = [
        measure_row(f"{name}: AUC", truth, auc, goal=0.86, baseline=0.83),
        measure_row(f"{name}: macro-F1", labels, macro_f1, goal=0.78, baseline=0.75),
    ]
    for source in sorted({item["source"] for item in items}):
        part = [
            pair
            for (item, _, _), pair in zip(judged, truth, strict=True)
            if item["source"] == source
        ]
        rows.append(measure_row(f"{name}: AUC, {source}", part, auc, goal=0.68))
    return [*rows, time_row(name, items, _judge)]


def _judge(item: dict[str, Any]) -> tuple[float, bool]:
    number = support_score(item["claim"], item["passages"])
    return number, supported(item["claim"], item["passages"])
