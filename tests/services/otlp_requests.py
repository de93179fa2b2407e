"""OTLP requests as senders make them: built with the generated classes, not with our own code."""

from collections.abc import Iterable
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span


def trace_id(number: int) -> bytes:
    """Return the trace id of a test's n-th trace."""
    return (number + 1).to_bytes(16, "big")


def attribute(key: str, value: Any) -> KeyValue:
    """Return an attribute of a string, a number or a truth value."""
    if isinstance(value, bool):
        return KeyValue(key=key, value=AnyValue(bool_value=value))
    if isinstance(value, int):
        return KeyValue(key=key, value=AnyValue(int_value=value))
    return KeyValue(key=key, value=AnyValue(string_value=str(value)))


def span(
    trace: int = 0, number: int = 0, *, name: str = "span", attributes: dict[str, Any] | None = None
) -> Span:
    """Return a span; number 0 is its trace's root."""
    return Span(
        trace_id=trace_id(trace),
        span_id=(number + 1).to_bytes(8, "big"),
        parent_span_id=b"" if number == 0 else (1).to_bytes(8, "big"),
        name=name,
        start_time_unix_nano=1_700_000_000_000_000_000,
        end_time_unix_nano=1_700_000_001_000_000_000,
        attributes=[attribute(key, value) for key, value in (attributes or {}).items()],
    )


def trace_request(
    spans: Iterable[Span], resource: dict[str, Any] | None = None
) -> ExportTraceServiceRequest:
    """Return an export request of one resource and scope."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(
        attribute(key, value) for key, value in (resource or {"service.name": "test"}).items()
    )
    scope = group.scope_spans.add()
    scope.scope.name = "test-scope"
    scope.spans.extend(spans)
    return request


def log_request(records: Iterable[LogRecord]) -> ExportLogsServiceRequest:
    """Return an export request of one resource and scope."""
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.extend(records)
    return request
