"""How many domains do real research reports cite? Norms for the thresholds of diversity."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.measures import measure_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.processors.urls import site_of


def measure(directory: Path) -> list[Row]:
    """Measure domains and the share of the top one, by system."""
    reports = read_items(directory / "reports.jsonl")
    rows: list[Row] = []
    for system in sorted({report["system"] for report in reports}):
        sites = [
            Counter(site for url in report["urls"] if (site := site_of(url)) is not None)
            for report in reports
            if report["system"] == system
        ]
        counted = [sites_of_one for sites_of_one in sites if sites_of_one]
        name = f"report_citations: {system}"
        rows += [
            measure_row(f"{name}, domains", [len(one) for one in counted], _median, unit="count"),
            measure_row(
                f"{name}, share of the top domain",
                [max(one.values()) / one.total() for one in counted],
                _median,
                better="lower",
            ),
        ]
    return rows


def _median(values: Sequence[float]) -> float | None:
    return float(median(values)) if values else None
