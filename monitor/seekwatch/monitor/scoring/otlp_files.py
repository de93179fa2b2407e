"""Files of OTLP requests: one request or many, protobuf or JSON, as people have them at hand.

A JSON file holds one request; JSON Lines one a line (the Collector's file exporter); a protobuf
file one request, or many with a length of four bytes before each (the same exporter's `proto`).
"""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import zstandard

from seekwatch.core.errors import ConfigurationError, UndecodableError, why_unreadable
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.records import Signal

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_SIGNALS: Final = re.compile(rb'"resource_?(spans|logs|metrics)"', re.IGNORECASE)
"""A key of OTLP's requests in JSON; anything else in them may be left out."""
_LARGEST: Final = 1 << 30
"""Bytes of a file after decompression."""


class Request(NamedTuple):
    """One export request of a file."""

    signal: Signal
    value: bytes


def read_requests(path: Path) -> list[Request]:
    """Return every request of a file in its order.

    Raises:
        ConfigurationError: unreadable, or no OTLP in it.
    """
    try:
        content = _decompressed(path.read_bytes())
    except (OSError, EOFError, zstandard.ZstdError) as error:
        raise ConfigurationError("FILE", str(path), why_unreadable(error)) from error
    requests = list(_split(content))
    if not requests:
        raise ConfigurationError("FILE", str(path), "is empty; give a file of OTLP requests")
    for request in requests:
        _check(path, request)
    if _is_other_json(content):
        raise ConfigurationError(
            "FILE", str(path), "is JSON, but holds no resourceSpans; give OTLP, or an archive"
        )
    return requests


def _split(content: bytes) -> Iterator[Request]:
    if content.lstrip()[:1] == b"{":
        yield from _json_requests(content)
        return
    framed = list(_framed(content))
    for value in framed or ([content] if content else []):
        yield Request(Signal.TRACES, value)


def _is_other_json(content: bytes) -> bool:
    """Tell JSON of something else, which reads as a request without any known key."""
    return content.lstrip()[:1] == b"{" and not _SIGNALS.search(content)


def _json_requests(content: bytes) -> Iterator[Request]:
    lines = [line for line in content.splitlines() if line.strip()]
    one_each = all(line.lstrip()[:1] == b"{" and line.rstrip()[-1:] == b"}" for line in lines)
    for text in lines if one_each else [content]:
        signal = Signal.LOGS if b'"resourceLogs"' in text[:4096] else Signal.TRACES
        if b'"resourceMetrics"' not in text[:4096]:
            yield Request(signal, text)


def _framed(content: bytes) -> Iterator[bytes]:
    """Yield length-prefixed requests, or nothing when the lengths do not fit the file."""
    parts: list[bytes] = []
    offset = 0
    while offset + 4 <= len(content):
        length = int.from_bytes(content[offset : offset + 4], "big")
        offset += 4 + length
        parts.append(content[offset - length : offset])
    if offset == len(content):
        yield from parts


def _check(path: Path, request: Request) -> None:
    try:
        items = raw_items(request.value, request.signal)
    except UndecodableError as error:
        raise ConfigurationError(
            "FILE", str(path), f"holds no OTLP ({error}); give protobuf, JSON or JSON Lines"
        ) from error
    if request.value and not items and request.value.lstrip()[:1] != b"{":
        raise ConfigurationError("FILE", str(path), "holds no spans; is it an OTLP file?")


def _decompressed(content: bytes) -> bytes:
    if content.startswith(_GZIP):
        content = gzip.decompress(content)
    elif content.startswith(_ZSTD):
        decompressor = zstandard.ZstdDecompressor()
        content = decompressor.stream_reader(content).read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise EOFError(f"more than {_LARGEST} bytes")
    return content
