"""When was a page published? Real pages in many languages, dated by people."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measures import measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.pages import read_page
from benchmarks.sets.reading import read_html, read_items
from seekwatch.core.policy import FreshnessPolicy


def measure(directory: Path) -> list[Row]:
    """Measure the dates that the freshness axis takes for known."""
    minimum = FreshnessPolicy().minimum_confidence
    pages = [
        (item, read_html(directory / item["file"]))
        for item in read_items(directory / "pages.jsonl")
    ]

    def day(page: tuple[dict[str, Any], str]) -> str | None:
        item, html = page
        found = read_page(html, item["url"]).published
        if found is None or found.confidence < minimum:
            return None
        return datetime.fromtimestamp(found.at / 1e9, UTC).date().isoformat()

    dated = [(item["published"], day((item, html))) for item, html in pages]
    given = [(truth, said) for truth, said in dated if said is not None]
    return [
        measure_row("page_dates: precision", given, _exact, goal=0.95, baseline=0.93),
        measure_row(
            "page_dates: coverage",
            dated,
            lambda items: sum(said is not None for _, said in items) / len(items),
            goal=0.90,
            baseline=0.68,
        ),
        measure_row("page_dates: exact day", dated, _exact, baseline=0.63),
        time_row("page_dates", pages, day),
    ]


def _exact(items: Any) -> float | None:
    return sum(truth == said for truth, said in items) / len(items) if items else None
