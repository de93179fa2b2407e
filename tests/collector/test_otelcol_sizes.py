"""What fits through the production Collector configuration whole, and how the rest is cut."""

import base64
import json
import os
import re
import secrets
import zlib

import yaml
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from seekwatch.collector.kafka_topics import DEFAULTS
from seekwatch.core.records import Signal
from tests.services.collected import (
    TOPIC_LIMIT,
    CollectedTopics,
    attributes_of,
    make_span,
    send_logs,
    send_spans,
    text,
)
from tests.services.otelcol import (
    CONFIGURATION,
    Collector,
)

# Carriers, texts, other attributes, events, resource: the sum that the file's comment makes.
SPAN_LIMIT = 4 * 524_288 + 4 * 131_072 + 2_621_440 + 1_048_576 + 128 * 2_048
PAGE_BYTES = 262_144


def test_its_sizes_are_in_order() -> None:
    kafka = yaml.safe_load(CONFIGURATION.read_text())["exporters"]["kafka"]
    batch = _default(kafka["sending_queue"]["batch"]["max_size"])
    message = _default(kafka["producer"]["max_message_bytes"])
    topics = {DEFAULTS[signal].max_message_bytes for signal in Signal}
    assert topics == {TOPIC_LIMIT}
    assert SPAN_LIMIT < batch < message <= TOPIC_LIMIT


def _default(value: str) -> int:
    found = re.fullmatch(r"\$\{env:\w+:-(\d+)\}", value)
    assert found is not None
    return int(found.group(1))


def test_a_page_and_the_documents_on_a_span_of_forty_attributes_arrive_whole(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    # Random bytes do not compress: the largest body that the SDK can make.
    page = os.urandom(PAGE_BYTES)
    whole = {
        "seekwatch.content.body": base64.b64encode(zlib.compress(page)).decode(),
        "gen_ai.retrieval.documents": json.dumps([{"content": "x" * 1000}] * 300),
        "gen_ai.input.messages": json.dumps([{"role": "user", "content": "y" * 300_000}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": "z" * 300_000}]),
    }
    others = {f"attribute.{number}": "value" for number in range(40 - len(whole))}
    trace_id = os.urandom(16)
    send_spans(otelcol, make_span(trace_id, **whole, **others))
    (span,) = otelcol_topics.spans(trace_id)
    assert attributes_of(span) == whole | others
    assert zlib.decompress(base64.b64decode(attributes_of(span)["seekwatch.content.body"])) == page


def test_what_looks_like_a_token_inside_a_compressed_page_stays(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    body = "eJx" + "AIza" + "B" * 40
    trace_id = os.urandom(16)
    send_spans(otelcol, make_span(trace_id, **{"seekwatch.content.body": body, "other": body}))
    (span,) = otelcol_topics.spans(trace_id)
    assert attributes_of(span)["seekwatch.content.body"] == body
    assert attributes_of(span)["other"] == "eJx****BBBBB"


def test_a_span_of_any_size_is_cut_and_takes_no_neighbour_along(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    trace_id = os.urandom(16)
    fat = make_span(trace_id, **{"input.value": "i" * 9_000_000})
    wide = make_span(trace_id, **{f"k{number}": secrets.token_hex(30_000) for number in range(300)})
    eventful = make_span(trace_id)
    for _ in range(128):
        event = eventful.events.add(name="e" * 1000)
        event.attributes.extend(text(f"k{n}", secrets.token_hex(2_500)) for n in range(16))
    every = make_span(
        trace_id,
        **{
            "seekwatch.content.body": "b" * 600_000,
            "gen_ai.retrieval.documents": "d" * 600_000,
            "gen_ai.input.messages": "i" * 600_000,
            "gen_ai.output.messages": "o" * 600_000,
            "input.value": "i" * 200_000,
            "output.value": "o" * 200_000,
        },
        **{f"k{number}": secrets.token_hex(50_000) for number in range(34)},
    )
    nested = make_span(trace_id)
    chunk = AnyValue(string_value=secrets.token_hex(45_000))
    nested.attributes.add(key="list").value.array_value.values.extend([chunk] * 100)
    nested.attributes.add(key="bytes").value.bytes_value = os.urandom(9_000_000)
    nested.events.add().attributes.add(key="list").value.array_value.values.extend([chunk] * 100)
    named = make_span(trace_id, **{"k" * 9_000_000: "value", "openinference.span.kind": "TOOL"})
    small = [make_span(trace_id) for _ in range(5)]
    send_spans(otelcol, *small[:2], fat, wide, eventful, every, small[2])
    send_spans(otelcol, small[3], nested, named, small[4])
    spans = {span.span_id: span for span in otelcol_topics.spans(trace_id, count=11)}
    assert len(spans) == 11
    assert len(attributes_of(spans[fat.span_id])["input.value"]) == 131_072
    assert len(spans[wide.span_id].attributes) == 300
    assert len(spans[eventful.span_id].events) == 128
    assert all(event.attributes for event in spans[eventful.span_id].events)
    assert attributes_of(spans[nested.span_id]).keys() == {"list", "bytes"}
    assert spans[nested.span_id].events[0].attributes[0].value.string_value.startswith('["')
    assert attributes_of(spans[named.span_id]) == {"openinference.span.kind": "TOOL"}
    assert max(span.ByteSize() for span in spans.values()) < SPAN_LIMIT


def test_a_wide_span_of_a_fair_size_is_not_cut(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    whole = {f"llm.input_messages.{n}.message.content": "word " * 800 for n in range(500)}
    whole["llm.input_messages.500.message.content"] = "word " * 12_000
    trace_id = os.urandom(16)
    span = make_span(trace_id, **whole)
    span.events.add(name="exception", attributes=[text("exception.stacktrace", "line\n" * 8_000)])
    send_spans(otelcol, span)
    (arrived,) = otelcol_topics.spans(trace_id)
    assert attributes_of(arrived) == whole
    assert arrived.events == span.events


def test_a_cut_never_splits_a_character(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    trace_id = os.urandom(16)
    long = "x" + "漢" * 300_000
    span = make_span(trace_id, **{"output.value": long, "gen_ai.output.messages": long})
    span.name = long
    send_spans(otelcol, span)
    send_logs(otelcol, LogRecord(trace_id=trace_id, body=AnyValue(string_value=long)))
    # Protobuf refuses a string that is not UTF-8, so that they decode is the proof.
    (arrived,) = otelcol_topics.spans(trace_id)
    (log,) = otelcol_topics.log_records(trace_id)
    for cut in (*attributes_of(arrived).values(), arrived.name, log.body.string_value):
        assert cut
        assert long.startswith(cut)
