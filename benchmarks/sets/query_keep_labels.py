"""Do the queries keep the question? Rewrites and whole episodes, labelled by hand."""

from pathlib import Path

from benchmarks.measures import auc, f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.queries import drops, judged_queries, lack
from benchmarks.sets.reading import read_items

_GOALS = {"rewrite": (0.92, 0.87, 0.90), "episode": (0.93, 0.91, 0.70)}
"""By kind: goal and baseline of the AUC, goal of the F1."""


def measure(directory: Path) -> list[Row]:
    """Measure `drops` against `keeps`; partial and added ones are neither."""
    items = read_items(directory / "items.jsonl")
    rows: list[Row] = []
    for kind, (goal, baseline, f1_goal) in _GOALS.items():
        judged = [
            (item["label"] == "drops", judged_queries(item["question"], item["queries"]))
            for item in items
            if item["kind"] == kind and item["label"] in ("keeps", "drops")
        ]
        name = f"query_keep_labels: {kind}s"
        ranked = [(dropped, lack(verdict)) for dropped, verdict in judged]
        said = [(dropped, drops(verdict)) for dropped, verdict in judged]
        rows += [
            measure_row(f"{name}, AUC of drops", ranked, auc, goal=goal, baseline=baseline),
            measure_row(f"{name}, F1 of drops", said, f1, goal=f1_goal),
        ]
    added = [
        (item["label"] == "adds", drops(judged_queries(item["question"], item["queries"])))
        for item in items
        if item["label"] in ("keeps", "adds")
    ]
    rows.append(measure_row("query_keep_labels: F1 of adds", added, f1))
    return [
        *rows,
        time_row(
            "query_keep_labels",
            items,
            lambda item: judged_queries(item["question"], item["queries"]),
        ),
    ]
