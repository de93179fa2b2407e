"""Content encodings: what is sent comes out, and a bomb never does."""

import gzip
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.collector.encodings import EncodingError, TooLargeError, decompress, sniff

LIMIT = 1 << 20


def raw_deflate(body: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("encoding", ENCODERS)
@given(body=st.binary(min_size=1, max_size=500))
def test_what_was_encoded_comes_out(encoding: str, body: bytes) -> None:
    assert decompress(ENCODERS[encoding](body), encoding, LIMIT) == body


def test_bare_deflate_is_read_as_well() -> None:
    assert decompress(raw_deflate(b"abc" * 100), "deflate", LIMIT) == b"abc" * 100


def test_several_gzip_members_are_one_body() -> None:
    assert decompress(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", LIMIT) == b"one two"


@pytest.mark.parametrize("encoding", ENCODERS)
def test_a_bomb_is_refused(encoding: str) -> None:
    bomb = ENCODERS[encoding](bytes(LIMIT + 1))
    assert len(bomb) < LIMIT / 100
    with pytest.raises(TooLargeError, match="max_request_bytes"):
        decompress(bomb, encoding, LIMIT)


@pytest.mark.parametrize("encoding", ["", "identity", *ENCODERS])
def test_a_body_as_large_as_the_limit_is_taken(encoding: str) -> None:
    encode = ENCODERS.get(encoding, bytes)
    assert len(decompress(encode(bytes(LIMIT)), encoding, LIMIT)) == LIMIT


def test_a_plain_body_over_the_limit_is_refused() -> None:
    with pytest.raises(TooLargeError):
        decompress(bytes(LIMIT + 1), "", LIMIT)


@pytest.mark.parametrize("encoding", ENCODERS)
def test_garbage_is_told(encoding: str) -> None:
    with pytest.raises(EncodingError):
        decompress(b"this is not compressed at all", encoding, LIMIT)


@pytest.mark.parametrize("encoding", ENCODERS)
def test_a_body_cut_short_is_told(encoding: str) -> None:
    whole = ENCODERS[encoding](bytes(range(256)) * 40)
    with pytest.raises(EncodingError):
        decompress(whole[: len(whole) // 2], encoding, LIMIT)


def test_an_unknown_encoding_is_named() -> None:
    with pytest.raises(EncodingError, match="br") as caught:
        decompress(b"x", "br", LIMIT)
    assert not caught.value.supported


@pytest.mark.parametrize("encoding", ENCODERS)
def test_an_encoding_is_told_by_its_first_bytes(encoding: str) -> None:
    assert sniff(ENCODERS[encoding](b"\x0a\x05abc")) == encoding


def test_a_request_is_no_encoding() -> None:
    assert sniff(b"\x0a\x05abc") == ""
    assert sniff(b"") == ""
