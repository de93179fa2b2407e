"""Does a quotation stand on a page? True ones in several typographies, and false ones by kind."""

from pathlib import Path
from typing import Any, Final

from benchmarks.measures import f1, false_alarms, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.pages import read_page
from benchmarks.sets.reading import read_html, read_items
from seekwatch.core.policy import CitationPolicy
from seekwatch.processors.text.passages import searchable, stands_on

_NEVER: Final = ("number_changed", "negated", "name_swapped")
"""Kinds of false quotations of which none may be accepted."""


def measure(directory: Path) -> list[Row]:
    """Measure the passage check."""
    texts = {
        page["page"]: searchable(
            read_page(read_html(directory / page["file"]), page["url"]).text or ""
        )
        for page in read_items(directory / "pages.jsonl")
    }
    quotes = read_items(directory / "quotes.jsonl")
    similarity = CitationPolicy().passage_similarity

    def accepts(quote: dict[str, Any]) -> bool:
        return stands_on(quote["quote"], texts[quote["page"]], similarity)

    judged = [(quote, accepts(quote)) for quote in quotes]
    pairs = [(bool(quote["on_page"]), said) for quote, said in judged]
    rows = [measure_row("quote_on_page: F1", pairs, f1, goal=0.995, baseline=0.69)]
    for kind in sorted({quote["kind"] for quote in quotes if not quote["on_page"]}):
        false = [(False, said) for quote, said in judged if quote["kind"] == kind]
        rows.append(
            measure_row(
                f"quote_on_page: accepted though {kind}",
                false,
                false_alarms,
                goal=0.0 if kind in _NEVER else None,
                better="lower",
                unit="quotations",
            )
        )
    return [*rows, time_row("quote_on_page", quotes, accepts)]
