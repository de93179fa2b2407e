"""Content encodings of requests, with a cap on what a small body may become.

A compressed megabyte can hold a gigabyte: nothing here ever holds more than the cap and one byte.
"""

import io
import zlib
from typing import Final

import zstandard

from seekwatch.core.errors import PermanentError

_ZSTD_MAX_WINDOW: Final = 1 << 27
"""128 MiB, the most that `zstd` itself uses without `--ultra`."""

_MAGIC: Final = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"\x78", "deflate"))


class TooLargeError(PermanentError):
    """A request that is larger than allowed, before or after decompression."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"request larger than {limit} bytes (receiver.max_request_bytes)")
        self.limit = limit


class EncodingError(PermanentError):
    """A body that is not what its encoding says.

    Attributes:
        supported: the encoding is one that we read.
    """

    def __init__(self, message: str, *, supported: bool = True) -> None:
        super().__init__(message)
        self.supported = supported


def decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """Return the decoded body.

    Args:
        body: as it came.
        encoding: a value of `Content-Encoding`; empty and `identity` leave the body as it is.
        limit: bytes that the result may have.

    Raises:
        TooLargeError: the result would be larger.
        EncodingError: unknown encoding, or a body that is not so encoded.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        decoded = body
    elif name in ("gzip", "x-gzip"):
        decoded = _inflate(body, limit, zlib.MAX_WBITS | 16)
    elif name == "deflate":
        decoded = _deflate(body, limit)
    elif name == "zstd":
        decoded = _zstd(body, limit)
    else:
        raise EncodingError(f"content encoding {encoding[:40]!r} is not read here", supported=False)
    if len(decoded) > limit:
        raise TooLargeError(limit)
    return decoded


def sniff(body: bytes) -> str:
    """Return the encoding that a gRPC message's first bytes tell, empty for none.

    No OTLP request begins like any of them: its one field is number 1.
    """
    return next((name for magic, name in _MAGIC if body.startswith(magic)), "")


def _inflate(body: bytes, limit: int, window: int) -> bytes:
    """Inflate all members of a body (several gzip members in a row are one body, RFC 1952)."""
    parts: list[bytes] = []
    size = 0
    try:
        while body:
            inflater = zlib.decompressobj(window)
            parts.append(inflater.decompress(body, limit + 1 - size))
            size += len(parts[-1])
            if size > limit:
                raise TooLargeError(limit)
            if not inflater.eof:
                raise EncodingError("the compressed body ends too early")
            body = inflater.unused_data
    except zlib.error as error:
        raise EncodingError(f"not a compressed body: {error}") from error
    return b"".join(parts)


def _deflate(body: bytes, limit: int) -> bytes:
    """Inflate zlib's format, which the name stands for, or the bare one that some send."""
    try:
        return _inflate(body, limit, zlib.MAX_WBITS)
    except EncodingError:
        return _inflate(body, limit, -zlib.MAX_WBITS)


def _zstd(body: bytes, limit: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW)
    try:
        with decompressor.stream_reader(io.BytesIO(body), read_across_frames=True) as reader:
            decoded = bytes(reader.read(limit + 1))
    except zstandard.ZstdError as error:
        raise EncodingError(f"not a zstd body: {error}") from error
    if body and not decoded:
        # A stream that ends too early reads as an empty one; no request of ours is empty.
        raise EncodingError("the zstd body ends too early")
    return decoded
