"""Citations that an agent states beside its answer, in `seekwatch.run.citations` of any span."""

from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.model import Citation
from seekwatch.core.otlp.view import SpanView
from seekwatch.processors.dialects.base import Text
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.values import as_count, as_list, as_mapping, as_text, open_json

MAX_CITATIONS: Final = 500


def read_citations(
    span: SpanView, answer: Text | None, cleaner: Cleaner
) -> tuple[Citation, ...] | None:
    """Read the stated citations; None when the span has none to state.

    Offsets count in the answer as it was sent: where masking changed the answer they are dropped.
    """
    raw = span.text(names.CITATIONS)
    if raw is None:
        return None
    masked = answer is None or answer.value != span.text(answer.provenance.key)
    found: list[Citation] = []
    for item in as_list(open_json(raw))[:MAX_CITATIONS]:
        url = as_text(item) or as_text(as_mapping(item).get("url"))
        if url is None:
            continue
        found.append(_citation(url, as_mapping(item), cleaner, offsets_hold=not masked))
    return tuple(found)


def _citation(
    url: str, fields: dict[str, Any], cleaner: Cleaner, *, offsets_hold: bool
) -> Citation:
    start, end = as_count(fields.get("start")), as_count(fields.get("end"))
    placed = offsets_hold and start is not None and end is not None and start <= end
    return Citation(
        url=cleaner.url(url),
        title=cleaner.optional(as_text(fields.get("title")), 1_000),
        quote=cleaner.optional(as_text(fields.get("quote")), 10_000),
        start=start if placed else None,
        end=end if placed else None,
    )
