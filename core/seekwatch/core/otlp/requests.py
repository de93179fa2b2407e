"""Export requests, taken apart without decoding the spans in them.

A record on the log is an OTLP export request, protobuf or JSON, told apart by its first byte. The
parts stay raw bytes until their trace closes: pending traces cost half the memory that way, and a
span that nobody scores is never decoded.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any, Final, cast

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from seekwatch.core.errors import UndecodableError
from seekwatch.core.model import Record
from seekwatch.core.otlp import wire
from seekwatch.core.otlp.view import FLAG_IS_REMOTE
from seekwatch.core.records import Signal

_REQUESTS: Final = {
    Signal.TRACES: ExportTraceServiceRequest,
    Signal.LOGS: ExportLogsServiceRequest,
}
_ID_KEYS: Final = frozenset({"traceId", "spanId", "parentSpanId"})


class RawItem(Record, frozen=True, kw_only=True):
    """A span or log record of a request, still encoded, with the group it stood in."""

    raw: bytes
    resource: bytes
    scope: bytes

    @property
    def size(self) -> int:
        """Bytes held for it; the shared group is not counted."""
        return len(self.raw)


class SpanHead(Record, frozen=True, kw_only=True):
    """What assembly needs of a span before its trace closes."""

    trace: bytes
    span: bytes
    is_root: bool
    end: int


def raw_items(value: bytes, signal: Signal) -> list[RawItem]:
    """Take a request apart.

    Raises:
        UndecodableError: the value is no OTLP request; `reason` is `protobuf` or `json`.
    """
    encoded = protobuf_request(value, signal)
    try:
        request = wire.Request.FromString(encoded)
    except DecodeError as error:
        raise UndecodableError(
            f"{len(value)} bytes are no OTLP {signal} request: {error}", reason="protobuf"
        ) from error
    return [
        RawItem(raw=item, resource=group.resource, scope=scope.scope)
        for group in request.resources
        for scope in group.scopes
        for item in scope.items
    ]


def protobuf_request(value: bytes, signal: Signal) -> bytes:
    """Return the protobuf form of a request that may be JSON.

    Raises:
        UndecodableError: it begins like JSON and is no OTLP/JSON.
    """
    # `{` would be field 15 with a group wire type: no OTLP message begins so.
    if value[:1] != b"{" and value.lstrip()[:1] != b"{":
        return value
    try:
        document = _with_base64_ids(json.loads(value))
        message: Message = _REQUESTS[signal]()
        json_format.ParseDict(document, message, ignore_unknown_fields=True)
    except (ValueError, RecursionError, json_format.ParseError) as error:
        raise UndecodableError(f"not OTLP/JSON: {error}", reason="json") from error
    return message.SerializeToString()


def span_head(raw: bytes) -> SpanHead:
    """Read a span's ids and whether it counts as a root for closing.

    Raises:
        UndecodableError: the bytes are no span, or a span without valid ids.
    """
    try:
        head = wire.SpanHead.FromString(raw)
    except DecodeError as error:
        raise UndecodableError(f"span of {len(raw)} bytes: {error}", reason="span") from error
    if len(head.trace_id) != 16 or len(head.span_id) != 8:
        raise UndecodableError("span without a trace id and a span id", reason="span-id")
    return SpanHead(
        trace=head.trace_id,
        span=head.span_id,
        is_root=not head.parent_span_id or bool(head.flags & FLAG_IS_REMOTE),
        end=head.end_time_unix_nano,
    )


def log_trace(raw: bytes) -> bytes:
    """Return the trace id of a log record, empty when it has none.

    Raises:
        UndecodableError: the bytes are no log record.
    """
    try:
        return cast("bytes", wire.LogHead.FromString(raw).trace_id)
    except DecodeError as error:
        raise UndecodableError(f"log record: {error}", reason="log") from error


def single_trace_requests(items: list[RawItem], signal: Signal) -> Iterator[tuple[bytes, bytes]]:
    """Group items by trace into one request each: (trace id, encoded request).

    Items without a trace id come together under an empty id. Order inside a trace is kept.

    Raises:
        UndecodableError: an item has no readable id.
    """
    by_trace: dict[bytes, list[RawItem]] = {}
    for item in items:
        trace = span_head(item.raw).trace if signal is Signal.TRACES else log_trace(item.raw)
        by_trace.setdefault(trace, []).append(item)
    for trace, group in by_trace.items():
        yield trace, encode_request(group)


def encode_request(items: list[RawItem]) -> bytes:
    """Encode items as one export request; neighbours of one resource and scope share a group."""
    request = wire.Request()
    resource = scope = None
    previous: RawItem | None = None
    for item in items:
        if previous is None or item.resource != previous.resource:
            resource = request.resources.add(resource=item.resource)
            scope = None
        if scope is None or previous is None or item.scope != previous.scope:
            scope = cast("Any", resource).scopes.add(scope=item.scope)
        scope.items.append(item.raw)
        previous = item
    return cast("bytes", request.SerializeToString())


def _with_base64_ids(value: Any) -> Any:
    """Turn OTLP/JSON's hex ids into the base64 that protobuf's own JSON mapping wants."""
    if isinstance(value, list):
        return [_with_base64_ids(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    converted: dict[str, Any] = {}
    for key, item in cast("dict[str, Any]", value).items():
        if key in _ID_KEYS and isinstance(item, str):
            converted[key] = base64.b64encode(bytes.fromhex(item)).decode()
        else:
            converted[key] = _with_base64_ids(item)
    return converted
