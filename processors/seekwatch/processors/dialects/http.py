"""Plain HTTP client spans, by the old and the new semantic conventions.

They say that a request was made and how it ended, nothing of its body. Whether such a request is a
fetch of its own or the wire side of a span above it is decided per trace, in `trace/fetches.py`.
"""

import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from seekwatch.core import attributes as names
from seekwatch.core.model import Adapter, Fetch, Provenance, Search
from seekwatch.core.otlp.view import LogView, SpanView
from seekwatch.processors.dialects.base import Role, SpanFacts, error_of
from seekwatch.processors.spans.actions import action_of
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.headers import header, read_validators

_OLD_METHOD: Final = "http.method"
_OLD_URL: Final = "http.url"
_OLD_STATUS: Final = "http.status_code"
_SERVER: Final = 2
"""OTLP span kind of a request that was served, not made."""

_MODEL_PATH: Final = re.compile(
    r"(?i)/(?:chat/completions|completions|responses|messages|embeddings|rerank|v\d\w*/models/[^/]+:"
    r"\w+|model/[^/]+/(?:invoke|converse)\w*|api/(?:chat|generate|embed\w*))/?$"
)
_SEARCH_URL: Final = re.compile(r"(?i)search|customsearch|serp|\bbrave\b|tavily|\bexa\b|duckduckgo")
_QUERY_PARAMETERS: Final = ("q", "query", "search_query", "text")
NOT_IN_TRACE: Final = "not-in-trace"
"""Why the results of a search are unread: an HTTP span does not carry them."""


class PlainHttp:
    """HTTP client spans of any instrumentation."""

    name = "http"

    def claims(self, span: SpanView) -> bool:
        """Tell by the method's key; spans of servers are no work of the agent."""
        if span.kind == _SERVER:
            return False
        return names.HTTP_METHOD in span or _OLD_METHOD in span

    def read(self, span: SpanView, logs: list[LogView], cleaner: Cleaner) -> SpanFacts:
        """Read a request."""
        facts = SpanFacts(span, self.name, Role.HTTP, error=error_of(span, cleaner))
        url = url_of(span)
        method = (span.text(names.HTTP_METHOD) or span.text(_OLD_METHOD) or "GET").upper()
        if url is None or is_model_call(method, url):
            return facts
        query = searched_query(url)
        adapter = Adapter.FETCH if query is None else Adapter.SEARCH
        status = span.integer(names.HTTP_STATUS) or span.integer(_OLD_STATUS)
        error = error_of(span, cleaner)
        location = header(span, names.RESPONSE_HEADER + "location")
        facts.location = None if location is None else cleaner.url(location)
        facts.fetches.append(
            Fetch(
                span=span.span_id,
                start=span.start,
                end=span.end,
                adapter=adapter,
                url=cleaner.url(url),
                method=cleaner.name(method) or "GET",
                status=status,
                duration=max(0, span.end - span.start) / 1e9,
                error=error if error != "error" or status is None else str(status),
                validators=read_validators(span, cleaner),
                action=action_of(method, adapter),
                retrieved_at=span.end if status is not None else None,
            )
        )
        if query is not None:
            facts.searches.append(_search(span, query, cleaner, error))
        return facts


def _search(span: SpanView, query: str, cleaner: Cleaner, error: str | None) -> Search:
    key = names.URL_FULL if names.URL_FULL in span else _OLD_URL
    return Search(
        span=span.span_id,
        start=span.start,
        end=span.end,
        query=cleaner.text(query),
        results=None,
        unread_reason=NOT_IN_TRACE,
        error=error,
        provenance=Provenance(span=span.span_id, key=key),
    )


def url_of(span: SpanView) -> str | None:
    """Return the request's URL, put together from its parts where only those were sent."""
    url = span.text(names.URL_FULL) or span.text(_OLD_URL)
    if url is not None:
        return url
    host, path = span.text(names.SERVER_ADDRESS), span.text("url.path")
    if host is None or path is None:
        return None
    query = span.text("url.query")
    scheme = span.text("url.scheme") or "https"
    return f"{scheme}://{host}{path}{'?' + query.lstrip('?') if query else ''}"


def is_model_call(method: str, url: str) -> bool:
    """Tell by the path whether a request asks a model and fetches nothing."""
    if method != "POST":
        return False
    try:
        return _MODEL_PATH.search(urlsplit(url).path) is not None
    except ValueError:
        return False


def searched_query(url: str) -> str | None:
    """Return the query that a URL of a search API or search page carries, else None."""
    try:
        parts = urlsplit(url)
        if not parts.query or not _SEARCH_URL.search(f"{parts.hostname}{parts.path}"):
            return None
        parameters = dict(parse_qsl(parts.query, max_num_fields=100))
    except ValueError:
        return None
    for name in _QUERY_PARAMETERS:
        if parameters.get(name, "").strip():
            return parameters[name]
    return None
