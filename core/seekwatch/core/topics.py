"""How scorecards and episodes are packed into records of the output topics, and read again.

Scores are plain JSON Lines, so that anyone can read them with a console consumer. Episodes hold
page text, so they are the same lines under zstd. One record carries many lines up to a size that
every broker takes by default; what is packed from one commit is a pure function of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import zstandard

from seekwatch.core.archive import (
    ArchiveEntry,
    decode_archive_line,
    decode_score_line,
)
from seekwatch.core.errors import UndecodableError
from seekwatch.core.scorecard import ScoreEntry, encode_line

RECORD_BYTES: Final = 512 * 1024
"""Half of a broker's default limit (`message.max.bytes`, 1 MiB): room for headers and batching."""

SCORE_BYTES: Final = 960 * 1024
"""The largest score entry that is published: with its envelope it fits into a broker's default. The
scores topic must take so much."""

UNPACKED_BYTES: Final = 64 * 1024 * 1024
"""The most that one episodes record may hold when decompressed; more is a bomb or a mistake."""

_RAW_PER_RECORD: Final = 4
"""JSON with page text shrinks four to ten times, so this many limits' worth is tried first."""

_LEVEL: Final = 3
_LARGEST_WINDOW: Final = 8 * 1024 * 1024


def pack_scores(entries: Iterable[ScoreEntry], limit: int = RECORD_BYTES) -> list[bytes]:
    """Pack score entries of one partition into as few records as the limit allows, in order.

    Args:
        entries: what a commit publishes.
        limit: bytes of a record. An entry that is larger by itself becomes a record of its own:
            it cannot be divided.
    """
    lines = (encode_line(entry) + b"\n" for entry in entries)
    return [b"".join(group) for group in _groups(lines, limit)]


def unpack_scores(value: bytes) -> list[ScoreEntry]:
    """Read a record of the scores topic.

    Raises:
        UndecodableError: a line is no score entry, or of another schema.
    """
    return [decode_score_line(line) for line in value.splitlines()]


def pack_episodes(entries: Iterable[ArchiveEntry], limit: int = RECORD_BYTES) -> list[bytes]:
    """Pack archive entries of one partition into compressed records, in order.

    Args:
        entries: what a commit publishes.
        limit: bytes of a record, compressed. An entry that is larger by itself becomes a record of
            its own.
    """
    lines = (encode_line(entry) + b"\n" for entry in entries)
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    records: list[bytes] = []
    for group in _groups(lines, limit * _RAW_PER_RECORD):
        records.extend(_compressed(group, limit, compressor))
    return records


def unpack_episodes(value: bytes, largest: int = UNPACKED_BYTES) -> list[ArchiveEntry]:
    """Read a record of the episodes topic.

    Raises:
        UndecodableError: not zstd, more than `largest` bytes when decompressed, or as
            `decode_archive_line`.
    """
    return [decode_archive_line(line) for line in episode_lines(value, largest)]


def episode_lines(value: bytes, largest: int = UNPACKED_BYTES) -> list[bytes]:
    """Return the lines of an episodes record as they are, for whoever copies them.

    Raises:
        UndecodableError: not zstd, or more than `largest` bytes when decompressed.
    """
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    try:
        with decompressor.stream_reader(value) as reader:
            text = reader.read(largest + 1)
    except zstandard.ZstdError as error:
        raise UndecodableError(f"not an episodes record: {error}", reason="archive") from error
    if len(text) > largest:
        raise UndecodableError(
            f"episodes record of {len(value)} bytes holds more than {largest} bytes",
            reason="too-large",
        )
    if not text.endswith(b"\n"):
        raise UndecodableError("episodes record ends in the middle of a line", reason="archive")
    return text.splitlines()


def _groups(lines: Iterable[bytes], limit: int) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for line in lines:
        if group and size + len(line) > limit:
            yield group
            group, size = [], 0
        group.append(line)
        size += len(line)
    if group:
        yield group


def _compressed(
    lines: Sequence[bytes], limit: int, compressor: zstandard.ZstdCompressor
) -> list[bytes]:
    """Compress lines into one record, or halve them until every record fits."""
    record = compressor.compress(b"".join(lines))
    if len(record) <= limit or len(lines) == 1:
        return [record]
    middle = len(lines) // 2
    return [
        *_compressed(lines[:middle], limit, compressor),
        *_compressed(lines[middle:], limit, compressor),
    ]
