"""Spans for attempts that a transport keeps to itself: retries and revalidations.

Each trip over the wire is an attempt at the page, whether the agent's own code made it or a
transport below the client did. The client's own answer has the call's span; the others get one
each here, after the fact, with the times at which they happened.
"""

from typing import TYPE_CHECKING, Any

from opentelemetry.trace import SpanKind, Status, StatusCode

from seekwatch.core import attributes
from seekwatch.sdk._export.batching import end_with_clean_keys

from .exchanges import Wire
from .headers import request_headers, response_headers

if TYPE_CHECKING:
    from .call import HttpCall


def emit_hidden_attempts(call: "HttpCall") -> None:
    """Make a TOOL span of each hidden attempt, as siblings of the call's own."""
    for exchange in call.exchanges:
        for wire in exchange.hidden:
            _emit(call, wire)


def _emit(call: "HttpCall", wire: Wire) -> None:
    runtime = call.runtime
    tool = "search" if call.kind == "search" else "fetch"
    span = runtime.tracer.start_span(
        f"execute_tool {tool}",
        call.parent,
        SpanKind.INTERNAL,
        {
            **runtime.common,
            attributes.SPAN_KIND: attributes.KIND_TOOL,
            attributes.OPERATION_NAME: attributes.OPERATION_EXECUTE_TOOL,
            attributes.GENAI_TOOL_NAME: tool,
        },
        start_time=wire.started_ns,
    )
    if not span.is_recording():
        return
    trace_id = span.get_span_context().trace_id
    values = _attributes(call, wire, trace_id) | {attributes.FETCH_ADAPTER: tool}
    prepared = runtime.prepared(values)
    span.set_attributes(prepared)
    if attributes.ERROR_TYPE in prepared:
        span.set_status(Status(StatusCode.ERROR))
    ended_ns = wire.started_ns + int(wire.seconds * 1e9)
    end_with_clean_keys(span, ended_ns, frozenset(prepared))


def _attributes(call: "HttpCall", wire: Wire, trace_id: int) -> dict[str, Any]:
    method, url = wire.request.method, wire.request.url
    values: dict[str, Any] = {
        attributes.HTTP_METHOD: method,
        attributes.URL_FULL: url,
        attributes.SERVER_ADDRESS: wire.request.host,
        attributes.HTTP_DURATION: wire.seconds,
        attributes.FETCH_ACTION: call.action,
        **call.runtime.attempts.attributes(trace_id, method, url),
        **request_headers(wire.request),
    }
    if wire.status is not None:
        values[attributes.HTTP_STATUS] = wire.status
        if wire.status >= 400:
            values[attributes.ERROR_TYPE] = str(wire.status)
    if wire.error is not None:
        values[attributes.ERROR_TYPE] = type(wire.error).__qualname__
    if wire.response is not None:
        values |= response_headers(wire.response)
    return values
