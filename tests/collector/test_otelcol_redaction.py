"""No secret passes the production Collector configuration into Kafka."""

import json
import os

import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    KeyValue,
    KeyValueList,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from seekwatch.core.redaction import SECRET_KEY, TOKEN_PATTERNS
from tests.services.collected import (
    CollectedTopics,
    attributes_of,
    make_span,
    send_logs,
    send_request,
    send_spans,
    text,
)
from tests.services.otelcol import (
    CONFIGURATION,
    Collector,
)

SECRET = "sk-" + "A1b2C3d4" * 4


def test_its_redaction_knows_every_token_shape_and_key_of_the_product() -> None:
    redaction = yaml.safe_load(CONFIGURATION.read_text())["processors"]["redaction"]
    assert redaction["blocked_values"] == list(TOKEN_PATTERNS)
    names = SECRET_KEY.pattern.removeprefix("(?i)")
    # In the file `$$` is a dollar, since `$` begins a variable.
    assert redaction["blocked_key_patterns"] == [f"(?i)^{names}$$"]


def everywhere() -> list[KeyValue]:
    """The secret in every form of attribute that can be masked."""
    nested = KeyValueList(values=[text("inner", SECRET)])
    return [
        text("plain", f"before {SECRET} after"),
        text("json", json.dumps({"key": SECRET})),
        text("db.password", "a plain value"),
        text("http.request.header.authorization", "a plain value"),
        KeyValue(
            key="list",
            value=AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=SECRET)])),
        ),
        KeyValue(key="map", value=AnyValue(kvlist_value=nested)),
    ]


def test_secrets_are_masked_wherever_a_span_has_text(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    trace_id = os.urandom(16)
    span = make_span(trace_id)
    span.name = f"call {SECRET}"
    span.trace_state = f"vendor={SECRET}"
    span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=f"refused {SECRET}"))
    span.attributes.extend(everywhere())
    span.attributes.append(text("llm.token_count.prompt", "12"))
    span.events.add(name=f"event {SECRET}", attributes=everywhere())
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.extend(everywhere())
    resource.scope_spans.add(spans=[span]).scope.attributes.extend(everywhere())
    send_request(otelcol, request)

    (arrived,) = otelcol_topics.spans(trace_id)
    (record,) = otelcol_topics.records(otelcol_topics.traces, trace_id)
    assert SECRET.encode() not in (record.value or b"")
    assert b"a plain value" not in (record.value or b"")
    assert arrived.name == "call ****"
    assert arrived.status.message == "refused ****"
    assert arrived.trace_state == "vendor=****"
    assert arrived.events[0].name == "event ****"
    assert attributes_of(arrived)["plain"] == "before **** after"
    assert attributes_of(arrived)["db.password"] == "****"
    assert attributes_of(arrived)["llm.token_count.prompt"] == "12"
    assert not [key for key in attributes_of(arrived) if key.startswith("otelcol.lent")]


def test_secrets_are_masked_in_log_records(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    trace_id = os.urandom(16)
    body = AnyValue(kvlist_value=KeyValueList(values=everywhere()))
    send_logs(
        otelcol,
        LogRecord(
            trace_id=trace_id,
            body=AnyValue(string_value=f"sent {SECRET}"),
            attributes=everywhere(),
            event_name=f"event {SECRET}",
        ),
        LogRecord(trace_id=trace_id, body=body),
    )
    logs = otelcol_topics.log_records(trace_id, count=2)
    for record in otelcol_topics.records(otelcol_topics.logs, trace_id):
        assert SECRET.encode() not in (record.value or b"")
        assert b"a plain value" not in (record.value or b"")
    assert {log.body.string_value for log in logs} == {"sent ****", ""}
    assert {log.event_name for log in logs} == {"event ****", ""}


def test_secrets_are_masked_in_urls(otelcol: Collector, otelcol_topics: CollectedTopics) -> None:
    trace_id = os.urandom(16)
    send_spans(
        otelcol,
        make_span(
            trace_id,
            **{
                "url.full": "https://me:word@search.example/v1?q=a+key&api_key=abc&Token=x&n=1#y",
                "http.url": "https://search.example/v1?q=1&client_secret=abc",
                "url.query": "key=abc&q=cookies&x-goog-signature=f00",
                "http.target": "/v1?session=abc&monkey=1",
            },
        ),
    )
    (span,) = otelcol_topics.spans(trace_id)
    assert attributes_of(span) == {
        "url.full": "https://search.example/v1?q=a+key&api_key=****&Token=****&n=1#y",
        "http.url": "https://search.example/v1?q=1&client_secret=****",
        "url.query": "key=****&q=cookies&x-goog-signature=****",
        "http.target": "/v1?session=****&monkey=1",
    }
