"""Nothing that a server or an agent can send makes the reading of a model call fail."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seekwatch.sdk._llm.exchange import read_call
from seekwatch.sdk._llm.gateways import gateway_attributes
from seekwatch.sdk._llm.streams import events
from seekwatch.sdk._shapes import is_list, is_mapping
from tests.services import model_wires as wires
from tests.services.model_wires import exchange

PATHS = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1beta/models/m:generateContent",
    "/v1beta/models/m:streamGenerateContent",
    "/v2/chat",
    "/model/a.b/converse",
    "/model/a.b/invoke",
    "/model/a.b/converse-stream",
    "/v1/conversations",
    "/api/chat",
    "/no/such/path",
)
AWS = "application/vnd.amazon.eventstream"
WHOLE = (
    (wires.CHAT_ASKED, wires.CHAT),
    (wires.RESPONSES_ASKED, wires.RESPONSES),
    (wires.ANTHROPIC_ASKED, wires.ANTHROPIC),
    (wires.GEMINI_ASKED, wires.GEMINI),
    (wires.COHERE_ASKED, wires.COHERE),
    (wires.COHERE_1_ASKED, wires.COHERE_1),
    (wires.CONVERSE_ASKED, wires.CONVERSE),
    (wires.CHAT_ASKED, wires.OLLAMA),
    ({"inputs": "x"}, wires.MISTRAL),
)
STREAMS: tuple[list[dict[str, Any]], ...] = (
    [*wires.CHAT_CHUNKS, wires.CHAT_LAST],
    wires.responses_events(),
    wires.anthropic_events(),
    wires.GEMINI_EVENTS,
    *(
        [{event.name: dict(event.data)} if kind == AWS else dict(event.data) for event in found]
        for kind, found in (
            (kind, events(kind, data))
            for kind, data in (
                ("text/event-stream", wires.COHERE_STREAM),
                ("text/event-stream", wires.MISTRAL_STREAM),
                ("application/x-ndjson", wires.COHERE_1_STREAM),
                ("application/x-ndjson", wires.OLLAMA_STREAM),
                (AWS, wires.CONVERSE_STREAM),
            )
        )
    ),
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**30), 2**53, 1e308])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["text", "\ud800", "web_search", "message", "function_call", "tool_use"])
)


def a_field(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the paths of all values inside a value."""
    inner: list[tuple[str | int, Any]] = []
    if is_mapping(value):
        inner = list(value.items())
    elif is_list(value):
        inner = list(enumerate(value))
    return [path, *(found for key, item in inner for found in a_field(item, (*path, key)))]


def with_field(value: Any, path: tuple[str | int, ...], new: object) -> Any:
    """Return a value with something else in one place."""
    if not path:
        return new
    inner: Any = value
    copy: Any = dict(inner) if is_mapping(inner) else list(inner)
    copy[path[0]] = with_field(copy[path[0]], path[1:], new)
    return copy


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """Draw a value with up to three fields of another type than documented."""
    values = st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=4,
    )
    for _ in range(draw(st.integers(1, 3))):
        value = with_field(value, draw(st.sampled_from(a_field(value))), draw(values))
    return value


def assert_sound(found: dict[str, Any]) -> None:
    assert found.get("seekwatch.llm.unread_reason") != "failed"
    value: Any
    for key, value in found.items():
        assert is_list(value) or isinstance(value, str | bool | int | float), key
        if isinstance(value, str):
            value.encode()
        elif isinstance(value, float):
            assert math.isfinite(value)
        elif is_list(value):
            assert all(isinstance(item, str) for item in value)
        if "usage" in key:
            assert isinstance(value, int)
            assert value >= 0
        if key.endswith("messages"):
            json.loads(str(value), parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


@settings(max_examples=400)
@given(st.data())
def test_fields_of_wrong_types_never_raise(data: st.DataObject) -> None:
    asked, told = data.draw(st.sampled_from(WHOLE))
    path = data.draw(st.sampled_from(PATHS))
    found = read_call(exchange(path, data.draw(spoiled(asked)), data.draw(spoiled(told))))
    assert_sound(found)


@settings(max_examples=300)
@given(st.data())
def test_events_of_wrong_types_never_raise(data: st.DataObject) -> None:
    stream = data.draw(spoiled(data.draw(st.sampled_from(STREAMS))))
    chunks: list[Any] = list(stream) if is_list(stream) else [stream]
    path = data.draw(st.sampled_from(PATHS))
    wire = data.draw(
        st.sampled_from(
            [
                (wires.sse(chunks), "text/event-stream"),
                (json.dumps(chunks).encode(), "application/json"),
                ("\n".join(map(json.dumps, chunks)).encode(), "application/x-ndjson"),
                (wires.aws_chunks(chunks), "application/vnd.amazon.eventstream"),
                (
                    b"".join(wires.aws_frame("contentBlockDelta", chunk) for chunk in chunks),
                    "application/vnd.amazon.eventstream",
                ),
            ]
        )
    )
    assert_sound(read_call(exchange(path, {}, wire[0], content_type=wire[1])))


@settings(max_examples=300)
@given(st.data())
def test_a_stream_that_is_cut_or_damaged_anywhere_never_raises(data: st.DataObject) -> None:
    streams = (
        wires.CHAT_STREAM,
        wires.ANTHROPIC_STREAM,
        wires.GEMINI_ARRAY,
        wires.COHERE_1_STREAM,
        wires.CONVERSE_STREAM,
    )
    whole = data.draw(st.sampled_from(streams))
    end = data.draw(st.integers(0, len(whole)))
    start = data.draw(st.integers(0, len(whole)))
    noise = data.draw(st.binary(max_size=4))
    kind = data.draw(
        st.sampled_from(
            ["text/event-stream", "application/json", "application/vnd.amazon.eventstream", "", "?"]
        )
    )
    found = read_call(
        exchange(
            data.draw(st.sampled_from(PATHS)),
            data.draw(st.binary(max_size=64)),
            whole[:end] + noise,
            tail=whole[start:],
            whole=False,
            content_type=kind,
        )
    )
    assert_sound(found)


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_events_or_none(data: bytes) -> None:
    for kind in ("text/event-stream", "application/vnd.amazon.eventstream", "application/json"):
        events(kind, data, data)


@given(
    st.dictionaries(
        st.sampled_from(["x-prism-cost", "x-prism-latency-ms", "cf-aig-step", "x-kong-llm-model"]),
        st.text(max_size=30),
    )
)
def test_headers_of_any_kind_never_raise(headers: dict[str, str]) -> None:
    assert_sound(gateway_attributes(headers))


@pytest.mark.parametrize("depth", [200, 900, 990, 100_000])
@pytest.mark.parametrize("path", PATHS)
def test_deep_nesting_never_raises(path: str, depth: int) -> None:
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    told = b'{"choices":[{"message":{"tool_calls":[{"function":{"arguments":%b}}]}}],' % deep
    told += b'"output":[{"type":"message","content":%b}],"content":[%b]}' % (deep, deep)
    assert_sound(read_call(exchange(path, deep, told, content_type="application/json")))
