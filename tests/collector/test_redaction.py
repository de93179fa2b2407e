"""Secrets planted anywhere in a span, log record, resource or scope are gone before the append."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    InstrumentationScope,
    KeyValue,
    KeyValueList,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from seekwatch.collector.redaction import SpanRedaction
from seekwatch.core.redaction import MASK, Redactor
from tests.services.otlp_requests import attribute, span

CANARY = "sk-" + "canary0" * 5
REDACTION = SpanRedaction()


def text(value: str) -> AnyValue:
    return AnyValue(string_value=value)


def everywhere() -> dict[str, Span]:
    """Return one span for each place in which OTLP has text."""
    nested = KeyValue(key="inner", value=text(CANARY))
    return {
        "name": Span(name=f"call {CANARY}"),
        "trace state": Span(trace_state=f"v={CANARY}"),
        "attribute": Span(attributes=[attribute("input.value", f"use {CANARY} now")]),
        "attribute key": Span(attributes=[attribute(CANARY, "x")]),
        "array": Span(
            attributes=[
                KeyValue(key="k", value=AnyValue(array_value=ArrayValue(values=[text(CANARY)])))
            ]
        ),
        "map": Span(
            attributes=[
                KeyValue(key="k", value=AnyValue(kvlist_value=KeyValueList(values=[nested])))
            ]
        ),
        "bytes": Span(attributes=[KeyValue(key="k", value=AnyValue(bytes_value=CANARY.encode()))]),
        "event name": Span(events=[Span.Event(name=CANARY)]),
        "event attribute": Span(events=[Span.Event(name="e", attributes=[attribute("k", CANARY)])]),
        "link": Span(links=[Span.Link(attributes=[attribute("k", CANARY)], trace_state=CANARY)]),
        "status": Span(
            status=Status(message=f"failed with {CANARY}", code=Status.STATUS_CODE_ERROR)
        ),
    }


@pytest.mark.parametrize("place", everywhere())
def test_a_token_is_masked_wherever_a_span_has_text(place: str) -> None:
    planted = everywhere()[place]
    planted.span_id = bytes(7) + b"\x01"
    masked = Span.FromString(REDACTION.span(planted.SerializeToString()))
    assert CANARY not in str(masked)
    assert MASK in str(masked)
    assert masked.span_id == planted.span_id


def test_log_bodies_resources_and_scopes_are_masked() -> None:
    record = LogRecord(body=text(CANARY), event_name=CANARY, attributes=[attribute("k", CANARY)])
    masked = LogRecord.FromString(REDACTION.log_record(record.SerializeToString()))
    assert CANARY not in str(masked)
    resource = Resource(attributes=[attribute("process.command_line", f"agent --key {CANARY}")])
    assert CANARY.encode() not in REDACTION.resource(resource.SerializeToString())
    scope = InstrumentationScope(name="s", attributes=[attribute("k", CANARY)])
    assert CANARY.encode() not in REDACTION.scope(scope.SerializeToString())


@pytest.mark.parametrize("value", ["hunter2", 42, True])
@pytest.mark.parametrize("key", ["http.request.header.authorization", "db.password", "API_KEY"])
def test_what_stands_under_a_telling_key_is_masked_whole(key: str, value: Any) -> None:
    masked = Span.FromString(
        REDACTION.span(span(attributes={key: value, "kept": value}).SerializeToString())
    )
    values = {item.key: item.value for item in masked.attributes}
    assert values[key].string_value == MASK
    assert values["kept"] == attribute("kept", value).value


def test_secrets_inside_urls_are_masked_and_the_rest_of_the_url_stays() -> None:
    url = "https://me:hunter2@example.com/a?q=cats&api_key=hunter2&page=2"
    masked = Span.FromString(REDACTION.span(span(attributes={"u": url}).SerializeToString()))
    assert masked.attributes[0].value.string_value == (
        f"https://example.com/a?q=cats&api_key={MASK}&page=2"
    )


def test_a_clean_span_is_the_very_same_bytes() -> None:
    raw = span(attributes={"u": "https://example.com/a?q=cats#top", "n": 1}).SerializeToString()
    assert REDACTION.span(raw) is raw


def test_fields_that_redaction_does_not_know_are_kept() -> None:
    planted = span(attributes={"k": CANARY})
    planted.kind = Span.SPAN_KIND_CLIENT
    planted.flags = 0x301
    planted.dropped_events_count = 7
    masked = Span.FromString(REDACTION.span(planted.SerializeToString()))
    planted.attributes[0].value.string_value = MASK
    assert masked == planted


def test_text_that_is_not_utf8_neither_stops_the_masking_nor_is_changed() -> None:
    raw = span(attributes={"bad": "??", "k": CANARY}).SerializeToString()
    masked = REDACTION.span(raw.replace(b"??", b"\xff\xfe"))
    assert b"\xff\xfe" in masked
    assert CANARY.encode() not in masked


def test_own_patterns_may_be_anchored() -> None:
    own = SpanRedaction([r"^ticket-\d+$"])
    raw = span(attributes={"a": "ticket-12", "b": "see ticket-12"}).SerializeToString()
    masked = Span.FromString(own.span(raw))
    assert [item.value.string_value for item in masked.attributes] == [MASK, "see ticket-12"]


def test_an_own_pattern_that_does_not_compile_is_named() -> None:
    with pytest.raises(ValueError, match=r"\(unclosed"):
        SpanRedaction(["(unclosed"])


FRAGMENTS = st.sampled_from(
    [
        CANARY,
        "tvly-abcdefghijklmnopqrst",
        "AKIAABCDEFGHIJKLMNOP",
        "Bearer abcdefghijklmnopqrst",
        "Bearer\u00a0abcdefghijklmnopqrst",
        "https://",
        "http://[",
        "user:pw@",
        "exämple.com",
        "/path",
        "?token=abc",
        "&Signature=x",
        "#session=1",
        '{"password" : "x"}',
        '"apiKey":"v"',
        "code=3",
        "\nCookie: a=b",
        "authorization:x",
        "\nX-Subscription-Token: x",
        "\\nX-Api-Key: x",
        "'authorization: x'",
        '{\\"api_key\\": \\"x\\"}',
        "{'set-cookie': 'x'}",
        '["x-api-key", "x"]',
        '"name": "Cookie", "value": "x"',
        '"token": "abcdefghijklmnopqrst"',
        "client_secret = x",
        "?api%5Fkey=x",
        "?%6Bey=x",
        "?next=https%3A%2F%2Fa%2F%3Ftoken%3Dx",
        "?next=https%253A%252F%252Fu%253Ax%2540a",
        "postgres://u:x@h",
        "&amp;api_key=x",
        " ",
        "à",
        "plain",
    ]
)
STRINGS = st.lists(FRAGMENTS | st.text(max_size=4), max_size=6).map("".join)
KEYS = (
    st.sampled_from(["k", "auth_token", "http.header.Cookie", "x-amz-signature", "Pwd"]) | STRINGS
)


@given(key=KEYS, value=STRINGS)
@example(key="k", value="http://à:b@c")
@example(key="k", value="?%6Bey=x")
@example(key="k", value="?access_%74%6Fken=x")
@example(key="k", value="?%2561pi_key=x")
def test_nothing_that_the_redactor_would_mask_passes_the_quick_search(key: str, value: str) -> None:
    raw = span(name=value, attributes={key: value}).SerializeToString()
    redactor = Redactor()
    must_change = redactor.attribute(key, value) != value or redactor.text(key) != key
    assert REDACTION.is_suspect(raw) or not must_change
