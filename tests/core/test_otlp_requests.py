import json

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from seekwatch.core.errors import UndecodableError
from seekwatch.core.otlp.requests import (
    encode_request,
    log_trace,
    protobuf_request,
    raw_items,
    single_trace_requests,
    span_head,
)
from seekwatch.core.records import Signal
from seekwatch.core.testing import TraceBuilder, log, logs_request, span, traces_request


def _run(seed: str) -> TraceBuilder:
    return TraceBuilder(seed=seed).agent("q").search("q").fetch("https://a.example/").answer("a")


def test_taking_apart_and_putting_together_is_lossless() -> None:
    value = _run("one").request()
    items = raw_items(value, Signal.TRACES)
    again = ExportTraceServiceRequest.FromString(encode_request(items))
    assert again == ExportTraceServiceRequest.FromString(value)
    assert all(item.size == len(item.raw) for item in items)


def test_groups_are_kept_apart() -> None:
    one = traces_request([span("a"), span("b")], resource={"service.name": "one"})
    two = traces_request([span("c")], resource={"service.name": "two"}, scope="other")
    items = [*raw_items(one, Signal.TRACES), *raw_items(two, Signal.TRACES)]
    request = ExportTraceServiceRequest.FromString(encode_request(items))
    assert [len(group.scope_spans[0].spans) for group in request.resource_spans] == [2, 1]


def test_a_record_of_several_traces_becomes_one_request_per_trace() -> None:
    one, two = _run("one"), _run("two")
    mixed = [item for pair in zip(one.items(), two.items(), strict=True) for item in pair]
    requests = dict(single_trace_requests(mixed, Signal.TRACES))
    assert set(requests) == {bytes.fromhex(one.trace), bytes.fromhex(two.trace)}
    assert raw_items(requests[bytes.fromhex(one.trace)], Signal.TRACES) == one.items()


def test_the_head_of_a_span_tells_ids_end_and_whether_it_closes_a_trace() -> None:
    def head(**options: object) -> tuple[bool, int]:
        raw = raw_items(
            traces_request([span("s", end=5, start=1, **options)]),  # type: ignore[arg-type]
            Signal.TRACES,
        )[0].raw
        found = span_head(raw)
        return found.is_root, found.end

    assert head() == (True, 5)
    assert head(parent="01" * 8) == (False, 5)
    assert head(parent="01" * 8, remote_parent=True) == (True, 5)


def test_json_and_protobuf_are_told_apart_and_give_the_same_items() -> None:
    value = _run("one").request()
    document = json_format.MessageToDict(
        ExportTraceServiceRequest.FromString(value), use_integers_for_enums=True
    )
    for group in document["resourceSpans"]:
        for scope in group["scopeSpans"]:
            for built in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in built:
                        built[key] = _hex(built[key])
    text = b"\n " + json.dumps(document).encode()
    assert raw_items(text, Signal.TRACES) == raw_items(value, Signal.TRACES)


def _hex(base64_text: str) -> str:
    import base64

    return base64.b64decode(base64_text).hex()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"\xff\xff\xff", "protobuf"),
        (b"{not json", "json"),
        (b'{"resourceSpans": 1}', "json"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "xyz"}]}]}]}', "json"),
        (b"{" * 100_000, "json"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "json"),
    ],
)
def test_what_is_no_request_says_why(value: bytes, reason: str) -> None:
    with pytest.raises(UndecodableError) as raised:
        raw_items(value, Signal.TRACES)
    assert raised.value.reason == reason


def test_a_span_without_ids_is_refused_alone() -> None:
    with pytest.raises(UndecodableError) as raised:
        span_head(b"")
    assert raised.value.reason == "span-id"
    with pytest.raises(UndecodableError) as raised:
        span_head(b"\xff")
    assert raised.value.reason == "span"


def test_logs_are_grouped_by_trace_and_those_without_come_together() -> None:
    records = [log("a", trace="01" * 16), log("b"), log("c")]
    items = raw_items(logs_request(records), Signal.LOGS)
    assert log_trace(items[1].raw) == b""
    requests = dict(single_trace_requests(items, Signal.LOGS))
    assert {trace: len(raw_items(value, Signal.LOGS)) for trace, value in requests.items()} == {
        b"\x01" * 16: 1,
        b"": 2,
    }


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_undecodable(value: bytes) -> None:
    for signal in Signal:
        try:
            for item in raw_items(value, signal):
                span_head(item.raw) if signal is Signal.TRACES else log_trace(item.raw)
            protobuf_request(value, signal)
        except UndecodableError:
            continue
