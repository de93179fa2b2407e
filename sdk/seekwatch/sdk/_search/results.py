"""Reads a search call: the query from the request, the results from the answer.

Runs on the finisher's thread only. What a provider does not say (a date, a score) stays out; it
is never guessed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from seekwatch.sdk._decoding import as_text, decode
from seekwatch.sdk._shapes import as_list, first_number, first_text, is_list, is_mapping, lookup

from .apis import SearchApi
from .dates import parse_published, recency_days

MAX_RESULTS: Final = 200
"""More results than any provider gives on one page; the rest is counted, not carried."""
MAX_CONTENT_CHARACTERS: Final = 16_384

NOT_JSON: Final = "not-json"
UNKNOWN_SHAPE: Final = "unknown-shape"
TOO_LARGE: Final = "too-large"
HTML: Final = "html"
"""A page for people: what it found is not read out of it."""


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked: the text exactly as sent, and how many results were wanted."""

    text: str | None
    top_k: int | None


def read_query(api: SearchApi, url_query: str, body: bytes | None, url_path: str = "") -> Query:
    """Read query and wanted count from a call's URL and body.

    Args:
        api: that is called.
        url_query: the URL's, still encoded.
        body: of the request.
        url_path: decoded.
    """
    places = _Places(url_query, body, url_path)
    text: str | None = None
    for place in api.query:
        found = places.find(place)
        if isinstance(found, str):
            text = found
        else:
            # Several queries in one call (Perplexity): one span, each query on its own line.
            text = "\n".join(part for part in as_list(found) if isinstance(part, str))
        if text:
            break
    for place in api.top_k:
        wanted = places.find(place)
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            return Query(text, wanted)
        if isinstance(wanted, str) and wanted.isdecimal():
            return Query(text, int(wanted[:9]))
    return Query(text, None)


class _Places:
    """The places of a call where a value can be, each decoded once when first asked."""

    def __init__(self, url_query: str, body: bytes | None, url_path: str) -> None:
        self._words = unquote_plus(url_path.strip("/"))
        self._url_query = url_query
        self._body = body or b""
        self._decoded: dict[str, object] = {}

    def find(self, place: str) -> object:
        kind, _, path = place.partition(":")
        if kind == "path":
            return self._words
        if kind not in self._decoded:
            self._decoded[kind] = self._decode(kind)
        return lookup(self._decoded[kind], path)

    def _decode(self, kind: str) -> object:
        if kind == "param":
            return dict(parse_qsl(self._url_query, keep_blank_values=True))
        if kind == "form":
            return dict(parse_qsl(as_text(self._body), keep_blank_values=True))
        return decode(self._body)


def read_results(
    api: SearchApi, body: bytes, called_at: datetime
) -> tuple[list[dict[str, Any]], str | None]:
    """Read the results of an answer.

    Returns:
        The documents as `gen_ai.retrieval.documents` carries them, and the reason when the
        answer could not be read. No results in a list that is there is an answer, not a failure.
    """
    decoded = decode(body)
    if decoded is None:
        return [], HTML if body.lstrip()[:1] == b"<" else NOT_JSON
    found = False
    items: list[object] = []
    for path in api.results:
        listed = lookup(decoded, path)
        if is_list(listed):
            found = True
            items.extend(as_list(listed))
    if not found:
        # Providers leave the list out when nothing was found; an error they do name.
        empty = is_mapping(decoded) and "error" not in decoded and "errors" not in decoded
        return [], None if empty else UNKNOWN_SHAPE
    return read_items(api, items, called_at), None


def read_items(
    api: SearchApi, items: Sequence[object], called_at: datetime
) -> list[dict[str, Any]]:
    """Return results as `gen_ai.retrieval.documents` carries them.

    Some providers list other things behind their results (related searches); these say nothing.
    """
    documents = (_document(api, item, rank, called_at) for rank, item in enumerate(_flat(items), 1))
    return [each for each in documents if len(each) > 1]


def missing(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what none of the results has, of what a search is judged by; nothing is guessed."""
    if not documents:
        return []
    wanted = {"urls": "url", "dates": "published_date"}
    return [name for name, key in wanted.items() if not any(key in each for each in documents)]


def _flat(items: Sequence[object]) -> list[object]:
    """Undo one level of nesting (a list of results for each query of one call)."""
    flat: list[object] = []
    for item in items:
        if is_list(item):
            flat.extend(as_list(item))
        else:
            flat.append(item)
    return flat[:MAX_RESULTS]


def _document(api: SearchApi, item: object, rank: int, called_at: datetime) -> dict[str, Any]:
    document: dict[str, Any] = {}
    url = first_text(item, api.url)
    if url is not None:
        document["id"] = url
        document["url"] = url
    title = first_text(item, api.title)
    if title is not None:
        document["title"] = title
    published = first_text(item, api.published)
    if published is not None:
        document["published_date"] = published
        moment = parse_published(published, called_at)
        if moment is not None:
            document["recency_days"] = recency_days(moment, called_at)
    document["rank"] = rank
    score = first_number(item, api.score)
    if score is not None and math.isfinite(score):
        document["score"] = score
    content = first_text(item, api.content)
    if content is not None:
        document["content"] = content[:MAX_CONTENT_CHARACTERS]
    return document
