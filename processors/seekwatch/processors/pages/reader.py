"""Bodies of fetches, unpacked under limits and reduced to what scorers read.

A body is parsed once: agents fetch the same page again and again, so results are remembered by the
hash of the content in a bounded cache. That is safe because reading a page is a pure function; only
the choice among its dates depends on when it was seen, and that is made on every call.
"""

import base64
import binascii
import hashlib
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urljoin

from seekwatch.core.attributes import CONTENT_ENCODING_ZLIB
from seekwatch.core.model import Page, PageDate
from seekwatch.core.redaction import Redactor
from seekwatch.processors.pages.dates import (
    Candidate,
    choose,
    collect_dates,
    headings,
    text_dates,
    url_date,
)
from seekwatch.processors.pages.parsing import (
    MAX_TEXT,
    MAX_TITLE,
    bounded,
    fold,
    parse_page,
    read_visible_text,
)
from seekwatch.processors.pages.signals import PageSignal, read_signals, text_signals
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.moments import DAY, EARLIEST, parse_moment
from seekwatch.processors.urls import is_web_url

MAX_BODY: Final = 2 * 1024 * 1024
"""Bytes that a captured body may unpack to; the SDK's own cap is far below, a bomb far above."""
MAX_PACKED: Final = 4 * 1024 * 1024
"""Characters of a packed body that are looked at."""
CACHE_PAGES: Final = 256
"""Pages remembered per redactor: some ten megabytes at most."""

_LAST_MODIFIED_CONFIDENCE: Final = 0.4
"""Dynamic sites send the time of the request, so the header alone decides nothing."""


@dataclass(slots=True, frozen=True)
class Body:
    """A captured body as it stands on a span.

    Attributes:
        packed: the attribute's value; None when the body was not captured.
        encoding: `zlib+base64`, or None for plain text.
        content_type: of the response.
        url: where it came from.
    """

    packed: str | None
    encoding: str | None = None
    content_type: str | None = None
    url: str | None = None


@dataclass(slots=True, frozen=True)
class _Reading:
    """What a body says, whoever fetched it and whenever."""

    title: str | None = None
    text: str | None = None
    language: str | None = None
    canonical: str | None = None
    dates: tuple[Candidate, ...] = ()
    text_dates: tuple[Candidate, ...] = ()
    signals: tuple[PageSignal, ...] = ()
    cut: bool = False


class PageReader:
    """Reads bodies and remembers what they said.

    Args:
        redactor: masks what is kept of a page.
        capacity: pages remembered, least recently used leave first.
    """

    def __init__(self, redactor: Redactor, capacity: int = CACHE_PAGES) -> None:
        self._cleaner = Cleaner(redactor)
        self._capacity = capacity
        self._readings: OrderedDict[bytes, _Reading] = OrderedDict()

    def page(
        self,
        body: Body,
        *,
        retrieved_at: int,
        content_hash: str | None = None,
        byte_count: int | None = None,
        truncated: bool = False,
        last_modified: str | None = None,
    ) -> Page:
        """Return what a body brought.

        Args:
            body: as captured.
            retrieved_at: nanoseconds since the epoch; later dates are unknown.
            content_hash: as the agent computed it over what it received.
            byte_count: bytes received.
            truncated: the capture is only a beginning.
            last_modified: the response's header.
        """
        reading = _Reading() if body.packed is None else self._reading(body)
        url = url_date(body.url)
        dates = (*reading.dates, *(() if url is None else (url,)), *reading.text_dates)
        return Page(
            content_hash=content_hash,
            content_type=body.content_type,
            title=reading.title,
            text=reading.text,
            byte_count=byte_count,
            truncated=truncated or reading.cut,
            language=reading.language,
            canonical_url=self._canonical(reading.canonical, body.url),
            published=choose(dates, retrieved_at, modified=False),
            modified=choose(dates, retrieved_at, modified=True)
            or _from_header(last_modified, retrieved_at),
            signals=reading.signals,
        )

    def _reading(self, body: Body) -> _Reading:
        packed = body.packed or ""
        key = _key(packed, body)
        known = self._readings.get(key)
        if known is not None:
            self._readings.move_to_end(key)
            return known
        reading = self._read(packed, body)
        self._readings[key] = reading
        if len(self._readings) > self._capacity:
            self._readings.popitem(last=False)
        return reading

    def _read(self, packed: str, body: Body) -> _Reading:
        unpacked = _unpack(packed, body.encoding)
        if unpacked is None:
            return _Reading()
        source, cut = unpacked
        if not _is_html(source, body.content_type):
            whole = fold(source)
            text = self._cleaner.text(whole, MAX_TEXT)
            signals = (PageSignal.EMPTY_TEXT,) if not text else ()
            return _Reading(text=text, signals=signals, cut=cut or len(whole) > MAX_TEXT)
        source, nested = bounded(source)
        page = parse_page(source)
        dates, early = collect_dates(page), read_signals(page)
        headed = headings(page)
        read_visible_text(page)
        return _Reading(
            title=self._cleaner.optional(page.title, MAX_TITLE),
            text=self._cleaner.text(page.text, MAX_TEXT),
            language=page.language,
            canonical=page.canonical,
            dates=dates,
            text_dates=text_dates(page.text, headed),
            signals=text_signals(page, early),
            cut=cut or nested or len(page.text) > MAX_TEXT,
        )

    def _canonical(self, canonical: str | None, base: str | None) -> str | None:
        if not canonical:
            return None
        try:
            url = urljoin(base or "", canonical.strip())
        except ValueError:
            return None
        return self._cleaner.url(url) if is_web_url(url) else None


@lru_cache(maxsize=8)
def page_reader(redactor: Redactor) -> PageReader:
    """Return the reader that belongs to a redactor, so that its memory outlives one trace."""
    return PageReader(redactor)


def _key(packed: str, body: Body) -> bytes:
    """Hash what was captured, not what the span says its hash is: the latter may lie."""
    kind = f"{body.encoding}|{body.content_type}|".encode("utf-8", "replace")
    return hashlib.sha256(kind + packed.encode("utf-8", "replace")).digest()


def _unpack(packed: str, encoding: str | None) -> tuple[str, bool] | None:
    """Return a body's text and whether it was cut, None when it is not what it says it is."""
    if encoding is None:
        return packed[:MAX_BODY], len(packed) > MAX_BODY
    if encoding != CONTENT_ENCODING_ZLIB or len(packed) > MAX_PACKED:
        return None
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(base64.b64decode(packed, validate=True), MAX_BODY)
    except (binascii.Error, ValueError, zlib.error):
        return None
    return raw.decode("utf-8", "replace"), not inflater.eof


def _is_html(source: str, content_type: str | None) -> bool:
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind:
        return "html" in kind or (kind.startswith("text/xml") and "<html" in source[:2_000])
    return source.lstrip()[:1] == "<"


def _from_header(value: str | None, seen_at: int) -> PageDate | None:
    at = parse_moment(value)
    if at is None or not EARLIEST <= at <= seen_at + DAY:
        return None
    return PageDate(at=at, method="last-modified", confidence=_LAST_MODIFIED_CONFIDENCE)
