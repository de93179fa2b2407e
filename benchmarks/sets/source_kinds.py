"""Is a domain's owner a primary source by its kind? Registers, official sites, media."""

from pathlib import Path

from benchmarks.measures import measure_row, precision, recall
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.processors.sources.source_kinds import is_primary_domain


def measure(directory: Path) -> list[Row]:
    """Measure which domains count as primary whatever the question."""
    domains = read_items(directory / "domains.jsonl")
    judged = [(bool(item["primary"]), is_primary_domain(item["domain"])) for item in domains]
    return [
        measure_row("source_kinds: precision", judged, precision, goal=0.95, baseline=0.99),
        measure_row("source_kinds: recall", judged, recall, goal=0.90, baseline=0.83),
    ]
