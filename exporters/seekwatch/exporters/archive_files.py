"""Where an archive keeps what, and how its files stay whole.

`<root>/<day>/episodes-<number>.jsonl` is appended to; a full one is sealed into
`episodes-<number>.jsonl.zst`. The day is that of closing on the log's clock, so an entry that comes
twice comes to the same directory. Everything here can be cut off by a crash at any point:
`mend()` brings the files back into a state that was whole.
"""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import zstandard

from seekwatch.core.model import Record

OPEN_SUFFIX: Final = ".jsonl"
SEALED_SUFFIX: Final = ".jsonl.zst"
_UNFINISHED_SUFFIX: Final = ".jsonl.zst.tmp"

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_SEGMENT: Final = re.compile(r"episodes-(\d+)\.jsonl(\.zst)?")
_LAST_DAY: Final = "9999-12-31"
_PIECE: Final = 1 << 16
_LEVEL: Final = 6
_PRIVATE_FILE: Final = 0o600
_PRIVATE_DIRECTORY: Final = 0o700


class Segment(Record, frozen=True, kw_only=True):
    """One file of an archive."""

    path: Path
    day: str
    number: int
    sealed: bool

    @property
    def byte_count(self) -> int:
        """Size on disk; 0 when it is gone."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


def day_of(milliseconds: int) -> str:
    """Return the UTC day of a time in milliseconds since the epoch.

    A time that no calendar has, from a topic whose producers set the clock, is the last day: one
    such entry must not stop an archive.
    """
    try:
        return datetime.fromtimestamp(milliseconds / 1000, tz=UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return _LAST_DAY


def segments(root: Path) -> list[Segment]:
    """List the files of an archive, oldest first."""
    found = [
        Segment(path=path, day=day.name, number=int(match[1]), sealed=match[2] is not None)
        for day in _days(root)
        for path in day.iterdir()
        if (match := _SEGMENT.fullmatch(path.name))
    ]
    return sorted(found, key=lambda segment: (segment.day, segment.number))


def new_segment(root: Path, day: str) -> Segment:
    """Name the next file of a day; it is created by the first append."""
    numbers = [segment.number for segment in segments(root) if segment.day == day]
    number = max(numbers, default=0) + 1
    path = root / day / f"episodes-{number:05d}{OPEN_SUFFIX}"
    return Segment(path=path, day=day, number=number, sealed=False)


def append(path: Path, lines: Iterable[bytes]) -> None:
    """Append whole lines durably, or none of them.

    Raises:
        OSError: nothing was appended, as far as the next append or `mend()` will leave it.
    """
    path.parent.mkdir(mode=_PRIVATE_DIRECTORY, parents=True, exist_ok=True)
    created = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        end = _cut_torn_line(file.fileno())
        os.lseek(file.fileno(), end, os.SEEK_SET)
        try:
            _write_all(file.fileno(), b"".join(line + b"\n" for line in lines))
            os.fsync(file.fileno())
        except OSError:
            os.ftruncate(file.fileno(), end)
            raise
    if created:
        _sync_directory(path.parent)
        _sync_directory(path.parent.parent)


def seal(segment: Segment) -> Segment:
    """Compress a file that is complete and put the result in its place."""
    sealed = segment.path.with_suffix(SEALED_SUFFIX)
    unfinished = segment.path.with_suffix(_UNFINISHED_SUFFIX)
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    with segment.path.open("rb") as source, unfinished.open("wb") as target:
        unfinished.chmod(_PRIVATE_FILE)
        # With its size a file says itself when it is cut off, which zstd alone does not notice.
        compressor.copy_stream(source, target, size=segment.byte_count)
        target.flush()
        os.fsync(target.fileno())
    unfinished.replace(sealed)
    _sync_directory(sealed.parent)
    segment.path.unlink()
    return Segment(path=sealed, day=segment.day, number=segment.number, sealed=True)


def remove(segment: Segment) -> None:
    """Delete a file, and its day's directory with the last one."""
    segment.path.unlink(missing_ok=True)
    if not any(segment.path.parent.iterdir()):
        segment.path.parent.rmdir()


def mend(root: Path) -> None:
    """Undo what a crash left half done: sealing, and a last line that was cut off."""
    for day in _days(root):
        for unfinished in day.glob(f"*{_UNFINISHED_SUFFIX}"):
            unfinished.unlink()
    present = segments(root)
    sealed = {(segment.day, segment.number) for segment in present if segment.sealed}
    for segment in present:
        if segment.sealed:
            continue
        if (segment.day, segment.number) in sealed:
            segment.path.unlink()
            continue
        with segment.path.open("r+b") as file:
            _cut_torn_line(file.fileno())


def _days(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        return
    for path in root.iterdir():
        if _DAY.fullmatch(path.name) and path.is_dir():
            yield path


def _cut_torn_line(descriptor: int) -> int:
    """Truncate after the last line end; return the size."""
    size = os.fstat(descriptor).st_size
    whole = size
    while whole > 0:
        start = max(0, whole - _PIECE)
        newline = os.pread(descriptor, whole - start, start).rfind(b"\n")
        if newline >= 0:
            whole = start + newline + 1
            break
        whole = start
    if whole < size:
        os.ftruncate(descriptor, whole)
        os.fsync(descriptor)
    return whole


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_directory(path: Path) -> None:
    """Make a new name in a directory survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
