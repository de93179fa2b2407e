"""Works out what the spans of a finished HTTP call say, on the finisher's thread."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.trace import Span, Status, StatusCode

from seekwatch.core import attributes
from seekwatch.sdk._export.batching import end_with_clean_keys
from seekwatch.sdk._fetch.apis import FetchApi
from seekwatch.sdk._fetch.pages import UNKNOWN_SHAPE
from seekwatch.sdk._fetch.telling import beside, fetched_pages, page_attributes
from seekwatch.sdk._finisher import CLOSED
from seekwatch.sdk._guard import guard
from seekwatch.sdk._llm import calls
from seekwatch.sdk._llm.exchange import ModelExchange
from seekwatch.sdk._runtime import Masked, Runtime

from . import bodies
from .bodies import Body, Capture
from .headers import request_headers, response_headers
from .hidden_attempts import emit_hidden_attempts
from .messages import Hop, ResponseView
from .searched import search_attributes

if TYPE_CHECKING:
    from .call import HttpCall

_UNREAD: Final = {"search": attributes.SEARCH_UNREAD, "llm": attributes.LLM_UNREAD}
"""Where the spans that stand for what an answer says tell why it was not read."""
_BODILESS: Final = frozenset({204, 304})
"""Statuses whose answers have no body, whatever the page holds (RFC 9110, 6.4.1)."""


class NamedError(Exception):
    """An error that says more of its kind than its class does; never raised.

    Args:
        name: low-cardinality, `net::ERR_CONNECTION_REFUSED`.
        message: what the agent was told.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Ended:
    """What is known of a call when it is over, everything by reference: a job of the finisher."""

    __slots__ = ("call", "capture", "end_ns", "error", "response", "size")

    def __init__(
        self,
        call: "HttpCall",
        end_ns: int,
        response: ResponseView | None = None,
        error: BaseException | None = None,
        capture: Capture | None = None,
    ) -> None:
        self.call = call
        self.end_ns = end_ns
        self.response = response
        self.error = error
        self.capture = capture
        """The teed body of a streamed response; None when the response holds its whole body."""
        self.size = capture.held if capture is not None else len(_held(response) or b"")
        """Bytes of body that this keeps alive."""

    def finish(self) -> None:
        """Say everything and end the spans; see `finish_call`."""
        finish_call(self)

    def abandon(self, reason: str) -> None:
        """Say the least and end the spans; see `abandon_call`."""
        abandon_call(self, reason)

    @property
    def open_spans(self) -> int:
        """Spans of the call that have not ended yet."""
        spans = (self.call.wire, self.call.outer)
        return sum(span is not None and span.is_recording() for span in spans)

    def answer(self, answered: ModelExchange, /) -> None:
        """End the span of a model call with the answer that a later call brought."""
        self.end_ns = answered.ended_ns
        asked = _model_exchange(self, _decoded(self))
        call = replace(answered, path=asked.path, asked=asked.asked, started_ns=asked.started_ns)
        _tell_model(self, replace(call, first_chunk_ns=None, counted_above=asked.counted_above))

    def give_up(self) -> None:
        """End the span of a model call whose answer was not seen."""
        exchange = _model_exchange(self, _decoded(self))
        _tell_model(self, exchange, {attributes.LLM_UNREAD: calls.UNANSWERED})

    @property
    def status(self) -> int | None:
        """The status of the last answer, if any came."""
        if self.response is not None:
            return self.response.status
        return self.call.exchanges[-1].status if self.call.exchanges else None

    def error_type(self) -> str | None:
        """The low-cardinality name of what went wrong, as the HTTP conventions have it."""
        if isinstance(self.error, NamedError):
            return self.error.name
        if self.error is not None:
            return type(self.error).__qualname__
        return str(self.status) if self.status is not None and self.status >= 400 else None


def _held(response: ResponseView | None) -> bytes | None:
    return None if response is None else response.content()


def abandon_call(ended: Ended, reason: str) -> None:
    """End the spans with the least that makes sense of them; cheap enough for any thread."""
    call = ended.call
    for span in (call.wire, call.outer):
        if span is None or not span.is_recording():
            continue
        told = _UNREAD[call.kind] if span is call.outer else attributes.CONTENT_OMITTED
        values: dict[str, Any] = {
            attributes.HTTP_METHOD: call.request.method,
            attributes.URL_FULL: call.request.url,
            told: reason,
        }
        if ended.status is not None:
            values[attributes.HTTP_STATUS] = ended.status
        if reason == CLOSED:
            span.end(ended.end_ns)
            continue
        # Whatever fails here (a redaction of the user's own may), the span has to end.
        with guard("describing a span without its body"):
            _describe(call.runtime, span, values, ended)
        span.end(ended.end_ns)


def finish_call(ended: Ended) -> None:
    """Set every attribute of the call's spans and end them, innermost first."""
    call = ended.call
    if call.kind == "look":
        _look(ended)
        return
    body = _decoded(ended)
    if call.kind == "llm":
        _finish_model(ended, _model_exchange(ended, body))
        return
    read: dict[str, Any] = {}
    documents: Masked | None = None
    if call.outer is not None:
        read, documents = search_attributes(ended, body)
    if call.wire is not None:
        emit_hidden_attempts(call)
        if call.fetch_api is not None:
            _tell_pages(ended, call.fetch_api, body)
            return
        unread = call.kind == "fetch" or attributes.SEARCH_UNREAD in read
        _end(call.runtime, call.wire, _wire_attributes(ended, body, carry_body=unread), ended)
    if call.outer is not None:
        _end(call.runtime, call.outer, read, ended, documents)


def _finish_model(ended: Ended, exchange: ModelExchange) -> None:
    """End the span of a model call, or let it wait for an answer that comes later."""
    identity = calls.unanswered(exchange)
    if identity is None:
        _tell_model(ended, exchange)
    else:
        size = ended.size + len(exchange.asked or b"")
        ended.call.runtime.background.hold(identity, ended, size)


def _look(ended: Ended) -> None:
    """End the span of the call whose answer this one brings, if it does."""
    request, background = ended.call.request, ended.call.runtime.background
    identity = calls.looked_for(request.method, request.path)
    if identity is None or identity not in background:
        return
    exchange = _model_exchange(ended, _decoded(ended))
    waiting = background.take(identity) if calls.is_answer(exchange) else None
    if waiting is not None:
        waiting.answer(exchange)


def _tell_model(
    ended: Ended, exchange: ModelExchange, more: Mapping[str, Any] = MappingProxyType({})
) -> None:
    call = ended.call
    if call.outer is None:
        return
    read = {**calls.read_call(exchange), **more, **_exchange_attributes(ended)}
    _rename(call.runtime, call.outer, read)
    _end(call.runtime, call.outer, read, ended)


def _tell_pages(ended: Ended, api: FetchApi, body: Body) -> None:
    """End the call's span with the page that an API fetched, and a span for every other page."""
    call, response = ended.call, ended.response
    missing = UNKNOWN_SHAPE if body.whole else bodies.CLOSED_EARLY
    for number, page in enumerate(fetched_pages(api, call, response, body)):
        span = beside(call) if number or call.wire is None else call.wire
        values = _exchange_attributes(ended)
        values.pop(attributes.HTTP_STATUS, None)
        values |= page_attributes(api, call, page, response, missing)
        if response is not None:
            values[attributes.RETRIEVED_AT] = _rfc3339(ended.end_ns)
        trace_id = span.get_span_context().trace_id
        method, url = values[attributes.HTTP_METHOD], values[attributes.URL_FULL]
        values |= call.runtime.attempts.attributes(trace_id, method, url)
        if attributes.ERROR_TYPE in values:
            span.set_status(Status(StatusCode.ERROR))
        _end(call.runtime, span, values, ended)


def _rename(runtime: Runtime, span: Span, read: dict[str, Any]) -> None:
    model = read.get(attributes.REQUEST_MODEL)
    if model:
        named = runtime.redactor.text(str(model))
        span.update_name(f"{read.get(attributes.OPERATION_NAME, 'chat')} {named}")


def _end(
    runtime: Runtime,
    span: Span,
    values: dict[str, Any],
    ended: Ended,
    masked: Masked | None = None,
) -> None:
    described = _describe(runtime, span, values, ended, masked)
    end_with_clean_keys(span, ended.end_ns, described)


def _describe(
    runtime: Runtime,
    span: Span,
    values: dict[str, Any],
    ended: Ended,
    masked: Masked | None = None,
) -> frozenset[str]:
    """Set attributes and status, masked; returns the keys that were set."""
    error_type = ended.error_type()
    if error_type is not None:
        values[attributes.ERROR_TYPE] = error_type
    prepared = runtime.prepared(values, masked)
    span.set_attributes(prepared)
    _set_error(span, ended)
    return frozenset(prepared)


def _set_error(span: Span, ended: Ended) -> None:
    error_type = ended.error_type()
    if error_type is None:
        return
    runtime = ended.call.runtime
    message = None
    if ended.error is not None:
        message = error_type
        if runtime.withholder is None and str(ended.error):
            message = runtime.redactor.text(f"{error_type}: {ended.error}")
    span.set_status(Status(StatusCode.ERROR, message))


def _decoded(ended: Ended) -> Body:
    response = ended.response
    if response is None:
        return Body(b"", whole=False, wire_bytes=None)
    if ended.capture is not None:
        return bodies.decode(ended.capture, response.header("content-encoding") or "")
    content = response.content()
    if content is None:
        return Body(b"", whole=False, wire_bytes=None)
    return Body(content, whole=True, wire_bytes=response.wire_bytes())


def _model_exchange(ended: Ended, body: Body) -> ModelExchange:
    request, capture = ended.call.request, ended.capture
    headers = {} if ended.response is None else dict(ended.response.headers())
    encoding = headers.get("content-encoding", "")
    return ModelExchange(
        host=request.host,
        path=request.path,
        query=request.query,
        asked=request.body(),
        status=ended.status,
        headers=headers,
        answered=body.data,
        whole=body.whole,
        started_ns=ended.call.started_ns,
        first_chunk_ns=None if capture is None else capture.first_chunk_ns,
        ended_ns=ended.end_ns,
        tail=b"" if capture is None else bodies.tail(capture, encoding),
        counted_above=ended.call.counted_above,
    )


def _exchange_attributes(ended: Ended) -> dict[str, Any]:
    """What the HTTP conventions say about one call: where to, with what result, how long."""
    call = ended.call
    found: dict[str, Any] = {
        attributes.HTTP_METHOD: call.request.method,
        attributes.URL_FULL: call.request.url,
        attributes.SERVER_ADDRESS: call.request.host,
    }
    if call.request.port is not None:
        found[attributes.SERVER_PORT] = call.request.port
    if ended.status is not None:
        found[attributes.HTTP_STATUS] = ended.status
    if call.exchanges:
        # The sum over the hops is what the stock metric adds up for the same call.
        found[attributes.HTTP_DURATION] = sum(each.own_seconds for each in call.exchanges)
    return found


def _wire_attributes(ended: Ended, body: Body, *, carry_body: bool) -> dict[str, Any]:
    call = ended.call
    values = _exchange_attributes(ended)
    method, url = call.request.method, values[attributes.URL_FULL]
    if call.wire is not None:
        trace_id = call.wire.get_span_context().trace_id
        values |= call.runtime.attempts.attributes(trace_id, method, url)
    values[attributes.FETCH_ACTION] = call.action
    values[attributes.FETCH_ADAPTER] = call.adapter
    values |= request_headers(call.request)
    values |= _hops(ended)
    if ended.response is not None:
        values |= _response_attributes(ended, ended.response)
        values |= _carried(ended, ended.response, body, carry_body=carry_body)
    return values


def _hops(ended: Ended) -> dict[str, Any]:
    exchanges = ended.call.exchanges
    hops = [Hop(each.url, each.status, each.location) for each in exchanges[:-1]]
    if not hops and ended.response is not None:
        hops = list(ended.response.hops())
    if not hops:
        return {}
    redact = ended.call.runtime.redactor.url
    told: list[dict[str, Any]] = []
    for hop in hops:
        entry = {
            "url": redact(hop.url),
            "status": hop.status,
            "location": None if hop.location is None else redact(hop.location),
        }
        told.append({key: value for key, value in entry.items() if value is not None})
    return {attributes.FETCH_HOPS: json.dumps(told, ensure_ascii=False)}


def _response_attributes(ended: Ended, response: ResponseView) -> dict[str, Any]:
    final = response.url
    values: dict[str, Any] = {
        attributes.FETCH_FINAL_URL: final,
        attributes.RETRIEVED_AT: _rfc3339(ended.end_ns),
    }
    if ended.call.kind == "fetch":
        values[attributes.SOURCE_URL] = final
    values |= response_headers(response)
    content_type = response.header("content-type")
    if content_type:
        values[attributes.CONTENT_TYPE] = content_type
    from_cache = response.from_cache()
    if from_cache is not None:
        values[attributes.FETCH_FROM_CACHE] = from_cache
        if from_cache:
            values[attributes.FETCH_ADAPTER] = "cache"
    return values


def _carried(
    ended: Ended, response: ResponseView, body: Body, *, carry_body: bool
) -> dict[str, Any]:
    runtime = ended.call.runtime
    values: dict[str, Any] = {}
    values |= bodies.body_attributes(
        body,
        response.header("content-type") or "",
        runtime.redactor,
        cap=runtime.config.page_bytes if runtime.config.capture_content and carry_body else 0,
        value_limit=runtime.value_limit,
    )
    if not body.data and (ended.call.request.method == "HEAD" or response.status in _BODILESS):
        # The hash of nothing would say that the page has become empty.
        values.pop(attributes.CONTENT_HASH, None)
    if not carry_body and attributes.CONTENT_OMITTED in values:
        values[attributes.CONTENT_OMITTED] = bodies.SEARCH_RESULTS
    return values


def _rfc3339(time_ns: int) -> str:
    moment = datetime.fromtimestamp(time_ns // 1_000_000 / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
