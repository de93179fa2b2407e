"""Search results out of any JSON-like value: one extractor for every provider and every wrapper.

Frameworks wrap a provider's answer in their own shapes, as JSON inside JSON, as a Python repr, as
Markdown. What all have in common is a list of objects that each carry a URL; that list is found,
wherever it is, under limits on depth and size.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.model import PageDate, SearchResult
from seekwatch.core.otlp.view import Attributes
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.moments import DAY, EARLIEST, parse_moment
from seekwatch.processors.spans.values import (
    MAX_DEPTH,
    as_count,
    as_list,
    as_mapping,
    as_number,
    as_text,
    open_json,
    opened,
)
from seekwatch.processors.urls import is_web_url

MAX_RESULTS: Final = 200
MAX_SNIPPET: Final = 16_384

_URL_KEYS: Final = ("url", "link", "href", "uri", "source", "source_url", "doc_uri", "id")
_TITLE_KEYS: Final = ("title", "name")
_TEXT_KEYS: Final = (
    "content",
    "snippet",
    "description",
    "text",
    "page_content",
    "body",
    "raw_content",
)
_DATE_KEYS: Final = (
    "published_date",
    "publishedDate",
    "published_at",
    "date_published",
    "datePublished",
    "date",
    "page_age",
    "age",
)
_SCORE_KEYS: Final = ("score", "relevance_score")
_AUTHORITY_KEYS: Final = ("authority", "source_authority_score")
_RANK_KEYS: Final = ("rank", "position")

_WRAPPERS: Final = (
    "results",
    "organic_results",
    "organic",
    "documents",
    "web",
    "webPages",
    "value",
    "items",
    "hits",
    "sources",
    "data",
    "raw_output",
    "output",
    "result",
    "response",
    "structuredContent",
    "kwargs",
    "content",
    "text",
    "artifact",
)
"""Keys that hold results one level further down, most telling first."""

_MAX_NODES: Final = 2_000
_MARKDOWN_LINK: Final = re.compile(
    r"\[([^\[\]\n]{1,300})\]\((https?://[^\s()]+(?:\([^\s()]*\))?)\)"
)
_PAIR: Final = re.compile(r'"(\w{1,40})"\s*:\s*"((?:[^"\\]|\\.){0,4000})"')
_CONFIDENT_KEYS: Final = frozenset(_DATE_KEYS[:5])


def extract_documents(
    value: Any, cleaner: Cleaner, seen_at: int, *, markdown: bool = True
) -> tuple[SearchResult, ...] | None:
    """Find the list of results in a value.

    Args:
        value: text or decoded data.
        cleaner: what every kept string goes through.
        seen_at: nanoseconds since the epoch; ages in words count from it, later dates are unknown.
        markdown: read `[title](url)` links where there is no structure.

    Returns:
        The results in order; empty when an empty list of results was found; None when there was
        nothing that could be read as results.
    """
    search = _Search()
    items = search.find(value, 0)
    if items is None and markdown and isinstance(value, str):
        items = _markdown_links(value)
    if items is None and search.text is not None and markdown:
        items = _markdown_links(search.text)
    if items is None:
        return None
    return tuple(
        read_document(item, rank, cleaner, seen_at)
        for rank, item in enumerate(items[:MAX_RESULTS], start=1)
    )


def flattened_documents(
    span: Attributes, prefix: str, cleaner: Cleaner, seen_at: int
) -> tuple[SearchResult, ...] | None:
    """Read `retrieval.documents.N.document.*`; None when there is no such attribute."""
    results: list[SearchResult] = []
    for index in range(MAX_RESULTS):
        base = f"{prefix}.{index}."
        fields = {
            "id": span.get(base + names.DOCUMENT_ID),
            "content": span.get(base + names.DOCUMENT_CONTENT),
            "score": span.get(base + names.DOCUMENT_SCORE),
            "metadata": span.get(base + names.DOCUMENT_METADATA),
        }
        if all(value is None for value in fields.values()):
            break
        results.append(read_document(fields, index + 1, cleaner, seen_at))
    return tuple(results) if results else None


def read_document(
    fields: dict[str, Any], rank: int, cleaner: Cleaner, seen_at: int
) -> SearchResult:
    """Read one result, its own fields before those of its `metadata`."""
    told = _Told()
    told.take(fields, seen_at)
    metadata = fields.get("metadata")
    if metadata is not None:
        told.take(_metadata(metadata), seen_at)
    if told.text is None and "highlights" in fields:
        texts = (as_text(item) for item in as_list(fields["highlights"])[:50])
        told.text = " … ".join(text for text in texts if text) or None
    return SearchResult(
        rank=told.rank or rank,
        url=None if told.url is None else cleaner.url(told.url),
        title=cleaner.optional(told.title, 1_000),
        snippet=cleaner.optional(told.text, MAX_SNIPPET),
        published=told.published,
        score=told.score,
        authority=told.authority,
    )


class _Told:
    """What one result tells, filled layer by layer; the first layer that knows something wins."""

    __slots__ = ("authority", "published", "rank", "score", "text", "title", "url")

    def __init__(self) -> None:
        self.url: str | None = None
        self.title: str | None = None
        self.text: str | None = None
        self.published: PageDate | None = None
        self.score: float | None = None
        self.authority: float | None = None
        self.rank: int | None = None

    def take(self, fields: dict[str, Any], seen_at: int) -> None:
        """Take from one layer what is not known yet."""
        # Only keys that are there are looked at: results are small, the lists of names are long.
        present = [(key, place) for key in fields if (place := _PLACES.get(key)) is not None]
        present.sort(key=_by_place)
        for key, (kind, _) in present:
            if getattr(self, kind) is None:
                setattr(self, kind, _CONVERT[kind](key, fields[key], seen_at))


def _by_place(item: tuple[str, tuple[str, int]]) -> int:
    return item[1][1]


class _Search:
    """A bounded walk; remembers the longest text it met, which may hold Markdown."""

    def __init__(self) -> None:
        self.nodes = 0
        self.text: str | None = None

    def find(self, value: Any, depth: int) -> list[dict[str, Any]] | None:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > _MAX_NODES:
            return None
        if isinstance(value, str):
            return self._in_text(value, depth)
        if isinstance(value, dict):
            return self._in_mapping(as_mapping(value), depth)
        if isinstance(value, list | tuple):
            return self._in_list(as_list(value), depth)
        return None

    def _in_text(self, text: str, depth: int) -> list[dict[str, Any]] | None:
        value = opened(text)
        if not isinstance(value, str):
            return self.find(value, depth + 1)
        if self.text is None or len(value) > len(self.text):
            self.text = value
        return None

    def _in_list(self, items: list[Any], depth: int) -> list[dict[str, Any]] | None:
        if not items:
            return []
        documents = [as_mapping(item) for item in items if is_document(item)]
        if documents:
            return documents
        found: list[dict[str, Any]] | None = None
        for item in items[:MAX_RESULTS]:
            inner = self.find(item, depth + 1) if not isinstance(item, int | float) else None
            if inner is not None:
                found = [*(found or []), *inner]
        return found

    def _in_mapping(self, fields: dict[str, Any], depth: int) -> list[dict[str, Any]] | None:
        empty: list[dict[str, Any]] | None = None
        for key in _WRAPPERS:
            inner = fields.get(key)
            if inner is None or isinstance(inner, bool | int | float):
                continue
            found = self.find(inner, depth + 1)
            if found:
                return found
            if found is not None and empty is None and key != "content":
                empty = found
        if empty is None and is_document(fields):
            return [fields]
        return empty


def is_document(value: Any) -> bool:
    """Tell whether a value is an object that names a web page and says something of it."""
    fields = as_mapping(value)
    if not fields:
        return False
    if _has_url(fields):
        return True
    metadata = fields.get("metadata")
    return metadata is not None and _has_url(_metadata(metadata))


def _metadata(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        decoded = open_json(value)
        return as_mapping(decoded) if decoded is not None else _salvaged(value)
    return as_mapping(value)


def _salvaged(text: str) -> dict[str, Any]:
    """Take the whole pairs out of JSON that an attribute limit cut; a cut value is absent."""
    if not text.lstrip().startswith("{"):
        return {}
    return {match[1]: match[2] for match in _PAIR.finditer(text[:MAX_SNIPPET])}


def _has_url(fields: dict[str, Any]) -> bool:
    return any(isinstance(value := fields.get(key), str) and is_web_url(value) for key in _URL_KEYS)


def _web_url(key: str, value: Any, seen_at: int) -> str | None:
    return value if isinstance(value, str) and is_web_url(value) else None


def _words(key: str, value: Any, seen_at: int) -> str | None:
    return as_text(value)


def _number(key: str, value: Any, seen_at: int) -> float | None:
    return as_number(value)


def _share(key: str, value: Any, seen_at: int) -> float | None:
    number = as_number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _ordinal(key: str, value: Any, seen_at: int) -> int | None:
    return as_count(value) or None


def _date(key: str, value: Any, seen_at: int) -> PageDate | None:
    at = parse_moment(value, seen_at)
    if at is None or not EARLIEST <= at <= seen_at + DAY:
        return None
    return PageDate(at=at, method="provider", confidence=0.9 if key in _CONFIDENT_KEYS else 0.8)


_CONVERT: Final[dict[str, Callable[[str, Any, int], Any]]] = {
    "url": _web_url,
    "title": _words,
    "text": _words,
    "published": _date,
    "score": _number,
    "authority": _share,
    "rank": _ordinal,
}
_PLACES: Final = {
    key: (kind, place)
    for kind, keys in (
        ("url", _URL_KEYS),
        ("title", _TITLE_KEYS),
        ("text", _TEXT_KEYS),
        ("published", _DATE_KEYS),
        ("score", _SCORE_KEYS),
        ("authority", _AUTHORITY_KEYS),
        ("rank", _RANK_KEYS),
    )
    for place, key in enumerate(keys)
}
"""What a key tells, and its place among the keys that tell the same."""


def _markdown_links(text: str) -> list[dict[str, Any]] | None:
    """Read a Markdown list of links; the text up to the next link is the snippet."""
    matches = list(_MARKDOWN_LINK.finditer(text[:200_000]))
    documents: list[dict[str, Any]] = []
    for index, match in enumerate(matches):
        following = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        snippet = text[match.end() : following].strip(" \n\r\t-*|#0123456789.")
        documents.append({"url": match[2], "title": match[1], "content": snippet or None})
    return documents or None
