"""Turns a captured response body into attributes: decoded, hashed, redacted, compressed.

Runs on the finisher's thread only. Text and dates of pages are read in the monitor, not here.
"""

import base64
import hashlib
import time
import zlib
from collections import deque
from dataclasses import dataclass, field
from typing import Final

import httpx

from seekwatch.core import attributes
from seekwatch.core.redaction import Redactor

HOLD_BYTES: Final = 2 * 1024 * 1024
"""How much of a streamed body is held until it ends; of a longer one its size is known, and its
last `TAIL_BYTES`: a model's answer tells at its end what it used."""
TAIL_BYTES: Final = 64 * 1024

NOT_TEXT: Final = "not-text"
CAPTURE_OFF: Final = "capture-off"
EMPTY: Final = "empty"
CLOSED_EARLY: Final = "closed-early"
SEARCH_RESULTS: Final = "search-results"
ATTRIBUTE_LIMIT: Final = "attribute-limit"
UNDECODABLE: Final = "undecodable"

# Level 1 takes a third of the time of the default and gives up a tenth of the size on HTML.
_COMPRESSION_LEVEL: Final = 1
_DECODE_SLICE: Final = 128
"""Bytes given to a decoder at once: the densest block of zstd makes 4 MiB of as many."""
_TEXT_TYPES: Final = ("json", "xml", "html", "javascript", "yaml", "csv", "markdown", "urlencoded")


@dataclass(slots=True)
class Capture:
    """What the tee saw of one body: chunks as they came over the wire, by reference."""

    chunks: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    """Bytes that came, counted beyond what is held."""
    held: int = 0
    first_chunk_ns: int | None = None
    """When the first chunk came."""
    is_decoded: bool = False
    """The library had undone the content encoding before the chunks were seen."""
    complete: bool = False
    """The body came to its end (it was not closed early and did not break)."""
    last: deque[bytes] | None = None
    """The last chunks of a body that was too long to hold."""
    last_size: int = 0

    def add(self, chunk: bytes) -> None:
        """Note one chunk; the bytes are shared with the caller, not copied."""
        if self.first_chunk_ns is None:
            self.first_chunk_ns = time.time_ns()
        self.size += len(chunk)
        if self.held < HOLD_BYTES:
            self.chunks.append(chunk)
            self.held += len(chunk)
            return
        if self.last is None:
            self.last = deque()
        self.last.append(chunk)
        self.last_size += len(chunk)
        while self.last_size - len(self.last[0]) >= TAIL_BYTES:
            self.last_size -= len(self.last.popleft())

    @property
    def whole(self) -> bool:
        """Whether every byte of the body is held."""
        return self.complete and self.held == self.size


@dataclass(frozen=True, slots=True)
class Body:
    """A body after content decoding."""

    data: bytes
    whole: bool
    """False when it was closed early, broke off or was too long to hold."""
    wire_bytes: int | None


def decode(capture: Capture, encoding: str) -> Body:
    """Undo the content encoding of a captured body as far as it goes.

    A compressed body can be a bomb, so no more than `HOLD_BYTES` come out.

    Args:
        capture: the body as it came.
        encoding: the answer's `content-encoding`.
    """
    raw = b"".join(capture.chunks)
    encoding = encoding.strip().lower()
    if capture.is_decoded and encoding not in {"", "identity"}:
        # How many bytes came over the wire is not known any more.
        return Body(raw, capture.whole, None)
    if encoding in {"", "identity"}:
        return Body(raw, capture.whole, capture.size)
    if encoding in {"gzip", "x-gzip", "deflate"}:
        data, ended = _inflate(raw, encoding)
        return Body(data, capture.whole and ended, capture.size)
    data, ended = _decode_by_httpx(raw, encoding)
    return Body(data, capture.whole and ended, capture.size)


def tail(capture: Capture, encoding: str) -> bytes:
    """Return the last bytes of a body that was too long to hold; none of a compressed one."""
    if encoding.strip().lower() not in {"", "identity"} and not capture.is_decoded:
        return b""
    return b"".join(capture.last or ())[-TAIL_BYTES:]


def _decode_by_httpx(raw: bytes, encoding: str) -> tuple[bytes, bool]:
    """Decode with what httpx has, a little at a time, so that a bomb stops early."""
    slices = (raw[at : at + _DECODE_SLICE] for at in range(0, len(raw), _DECODE_SLICE))
    response = httpx.Response(200, headers={"content-encoding": encoding}, content=slices)
    data = bytearray()
    try:
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > HOLD_BYTES:
                return bytes(data[:HOLD_BYTES]), False
    except httpx.DecodingError:
        return bytes(data), False
    return bytes(data), True


def _inflate(raw: bytes, encoding: str) -> tuple[bytes, bool]:
    # Servers send "deflate" both with and without the zlib header; 47 reads gzip and zlib.
    for window in (47,) if encoding != "deflate" else (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        inflater = zlib.decompressobj(window)
        try:
            return inflater.decompress(raw, HOLD_BYTES), inflater.eof
        except zlib.error:
            continue
    return b"", False


def is_text(content_type: str, data: bytes) -> bool:
    """Tell text from binary by the declared type, else by the absence of NUL bytes."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith("text/") or any(word in kind for word in _TEXT_TYPES):
        return True
    return not kind and b"\0" not in data[:1024]


def body_attributes(
    body: Body,
    content_type: str,
    redactor: Redactor,
    *,
    cap: int,
    value_limit: int | None = None,
) -> dict[str, str | bool | int]:
    """Return the attributes that carry or describe a body.

    Args:
        body: what came.
        content_type: the response's `content-type`.
        redactor: applied to the text before it is compressed.
        cap: bytes of the body that may be carried, before compression; 0 for none.
        value_limit: the tracer's limit for the length of a string attribute.
    """
    found: dict[str, str | bool | int] = {}
    if body.wire_bytes is not None:
        found[attributes.RESPONSE_BODY_SIZE] = body.wire_bytes
    if body.whole:
        found[attributes.CONTENT_HASH] = f"sha256:{hashlib.sha256(body.data).hexdigest()}"
    reason = _why_omitted(body, content_type, cap)
    if reason is None:
        text = _text(body.data[:cap], content_type)
        packed = zlib.compress(redactor.text(text).encode(), _COMPRESSION_LEVEL)
        encoded = base64.b64encode(packed).decode()
        if value_limit is not None and len(encoded) > value_limit:
            reason = ATTRIBUTE_LIMIT
        else:
            found[attributes.CONTENT_BODY] = encoded
            found[attributes.CONTENT_ENCODING] = attributes.CONTENT_ENCODING_ZLIB
            if len(body.data) > cap or not body.whole:
                found[attributes.CONTENT_TRUNCATED] = True
    if reason is not None:
        found[attributes.CONTENT_OMITTED] = reason
    return found


def _why_omitted(body: Body, content_type: str, cap: int) -> str | None:
    if cap <= 0:
        return CAPTURE_OFF
    if not body.data:
        if body.whole:
            return EMPTY
        return UNDECODABLE if body.wire_bytes else CLOSED_EARLY
    return None if is_text(content_type, body.data) else NOT_TEXT


def _text(data: bytes, content_type: str) -> str:
    """Decode text by its declared charset, else as UTF-8; what cannot be decoded is replaced."""
    charset = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    try:
        text = data.decode(charset or "utf-8", errors="replace")
    except (LookupError, ValueError):
        # Unknown, or a codec of Python's that is no charset, or one that gives up.
        text = data.decode(errors="replace")
    # Some charsets (UTF-7) can write halves of characters, which UTF-8 has no form for.
    return text.encode(errors="replace").decode()
