"""Searches by client libraries whose requests no Python HTTP library sends.

Such a library is told by its own methods: what they are asked, and what they return.
"""

import time
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Final

from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from seekwatch.core import attributes
from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._export.batching import end_with_clean_keys
from seekwatch.sdk._guard import guard, guarded
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._replacing import Undo, last_first
from seekwatch.sdk._runs.run import parent_context
from seekwatch.sdk._runtime import Masked, Runtime, current
from seekwatch.sdk._shapes import as_list
from seekwatch.sdk._watching import Begin, watch_method

from .apis import SearchApi
from .documents import document_attributes
from .results import missing, read_items

_DDGS: Final = SearchApi(
    # One query to several engines at once, sent by a library in Rust. `text` has no dates.
    name="ddgs",
    hosts=("-",),
    query=("param:query",),
    results=("-",),
    url=("href", "url"),
    published=("date",),
    content=("body",),
)
CLIENTS: Final = {
    ("ddgs.ddgs", "DDGS"): (_DDGS, ("text", "news")),
    ("duckduckgo_search.duckduckgo_search", "DDGS"): (_DDGS, ("text", "news")),
}
"""Module and class to how the results are read, and the methods that search."""
_ESTIMATED_BYTES: Final = 16_384


class _ClientSearch:
    """One search: an outcome of a watched method, then a job of the finisher."""

    def __init__(self, runtime: Runtime, api: SearchApi, query: object, top_k: object) -> None:
        self.size = _ESTIMATED_BYTES
        self._runtime = runtime
        self._api = api
        self._query = query
        self._top_k = top_k
        self._results: Any = None
        self._error: BaseException | None = None
        self._started_ns = time.time_ns()
        self._ended_ns = self._started_ns
        context = parent_context()
        self._span = runtime.tracer.start_span(
            f"retrieval {api.name}",
            context,
            SpanKind.CLIENT,
            {
                **runtime.common,
                attributes.SPAN_KIND: attributes.KIND_RETRIEVER,
                attributes.OPERATION_NAME: attributes.OPERATION_RETRIEVAL,
            },
        )
        self._token = attach(set_span_in_context(self._span, context))

    @guarded("a search that ended")
    def returned(self, result: Any, /) -> None:
        """Keep what was found, by reference."""
        self._results = result
        self._submit()

    @guarded("a search that failed")
    def raised(self, error: BaseException, /) -> None:
        """Keep why nothing was found."""
        self._error = error
        self._submit()

    def _submit(self) -> None:
        detach(self._token)
        self._ended_ns = time.time_ns()
        if self._span.is_recording():
            self._runtime.finisher.submit(self)

    def finish(self) -> None:
        """Say everything and end the span."""
        runtime, api = self._runtime, self._api
        values: dict[str, Any] = {
            attributes.SEARCH_PROVIDER: api.name,
            attributes.DATA_SOURCE_ID: api.name,
            attributes.SOURCE_TYPE: attributes.SOURCE_TYPE_WEB,
        }
        if isinstance(self._query, str):
            values[attributes.SEARCH_QUERY] = self._query
            values[attributes.RETRIEVAL_QUERY_TEXT] = self._query
            values[attributes.INPUT_VALUE] = self._query
        if isinstance(self._top_k, int) and not isinstance(self._top_k, bool):
            values[attributes.RETRIEVAL_TOP_K] = self._top_k
        masked: Masked | None = None
        if self._error is None:
            called_at = datetime.fromtimestamp(self._started_ns / 1e9, UTC)
            documents = read_items(api, as_list(self._results), called_at)
            if absent := missing(documents):
                values[attributes.SEARCH_MISSING] = absent
            masked = document_attributes(runtime, documents, api.name)
        else:
            self._tell_error(values, self._error)
        prepared = runtime.prepared(values, masked)
        self._span.set_attributes(prepared)
        end_with_clean_keys(self._span, self._ended_ns, frozenset(prepared))

    def _tell_error(self, values: dict[str, Any], error: BaseException) -> None:
        kind = message = type(error).__qualname__
        values[attributes.ERROR_TYPE] = kind
        if self._runtime.withholder is None:
            message = self._runtime.redactor.text(f"{kind}: {error}")
        self._span.set_status(Status(StatusCode.ERROR, message))

    def abandon(self, reason: str) -> None:
        """End the span without what was found."""
        with guard("describing a search without its results"):
            self._span.set_attribute(attributes.SEARCH_UNREAD, reason)
        self._span.end(self._ended_ns)

    @property
    def open_spans(self) -> int:
        """Whether its span has not ended yet, as a number."""
        return int(self._span.is_recording())


def install() -> Undo:
    """Watch each library when the agent imports it; returns what undoes it."""
    undo: list[Undo] = []
    for (module, owner), (api, methods) in CLIENTS.items():

        def wrap(
            found: ModuleType,
            owner: str = owner,
            api: SearchApi = api,
            methods: tuple[str, ...] = methods,
        ) -> None:
            begin = _begin(api)
            undo.extend(watch_method(getattr(found, owner), name, begin) for name in methods)

        undo.append(when_imported(module, wrap))
    return last_first(undo)


def _begin(api: SearchApi) -> Begin:
    def begin(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _ClientSearch | None:
        runtime = current()
        if runtime is None:
            return None
        query = args[0] if args else kwargs.get("query", kwargs.get("keywords"))
        return _ClientSearch(runtime, api, query, kwargs.get("max_results"))

    return begin
