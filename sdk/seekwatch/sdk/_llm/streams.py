"""Streamed answers taken apart into events: SSE, lines of JSON, a JSON array, AWS event streams.

Nothing here knows a model API. A stream that was cut gives the events that are whole.
"""

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from seekwatch.sdk._decoding import as_text, decode, decode_each
from seekwatch.sdk._shapes import as_mapping, is_mapping

SSE: Final = "text/event-stream"
AWS: Final = "application/vnd.amazon.eventstream"
LINES: Final = ("application/x-ndjson", "application/stream+json", "application/jsonl")

_DONE: Final = "[DONE]"
_LINE: Final = re.compile(r"\r\n|\n|\r")
_GAP: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_PRELUDE: Final = struct.Struct(">III")
_CHECKSUM_BYTES: Final = 4
_STRING_HEADER: Final = 7
_HEADER_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a header's value by its type; 6 and 7 (bytes and string) say their own length."""


class Event(NamedTuple):
    """One event of a stream, its data decoded."""

    name: str
    data: Mapping[str, Any]


def is_stream(content_type: str, data: bytes) -> bool:
    """Tell a streamed answer by its declared type, else by its first bytes."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in (SSE, AWS) or kind in LINES:
        return True
    return data[:16].lstrip().startswith((b"data:", b"event:"))


def events(content_type: str, data: bytes, tail: bytes = b"") -> list[Event]:
    """Return the events of a stream.

    Args:
        content_type: as the answer declares it.
        data: the stream from its beginning, maybe cut.
        tail: its last bytes, where there is a gap between them and `data`.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind == AWS:
        return list(_aws_events(data))
    if kind == SSE or data[:16].lstrip().startswith((b"data:", b"event:")):
        found = list(sse_events(as_text(data)))
        return found + list(sse_events(as_text(_from_gap(tail))))
    values = decode_each(as_text(data))
    if tail:
        # Behind the first line break every line is whole.
        values += [decode(line) for line in tail.split(b"\n")[1:]]
    return [Event("", value) for value in values if is_mapping(value)]


def sse_events(text: str) -> Iterator[Event]:
    """Yield the events of an event stream whose data is a JSON object.

    By the WHATWG's rules ("Server-sent events", 9.2.6): lines end in CR, LF or both, a field is
    named before the first colon, one space behind it is dropped, data lines are joined, an empty
    line ends an event; an event that no empty line ended is none. We keep that one too when it
    decodes, since servers close right behind the last line.
    """
    name, lines = "", list[str]()
    for line in (*_LINE.split(text.removeprefix("\ufeff")), ""):
        if not line:
            event = _event(name, lines)
            if event is not None:
                yield event
            name, lines = "", []
            continue
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "data":
            lines.append(value)
        elif key == "event":
            name = value


def _event(name: str, lines: list[str]) -> Event | None:
    data = "\n".join(lines)
    if not data or data.strip() == _DONE:
        return None
    value = decode(data)
    return Event(name, as_mapping(value)) if is_mapping(value) else None


def _from_gap(tail: bytes) -> bytes:
    """Drop the event that a tail begins in the middle of."""
    gap = _GAP.search(tail)
    return tail[gap.end() :] if gap else b""


def _aws_events(data: bytes) -> Iterator[Event]:
    """Yield the events of an AWS event stream, up to the first frame that is not whole.

    A frame is its length, the length of its headers and a checksum of these, then headers, payload
    and a checksum of all (the Amazon Event Stream specification). Bedrock's `chunk` events wrap
    the model's own event as base64.
    """
    position = 0
    while position + _PRELUDE.size + _CHECKSUM_BYTES <= len(data):
        length, header_length, _ = _PRELUDE.unpack_from(data, position)
        end = position + length
        body = position + _PRELUDE.size
        if end > len(data) or body + header_length + _CHECKSUM_BYTES > end:
            return
        checked = end - _CHECKSUM_BYTES
        if zlib.crc32(data[position:checked]) != int.from_bytes(data[checked:end], "big"):
            return
        headers = _aws_headers(data[body : body + header_length])
        payload = decode(data[body + header_length : checked])
        name = headers.get(":event-type") or headers.get(":exception-type", "")
        if is_mapping(payload):
            yield Event(name, _unwrapped(payload))
        position = end


def _aws_headers(data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    position = 0
    while position < len(data):
        name_end = position + 1 + data[position]
        if name_end >= len(data):
            break
        name = as_text(data[position + 1 : name_end])
        kind = data[name_end]
        start = name_end + 1
        if kind in _HEADER_SIZES:
            end = start + _HEADER_SIZES[kind]
        else:
            end = start + 2 + int.from_bytes(data[start : start + 2], "big")
            if kind == _STRING_HEADER:
                headers[name] = as_text(data[start + 2 : end])
        position = end
    return headers


def _unwrapped(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    packed = payload.get("bytes")
    if not isinstance(packed, str):
        return payload
    try:
        return as_mapping(decode(base64.b64decode(packed, validate=True)))
    except (binascii.Error, ValueError):
        return {}
