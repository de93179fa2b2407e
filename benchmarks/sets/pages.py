"""Pages of the labelled sets, read by the page reader that the worker reads bodies with."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from seekwatch.core.model import Adapter, Fetch, Page
from seekwatch.core.redaction import Redactor
from seekwatch.processors.pages.reader import Body, PageReader

SEEN_AT: Final = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000_000
"""When the pages count as fetched: after every one of them was published."""


@lru_cache(maxsize=1)
def _redactor() -> Redactor:
    return Redactor()


def read_page(html: str, url: str) -> Page:
    """Return what the worker reads of a page; nothing is remembered from one call to the next."""
    reader = PageReader(_redactor(), capacity=1)
    return reader.page(
        Body(packed=html, content_type="text/html", url=url),
        retrieved_at=SEEN_AT,
        byte_count=len(html.encode()),
    )


def fetched(html: str, url: str, status: int | None = None) -> Fetch:
    """Return the fetch that brought a page."""
    return Fetch(
        span="0" * 16,
        url=url,
        adapter=Adapter.FETCH,
        start=SEEN_AT,
        end=SEEN_AT,
        status=200 if status is None else status,
        page=read_page(html, url),
    )
