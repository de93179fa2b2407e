"""What lies in Kafka behind a Collector, and OTLP sent to it with a test's own bytes.

The Collector is judged by what others read: records decoded with the generated classes, not by the
product's code.
"""

import os
import time

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import Record, read_all
from tests.services.otelcol import Collector
from tests.services.plain_http import post
from tests.services.waiting import eventually

PARTITIONS = 4
TOPIC_LIMIT = 8_388_608
"""`max.message.bytes` of the topics behind a Collector; docs/services.md orders the sizes."""


class CollectedTopics:
    """A pair of topics as the product creates them."""

    def __init__(self, kafka: Kafka) -> None:
        limits: dict[str, str | int] = {"max.message.bytes": TOPIC_LIMIT}
        self.bootstrap = kafka.bootstrap
        self.traces = kafka.create_topic(partitions=PARTITIONS, configuration=limits)
        self.logs = kafka.create_topic(partitions=PARTITIONS, configuration=limits)

    def records(self, topic: str, trace_id: bytes) -> list[Record]:
        key = trace_id.hex().encode()
        return [record for record in read_all(self.bootstrap, topic) if record.key == key]

    def spans(self, trace_id: bytes, *, count: int = 1) -> list[Span]:
        """Return the spans of a trace once `count` of them arrived."""

        def arrived() -> list[Span] | None:
            spans = [
                span for record in self.records(self.traces, trace_id) for span in spans_in(record)
            ]
            return spans if len(spans) >= count else None

        return eventually(arrived, what=f"{count} spans of {trace_id.hex()} in Kafka")

    def log_records(self, trace_id: bytes, *, count: int = 1) -> list[LogRecord]:
        """Return the log records of a trace once `count` of them arrived."""

        def arrived() -> list[LogRecord] | None:
            logs = [log for record in self.records(self.logs, trace_id) for log in logs_in(record)]
            return logs if len(logs) >= count else None

        return eventually(arrived, what=f"{count} logs of {trace_id.hex()} in Kafka")


def spans_in(record: Record) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(record.value or b"")
    return [s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]


def logs_in(record: Record) -> list[LogRecord]:
    request = ExportLogsServiceRequest.FromString(record.value or b"")
    return [g for r in request.resource_logs for scope in r.scope_logs for g in scope.log_records]


def text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def make_span(trace_id: bytes, **attributes: str) -> Span:
    now = time.time_ns()
    return Span(
        trace_id=trace_id,
        span_id=os.urandom(8),
        name="span",
        start_time_unix_nano=now,
        end_time_unix_nano=now + 1_000_000,
        attributes=[text(key, value) for key, value in attributes.items()],
    )


def send_spans(collector: Collector, *spans: Span) -> None:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.extend(spans)
    send_request(collector, request)


def send_logs(collector: Collector, *logs: LogRecord) -> None:
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.extend(logs)
    post(
        f"{collector.http}/v1/logs",
        request.SerializeToString(),
        content_type="application/x-protobuf",
    )


def send_request(collector: Collector, request: ExportTraceServiceRequest) -> None:
    post(
        f"{collector.http}/v1/traces",
        request.SerializeToString(),
        content_type="application/x-protobuf",
    )


def attributes_of(span: Span) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}
