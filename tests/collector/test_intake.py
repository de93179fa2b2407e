"""What a request becomes: records of one trace each, and a count of what is invalid."""

from collections.abc import Sequence

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from seekwatch.collector.intake import Intake
from seekwatch.core.errors import UndecodableError
from seekwatch.core.records import NewRecord, Signal
from tests.services.otlp_requests import log_request, span, trace_id, trace_request


class Kept:
    """An appender that keeps what it is given."""

    def __init__(self) -> None:
        self.calls: list[Sequence[NewRecord]] = []

    @property
    def records(self) -> list[NewRecord]:
        return [record for call in self.calls for record in call]

    def append(self, records: Sequence[NewRecord]) -> None:
        self.calls.append(records)

    def close(self) -> None:
        pass


def spans_of(record: NewRecord) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(record.value)
    return [
        span
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def test_each_record_holds_the_spans_of_one_trace_under_its_key() -> None:
    kept = Kept()
    spans = [span(trace, number) for number in range(3) for trace in range(4)]
    receipt = Intake(kept).store(trace_request(spans).SerializeToString(), Signal.TRACES)
    assert receipt.accepted == 12
    assert len(kept.calls) == 1
    assert sorted(record.key or b"" for record in kept.records) == [
        trace_id(trace).hex().encode() for trace in range(4)
    ]
    for record in kept.records:
        assert [item.trace_id.hex().encode() for item in spans_of(record)] == [record.key] * 3


def test_an_invalid_span_is_rejected_and_its_neighbours_are_stored() -> None:
    kept = Kept()
    spans = [span(0), Span(trace_id=b"short", span_id=b"x"), span(1), Span(name="no ids at all")]
    receipt = Intake(kept).store(trace_request(spans).SerializeToString(), Signal.TRACES)
    assert (receipt.accepted, receipt.rejected) == (2, 2)
    assert "trace id" in receipt.message
    assert len(kept.records) == 2


def test_ids_of_zeros_are_invalid() -> None:
    kept = Kept()
    zeros = [
        Span(trace_id=bytes(16), span_id=b"12345678"),
        Span(trace_id=trace_id(1), span_id=bytes(8)),
    ]
    receipt = Intake(kept).store(trace_request(zeros).SerializeToString(), Signal.TRACES)
    assert (receipt.accepted, receipt.rejected) == (0, 2)
    assert kept.calls == []


def test_a_fat_trace_becomes_several_records_and_a_span_too_fat_is_rejected() -> None:
    kept = Kept()
    spans = [span(0, number, attributes={"page": "x" * 400}) for number in range(6)]
    spans.append(span(0, 9, attributes={"page": "x" * 2000}))
    intake = Intake(kept, max_record_bytes=1200)
    receipt = intake.store(trace_request(spans).SerializeToString(), Signal.TRACES)
    assert (receipt.accepted, receipt.rejected) == (6, 1)
    assert "1200" in receipt.message
    assert len(kept.records) > 1
    assert all(len(record.value) <= 1200 for record in kept.records)
    assert {record.key for record in kept.records} == {trace_id(0).hex().encode()}
    assert sum(len(spans_of(record)) for record in kept.records) == 6


def test_logs_go_with_their_trace_and_those_of_none_are_ignored() -> None:
    kept = Kept()
    records = [LogRecord(trace_id=trace_id(5)), LogRecord(), LogRecord(trace_id=bytes(16))]
    receipt = Intake(kept).store(log_request(records).SerializeToString(), Signal.LOGS)
    assert (receipt.accepted, receipt.ignored, receipt.rejected) == (1, 2, 0)
    assert [(record.signal, record.key) for record in kept.records] == [
        (Signal.LOGS, trace_id(5).hex().encode())
    ]


def test_secrets_of_span_resource_and_scope_are_masked_before_the_append() -> None:
    kept = Kept()
    canary = "sk-" + "canary0" * 5
    request = trace_request([span(attributes={"k": canary})], {"service.name": canary})
    request.resource_spans[0].scope_spans[0].scope.name = canary
    Intake(kept).store(request.SerializeToString(), Signal.TRACES)
    assert canary.encode() not in kept.records[0].value
    assert kept.records[0].value.count(b"****") == 3


def test_an_empty_request_stores_nothing() -> None:
    kept = Kept()
    assert Intake(kept).store(b"", Signal.TRACES).accepted == 0
    assert kept.calls == []


def test_garbage_is_undecodable() -> None:
    with pytest.raises(UndecodableError):
        Intake(Kept()).store(b"\xff" * 20, Signal.TRACES)
