"""OTLP messages made by hand: spans and log records of any dialect, encoded as requests.

For tests and tools that need telemetry whose every byte is known; ids depend on names alone.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as ProtoLogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from seekwatch.core.otlp.view import FLAG_HAS_REMOTE, FLAG_IS_REMOTE
from seekwatch.core.records import LogRecord, Signal

AttributeValue = (
    str | bool | int | float | bytes | Sequence["AttributeValue"] | Mapping[str, "AttributeValue"]
)
"""What an attribute can hold here; None-valued entries of a mapping are left out."""

AttributeMap = Mapping[str, AttributeValue | None]
"""Attributes by key; None leaves one out."""

START: Final = 1_790_000_000_000_000_000
"""Default start of a trace: 2026-09-21 14:13:20 UTC, in nanoseconds since the epoch."""

_SECOND: Final = 1_000_000_000


def trace_id(seed: str) -> str:
    """Return 32 hex characters that depend on `seed` alone."""
    return hashlib.sha256(f"trace:{seed}".encode()).hexdigest()[:32]


def span_id(seed: str) -> str:
    """Return 16 hex characters that depend on `seed` alone."""
    return hashlib.sha256(f"span:{seed}".encode()).hexdigest()[:16]


def any_value(value: AttributeValue) -> AnyValue:
    """Encode a Python value as OTLP does."""
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    encoded = AnyValue()
    if isinstance(value, Mapping):
        encoded.kvlist_value.SetInParent()
        encoded.kvlist_value.values.extend(key_values(value))
    else:
        encoded.array_value.SetInParent()
        encoded.array_value.values.extend(any_value(item) for item in value)
    return encoded


def key_values(attributes: AttributeMap) -> list[KeyValue]:
    """Encode attributes; None leaves one out."""
    return [
        KeyValue(key=key, value=any_value(value))
        for key, value in attributes.items()
        if value is not None
    ]


def span(
    name: str,
    attributes: AttributeMap | None = None,
    *,
    trace: str | None = None,
    span: str | None = None,
    parent: str | None = None,
    remote_parent: bool = False,
    start: int = START,
    end: int | None = None,
    kind: int = 1,
    status: int = 0,
    message: str = "",
    events: Sequence[tuple[str, AttributeMap]] = (),
    dropped_attributes: int = 0,
) -> ProtoSpan:
    """Build one span of any dialect.

    Args:
        name: span name; also the seed of the ids that are not given.
        attributes: values by key.
        trace: id in hex.
        span: id in hex.
        parent: id in hex; None for a root.
        remote_parent: mark the parent as being in another process.
        start: nanoseconds since the epoch.
        end: likewise; a second later by default.
        kind: OTLP span kind, 1 internal, 3 client.
        status: OTLP status code, 1 OK, 2 error.
        message: status message.
        events: (name, attributes) in order, all at the span's start.
        dropped_attributes: as if an SDK limit had dropped so many.
    """
    flags = FLAG_HAS_REMOTE | (FLAG_IS_REMOTE if remote_parent else 0)
    built = ProtoSpan(
        trace_id=bytes.fromhex(trace or trace_id(name)),
        span_id=bytes.fromhex(span or span_id(name)),
        parent_span_id=bytes.fromhex(parent or ""),
        name=name,
        kind=cast("Any", kind),
        start_time_unix_nano=start,
        end_time_unix_nano=start + _SECOND if end is None else end,
        attributes=key_values(attributes or {}),
        dropped_attributes_count=dropped_attributes,
        flags=flags,
    )
    if status or message:
        built.status.code = cast("Any", status)
        built.status.message = message
    for event_name, event_attributes in events:
        built.events.add(
            name=event_name, time_unix_nano=start, attributes=key_values(event_attributes)
        )
    return built


def log(
    event_name: str,
    attributes: AttributeMap | None = None,
    *,
    body: AttributeValue | None = None,
    trace: str | None = None,
    span: str | None = None,
    time: int = START,
) -> ProtoLogRecord:
    """Build one OTLP log record, joined to a span when the ids (hex) are given."""
    built = ProtoLogRecord(
        event_name=event_name,
        time_unix_nano=time,
        observed_time_unix_nano=time,
        attributes=key_values(attributes or {}),
        trace_id=bytes.fromhex(trace or ""),
        span_id=bytes.fromhex(span or ""),
    )
    if body is not None:
        built.body.CopyFrom(any_value(body))
    return built


def traces_request(
    spans: Iterable[ProtoSpan],
    *,
    resource: AttributeMap | None = None,
    scope: str = "test",
    scope_version: str = "",
) -> bytes:
    """Encode spans as one OTLP export request."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(key_values(resource or {}))
    scoped = group.scope_spans.add()
    scoped.scope.name = scope
    scoped.scope.version = scope_version
    scoped.spans.extend(spans)
    return request.SerializeToString()


def logs_request(
    records: Iterable[ProtoLogRecord],
    *,
    resource: AttributeMap | None = None,
    scope: str = "test",
) -> bytes:
    """Encode log records as one OTLP export request."""
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(key_values(resource or {}))
    scoped = group.scope_logs.add()
    scoped.scope.name = scope
    scoped.log_records.extend(records)
    return request.SerializeToString()


def log_record(
    value: bytes,
    *,
    offset: int = 0,
    partition: int = 0,
    timestamp: int = START // 1_000_000,
    key: str | None = None,
    signal: Signal = Signal.TRACES,
) -> LogRecord:
    """Wrap an export request as the log would hand it out.

    Args:
        value: the request.
        offset: where it stands.
        partition: of the topic.
        timestamp: milliseconds since the epoch, as the log stamped it.
        key: trace id in hex.
        signal: traces or logs.
    """
    return LogRecord(
        signal=signal,
        partition=partition,
        offset=offset,
        timestamp=timestamp,
        key=None if key is None else key.encode(),
        value=value,
    )
