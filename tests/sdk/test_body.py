import base64
import gzip
import hashlib
import tracemalloc
import zlib

import pytest
import zstandard

from seekwatch.core.redaction import Redactor
from seekwatch.sdk._http.bodies import HOLD_BYTES, Body, Capture, body_attributes, decode, is_text


def captured(*chunks: bytes, complete: bool = True) -> Capture:
    capture = Capture()
    for chunk in chunks:
        capture.add(chunk)
    capture.complete = complete
    return capture


def carried(found: dict[str, str | bool | int]) -> str:
    return zlib.decompress(base64.b64decode(str(found["seekwatch.content.body"]))).decode()


def test_a_body_is_masked_before_it_is_compressed() -> None:
    body = Body(b"key: sk-canary0123456789abcdefghij", whole=True, wire_bytes=10)
    found = body_attributes(body, "text/plain", Redactor(), cap=1000)
    assert carried(found) == "key: ****"
    assert found["seekwatch.content.hash"] == f"sha256:{hashlib.sha256(body.data).hexdigest()}"


def test_a_multibyte_character_cut_at_the_cap_is_replaced_not_fatal() -> None:
    body = Body("aé".encode(), whole=True, wire_bytes=3)
    assert carried(body_attributes(body, "text/plain", Redactor(), cap=2)) == "a\ufffd"


def test_a_body_over_the_tracers_value_limit_is_left_out_not_cut() -> None:
    body = Body(b"text" * 100, whole=True, wire_bytes=400)
    found = body_attributes(body, "text/plain", Redactor(), cap=1000, value_limit=10)
    assert found["seekwatch.content.omitted_reason"] == "attribute-limit"
    assert "seekwatch.content.body" not in found


def test_a_partial_gzip_gives_what_can_be_read() -> None:
    packed = gzip.compress(b"word " * 10_000)
    body = decode(captured(packed[:40], complete=False), "gzip")
    assert body.data.startswith(b"word ")
    assert body.whole is False


def test_garbage_under_an_encoding_is_no_body() -> None:
    for encoding in ("gzip", "zstd"):
        headers = encoding
        body = decode(captured(b"certainly not"), headers)
        assert (body.data, body.whole) == (b"", False)
        found = body_attributes(body, "text/html", Redactor(), cap=100)
        assert found["seekwatch.content.omitted_reason"] == "undecodable"


def test_no_more_than_the_held_bytes_are_kept_by_reference() -> None:
    chunk = b"a" * 1_000_000
    capture = captured(*[chunk] * 5)
    assert capture.size == 5_000_000
    assert capture.held <= HOLD_BYTES + len(chunk)
    assert not capture.whole
    assert all(held is chunk for held in capture.chunks)


@pytest.mark.parametrize(
    ("content_type", "data", "text"),
    [
        ("text/html", b"", True),
        ("application/json", b"", True),
        ("application/ld+json", b"", True),
        ("application/xhtml+xml", b"", True),
        ("image/png", b"", False),
        ("application/pdf", b"%PDF", False),
        ("", b"plain", True),
        ("", b"\0binary", False),
    ],
)
def test_text_is_told_by_type_else_by_nul_bytes(content_type: str, data: bytes, text: bool) -> None:
    assert is_text(content_type, data) is text


def test_an_unknown_charset_is_read_as_utf_8() -> None:
    body = Body("é".encode(), whole=True, wire_bytes=2)
    found = body_attributes(body, "text/html; charset=klingon", Redactor(), cap=100)
    assert carried(found) == "é"


@pytest.mark.parametrize(
    "charset",
    ["utf-7", "zlib", "hex", "rot13", "undefined", "idna", "punycode", "utf-16", "mbcs", "x" * 300],
)
def test_no_charset_that_a_server_claims_is_fatal(charset: str) -> None:
    body = Body(b"hello +2AA- \\q \xff", whole=True, wire_bytes=14)
    found = body_attributes(body, f"text/html; charset={charset}", Redactor(), cap=1000)
    assert carried(found)


def test_a_bomb_in_any_encoding_of_httpx_is_not_unpacked() -> None:
    packed = zstandard.compress(b"a" * 50_000_000)
    tracemalloc.start()
    body = decode(captured(packed), "zstd")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert body == Body(b"a" * HOLD_BYTES, whole=False, wire_bytes=len(packed))
    assert peak < 20_000_000
