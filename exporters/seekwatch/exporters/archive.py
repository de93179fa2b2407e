"""The JSONL archive: a consumer of the episodes topic that keeps every scored episode in files.

An entry holds the normalised episode, its evidence, the scorecard and the envelope: re-scoring
needs nothing else, and a line is the topic's line, byte for byte. `docs/archive.md` describes the
files.
"""

import fcntl
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Final

from seekwatch.core.errors import ConfigurationError, RetryableError, UndecodableError
from seekwatch.core.records import Output, StoredOutput
from seekwatch.core.topics import episode_lines

from .archive_files import Segment, append, day_of, mend, new_segment, remove, seal, segments
from .archive_reader import archive_head, read_archive, read_lines

__all__ = ["ArchiveWriter", "read_archive"]

_log = logging.getLogger(__name__)

SEGMENT_BYTES: Final = 64 * 1024 * 1024
"""Large enough for zstd to do well, small enough to be read in one go."""

REMEMBERED: Final = 50_000
"""Entries whose delivery is remembered, for records that come again after a failed commit."""

_LOCK_NAME: Final = ".lock"


class ArchiveWriter:
    """Writes episodes records into an archive directory; a sink of `Consumer`.

    Args:
        root: the directory; created when missing. One writer at a time.
        segment_bytes: size at which a file is sealed and compressed.
        keep_days: days after which a day's files are deleted; 0 keeps them for ever.
        keep_bytes: size above which the oldest files are deleted; 0 is no bound.
        wall_clock: Unix seconds, for `keep_days` alone.

    Raises:
        ConfigurationError: the directory cannot be written or another writer has it.
    """

    def __init__(
        self,
        root: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        keep_days: int = 30,
        keep_bytes: int = 0,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._root = root
        self._segment_bytes = segment_bytes
        self._keep_days = keep_days
        self._keep_bytes = keep_bytes
        self._wall_clock = wall_clock
        self._lock = _locked(root)
        self._open: dict[str, Segment] = {}
        self._recent = _RecentKeys(REMEMBERED)
        self._tidied_on = ""
        try:
            self._take_over()
        except BaseException:
            self._lock.close()
            raise

    def deliver(self, records: Sequence[StoredOutput]) -> None:
        """Append the entries of episodes records durably; those written before are left out.

        Raises:
            RetryableError: the disk is full or cannot be written.
            UndecodableError: a record holds no archive entries.
        """
        by_day: dict[str, dict[tuple[str, int], bytes]] = {}
        for record in records:
            if record.output is not Output.EPISODES:
                raise UndecodableError(f"{record.output} is no episodes record", reason="archive")
            for line in episode_lines(record.value):
                head = archive_head(line)
                if head.key not in self._recent:
                    by_day.setdefault(day_of(head.closed_at), {})[head.key] = line
        try:
            self._tidy()
            for day, lines in sorted(by_day.items()):
                append(self._segment(day).path, lines.values())
                self._recent.update(lines)
        except OSError as error:
            raise RetryableError(f"cannot write to the archive {self._root}: {error}") from error

    def close(self) -> None:
        """Let go of the directory; calling it again does nothing."""
        self._lock.close()

    def _take_over(self) -> None:
        """Begin where the last writer ended, however it ended."""
        mend(self._root)
        self._open = {item.day: item for item in segments(self._root) if not item.sealed}
        for segment in self._open.values():
            self._remember(segment.path)
        self._tidy()

    def _remember(self, path: Path) -> None:
        """Learn what is delivered; a damaged line is for the reader to report."""
        for number, line in enumerate(read_lines(path), start=1):
            try:
                self._recent.add(archive_head(line).key)
            except UndecodableError as error:
                _log.warning("%s, line %d: %s", path, number, error)

    def _segment(self, day: str) -> Segment:
        """Return the file to append to.

        A full one is sealed here, before the next append, and not after the last: by then that
        append is committed, so what may come again after a crash always stands in an open file.
        """
        segment = self._open.get(day)
        if segment is not None and segment.byte_count >= self._segment_bytes:
            seal(segment)
            segment = None
        if segment is None:
            segment = new_segment(self._root, day)
            self._open[day] = segment
            self._shrink()
        return segment

    def _tidy(self) -> None:
        """Once a day: delete days that are too old, seal files that nothing comes to any more."""
        now = datetime.fromtimestamp(self._wall_clock(), tz=UTC)
        today = now.date().isoformat()
        if today == self._tidied_on:
            return
        yesterday = (now - timedelta(days=1)).date().isoformat()
        oldest = (now - timedelta(days=self._keep_days)).date().isoformat()
        for segment in segments(self._root):
            if self._keep_days and segment.day < oldest:
                self._delete(segment)
            elif not segment.sealed and segment.day < yesterday:
                seal(segment)
                self._open.pop(segment.day, None)
        self._shrink()
        self._tidied_on = today

    def _shrink(self) -> None:
        """Delete the oldest files until the rest is within bounds."""
        if not self._keep_bytes:
            return
        present = segments(self._root)
        total = sum(segment.byte_count for segment in present)
        for segment in present[:-1]:
            if total <= self._keep_bytes:
                return
            total -= segment.byte_count
            self._delete(segment)

    def _delete(self, segment: Segment) -> None:
        _log.info("the archive's bounds delete %s", segment.path)
        remove(segment)
        if not segment.sealed:
            self._open.pop(segment.day, None)


class _RecentKeys:
    """The last entries that were written, up to a number."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys: dict[tuple[str, int], None] = {}

    def __contains__(self, key: tuple[str, int]) -> bool:
        return key in self._keys

    def add(self, key: tuple[str, int]) -> None:
        self._keys[key] = None
        if len(self._keys) > self._limit:
            del self._keys[next(iter(self._keys))]

    def update(self, keys: Iterable[tuple[str, int]]) -> None:
        for key in keys:
            self.add(key)


def _locked(root: Path) -> IO[bytes]:
    """Take the directory for this process; the lock ends with it."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (root / _LOCK_NAME).open("ab")
    except OSError as error:
        raise ConfigurationError(
            "archive.directory", str(root), f"name a directory that can be written: {error}"
        ) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ConfigurationError(
            "archive.directory", str(root), "another archive exporter has it; give each its own"
        ) from error
    return file
