"""Streams taken apart: event streams by the WHATWG's rules, lines, arrays, AWS frames, cut ones."""

import json

import pytest

from seekwatch.sdk._http.bodies import HOLD_BYTES, TAIL_BYTES, Capture, tail
from seekwatch.sdk._llm.exchange import read_call
from seekwatch.sdk._llm.streams import events, is_stream, sse_events
from tests.services import model_wires as wires
from tests.services.model_wires import exchange

AWS = "application/vnd.amazon.eventstream"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('data: {"a":1}\n\n', [("", {"a": 1})]),
        ('data:{"a":1}\n\n', [("", {"a": 1})]),
        ('data: {"a":\ndata: 1}\n\n', [("", {"a": 1})]),
        ('event: x\r\ndata: {"a":1}\r\n\r\n', [("x", {"a": 1})]),
        ('event: x\rdata: {"a":1}\r\r', [("x", {"a": 1})]),
        (': a comment\n\nid: 7\nretry: 3\ndata: {"a":1}\n\n', [("", {"a": 1})]),
        ('\ufeffdata: {"a":1}\n\n', [("", {"a": 1})]),
        ('event: x\n\ndata: {"a":1}\n\n', [("", {"a": 1})]),
        ('data: {"a":1}', [("", {"a": 1})]),
        ('data: {"a":1}\n\ndata: {"b"', [("", {"a": 1})]),
        ("data: [DONE]\n\n", []),
        ("data: ping\n\ndata\n\nnothing: here\n\n", []),
        ('data: {"a":"x\u2028y"}\n\n', [("", {"a": "x\u2028y"})]),
    ],
)
def test_an_event_stream_is_read_by_the_rules(text: str, found: list[tuple[str, object]]) -> None:
    assert [(event.name, event.data) for event in sse_events(text)] == found


def test_a_stream_is_told_by_its_type_or_by_its_first_bytes() -> None:
    assert is_stream("text/event-stream; charset=utf-8", b"")
    assert is_stream("", b"\ndata: {}")
    assert is_stream("application/json", b"event: message_start\n")
    assert not is_stream("application/json", b'{"data": 1}')


def test_frames_up_to_the_first_damaged_one_are_read() -> None:
    one, two = (wires.aws_frame("e", {"n": number}) for number in (1, 2))
    assert [event.data["n"] for event in events(AWS, one + two)] == [1, 2]
    assert [event.data["n"] for event in events(AWS, one + two[:-1])] == [1]
    damaged = two[:-6] + b"x" + two[-5:]
    assert [event.data["n"] for event in events(AWS, one + damaged + one)] == [1]
    assert events(AWS, b"\0" * 64) == []
    assert events(AWS, b"\xff" * 64) == []


def test_an_array_that_was_cut_still_has_its_whole_elements() -> None:
    assert [event.data for event in events("application/json", b'[{"a":1},\n{"b":2},{"c"')] == [
        {"a": 1},
        {"b": 2},
    ]


def test_the_first_and_the_last_of_a_long_body_are_held() -> None:
    capture = Capture()
    chunk = b"x" * 1000
    for number in range(HOLD_BYTES // 1000 + 1000):
        capture.add(b"%09d" % number + chunk)
    held = sum(map(len, capture.chunks)) + sum(map(len, capture.last or ()))
    assert held <= HOLD_BYTES + TAIL_BYTES + 2 * len(chunk)
    last = tail(capture, "")
    assert len(last) == TAIL_BYTES
    assert last.endswith(chunk)
    assert tail(capture, "gzip") == b"", "the end of what is compressed says nothing by itself"


def test_a_stream_with_a_gap_tells_its_beginning_and_what_it_used() -> None:
    """As it is held of an answer of many megabytes: the first two, and the last of it."""
    for path, stream, asked in (
        ("/v1/chat/completions", wires.CHAT_STREAM, wires.CHAT_ASKED),
        ("/v1/messages", wires.ANTHROPIC_STREAM, wires.ANTHROPIC_ASKED),
    ):
        third = len(stream) // 3
        found = read_call(exchange(path, asked, stream[:third], tail=stream[-third:], whole=False))
        assert found["gen_ai.usage.output_tokens"] == 40, path
        assert found["gen_ai.response.finish_reasons"][0].startswith("tool"), path
        assert found["seekwatch.llm.unread_reason"] == "cut", path


def test_usage_is_found_at_the_end_of_an_event_that_is_not_whole() -> None:
    events_of = wires.responses_events()
    last = json.dumps({**events_of[-1], "padding": None}).encode()
    stream = wires.sse(events_of[:6], named=True)
    found = read_call(
        exchange("/v1/responses", wires.RESPONSES_ASKED, stream, tail=last[-400:], whole=False)
    )
    assert found["gen_ai.usage.input_tokens"] == 100
    assert found["seekwatch.llm.unread_reason"] == "cut"


def test_a_stream_that_was_closed_at_its_last_event_is_no_cut_one() -> None:
    found = read_call(
        exchange("/v1/chat/completions", wires.CHAT_ASKED, wires.CHAT_STREAM, whole=False)
    )
    assert "seekwatch.llm.unread_reason" not in found
