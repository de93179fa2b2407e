"""What sort of page came back: content, or one of the pages that answer and say no?"""

from pathlib import Path
from typing import Any, Final

from benchmarks.measures import f1, false_alarms, measure_row, precision, recall
from benchmarks.rows import Row
from benchmarks.sets.pages import fetched
from benchmarks.sets.reading import read_html, read_items
from seekwatch.processors.sources.page_kinds import USABLE, PageKind, kind_of_fetch

_AS_LABELLED: Final = {
    PageKind.SOFT_404: "not_found",
    PageKind.PAYWALLED: "content",
    PageKind.PARKED: "not_found",
}
_LABELS: Final = {"js_required": "js_shell"}
_GOALS: Final = {"challenge": 0.90}


def measure(directory: Path) -> list[Row]:
    """Measure "not usable", each kind, and false alarms on pages that only look like walls."""
    pages = read_items(directory / "pages.jsonl")
    judged = [(page, _kind(directory, page)) for page in pages]
    unusable = [(page["kind"] != "content", kind not in USABLE) for page, kind in judged]
    hard = [
        (False, kind not in USABLE)
        for page, kind in judged
        if page["note"] and page["kind"] == "content"
    ]
    rows = [
        measure_row("page_kinds: precision", unusable, precision, goal=0.98, baseline=0.99),
        measure_row("page_kinds: recall", unusable, recall, goal=0.96, baseline=0.90),
        measure_row(
            "page_kinds: content that looks like a wall, taken for one",
            hard,
            false_alarms,
            goal=0.0,
            better="lower",
            unit="pages",
        ),
    ]
    labelled = [(_label(page["kind"]), _AS_LABELLED.get(kind, str(kind))) for page, kind in judged]
    for label in sorted({label for label, _ in labelled}):
        pairs = [(truth == label, said == label) for truth, said in labelled]
        rows.append(measure_row(f"page_kinds: F1, {label}", pairs, f1, goal=_GOALS.get(label)))
    return rows


def _label(kind: str) -> str:
    return _LABELS.get(kind, kind)


def _kind(directory: Path, page: dict[str, Any]) -> PageKind:
    html = read_html(directory / page["file"])
    return kind_of_fetch(
        fetched(html, page["url"] or "https://site.example/page", page["http_status"])
    )
