"""Reading an archive: a file, a compressed file, or the directory of a whole archive.

A reader may run beside the writer: a last line without its line end is one that is being written,
and is left for the next time.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import msgspec
import zstandard

from seekwatch.core.archive import ArchiveEntry, decode_archive_line
from seekwatch.core.errors import ConfigurationError, UndecodableError
from seekwatch.core.model import Record

from .archive_files import OPEN_SUFFIX, SEALED_SUFFIX, segments

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of one entry; a longer line is no entry of ours."""

_COMPRESSED: Final = ".zst"
_LONGEST_FRAME_HEADER: Final = 18
_LARGEST_WINDOW: Final = 128 * 1024 * 1024


class ArchiveHead(Record, frozen=True, kw_only=True):
    """What identifies an entry, read without decoding the rest.

    Attributes:
        closed_at: milliseconds since the epoch on the log's clock.
    """

    trace: str
    revision: int
    closed_at: int

    @property
    def key(self) -> tuple[str, int]:
        """The entry's identity: one trace in one revision."""
        return (self.trace, self.revision)


class _Envelope(msgspec.Struct):
    trace: str
    closed_at: int
    revision: int = 1


class _Line(msgspec.Struct):
    schema: int
    envelope: _Envelope


_HEAD: Final = msgspec.json.Decoder(_Line)


def archive_head(line: bytes) -> ArchiveHead:
    """Read the identity of an entry.

    Raises:
        UndecodableError: the line is no archive entry.
    """
    try:
        envelope = _HEAD.decode(line).envelope
    except msgspec.DecodeError as error:
        raise UndecodableError(f"not an archive entry: {error}", reason="archive") from error
    return ArchiveHead(
        trace=envelope.trace, revision=envelope.revision, closed_at=envelope.closed_at
    )


def read_archive(path: Path) -> Iterator[ArchiveEntry]:
    """Yield the entries of an archive, oldest day first.

    An entry that was written twice (it is then byte for byte the same) is yielded once a day
    directory; both revisions of a trace are yielded.

    Args:
        path: a `.jsonl` or `.jsonl.zst` file, or an archive's directory.

    Raises:
        ConfigurationError: nothing is there, or it is no archive.
        UndecodableError: a line is no entry, or of another schema; file and line are named.
    """
    for files in _by_day(path):
        seen: set[tuple[str, int]] = set()
        for file in files:
            for number, line in enumerate(read_lines(file), start=1):
                entry = _entry(file, number, line)
                key = (entry.envelope.trace, entry.envelope.revision)
                if key not in seen:
                    seen.add(key)
                    yield entry


def looks_like_archive(path: Path) -> bool:
    """Tell whether `path` is an archive rather than an OTLP file, by its first line."""
    if path.is_dir():
        return bool(segments(path))
    try:
        first = next(read_lines(path), b"")
        archive_head(first)
    except UndecodableError:
        return False
    return True


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of one file, without their ends.

    Raises:
        UndecodableError: damaged compression, a compressed file that is cut off, or a line longer
            than any entry.
    """
    with path.open("rb") as raw:
        if not path.name.endswith(_COMPRESSED):
            yield from (line[:-1] for line in _lines(path, raw) if line.endswith(b"\n"))
            return
        whole = True
        try:
            missing = zstandard.frame_content_size(raw.read(_LONGEST_FRAME_HEADER))
            raw.seek(0)
            for line in _lines(path, _decompressed(raw)):
                missing -= len(line)
                whole = line.endswith(b"\n")
                if whole:
                    yield line[:-1]
        except zstandard.ZstdError as error:
            raise UndecodableError(f"{path}: {error}", reason="archive") from error
        if missing > 0 or not whole:
            raise UndecodableError(f"{path} is cut off", reason="archive")


def _lines(path: Path, source: io.BufferedReader) -> Iterator[bytes]:
    while line := source.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise UndecodableError(
                f"{path}: a line of more than {LONGEST_LINE} bytes", reason="too-large"
            )
        yield line


def _by_day(path: Path) -> list[list[Path]]:
    if path.is_file():
        return [[path]]
    if not path.is_dir():
        raise ConfigurationError("archive", str(path), "no such file or directory")
    days: dict[str, list[Path]] = {}
    for segment in segments(path):
        days.setdefault(segment.day, []).append(segment.path)
    if not days:
        raise ConfigurationError(
            "archive", str(path), f"holds no day directories with {OPEN_SUFFIX} or {SEALED_SUFFIX}"
        )
    return list(days.values())


def _entry(file: Path, number: int, line: bytes) -> ArchiveEntry:
    try:
        return decode_archive_line(line)
    except UndecodableError as error:
        raise UndecodableError(f"{file}, line {number}: {error}", reason=error.reason) from error


def _decompressed(raw: io.BufferedReader) -> io.BufferedReader:
    reader = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(raw)
    return io.BufferedReader(cast("io.RawIOBase", reader))
