"""Appending to the embedded log; the thread that does so also removes what is no longer needed."""

import itertools
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from seekwatch.collector import embedded_file as file
from seekwatch.collector.batching import BatchingAppender
from seekwatch.collector.embedded_schema import connect, sqlite_errors, transaction
from seekwatch.collector.embedded_signal import Arrivals
from seekwatch.collector.partitioner import partition_of
from seekwatch.core.errors import RetryableError
from seekwatch.core.records import NewRecord

_LOG: Final = logging.getLogger(__name__)

_TRIM_EVERY: Final = 10.0
"""Seconds between two looks for records past their retention."""


class EmbeddedAppender(BatchingAppender):
    """The receiver's side of the embedded log, with one fsync for all that append at a time."""

    def __init__(
        self,
        path: Path,
        partitions: int,
        arrivals: Arrivals,
        *,
        max_bytes: int,
        retention: float,
    ) -> None:
        self._writer = _Writer(path, partitions, arrivals, max_bytes, retention)
        super().__init__(self._writer)


class _Writer:
    """An Appender for one thread at a time, one transaction a call."""

    def __init__(
        self, path: Path, partitions: int, arrivals: Arrivals, max_bytes: int, retention: float
    ) -> None:
        self._connection = connect(path)
        self._streams = file.StreamTable(partitions)
        self._arrivals = arrivals
        self._max_bytes = max_bytes
        self._retention = retention
        self._trimmed_at = time.monotonic()
        self._unkeyed = itertools.count()

    def append(self, records: Sequence[NewRecord]) -> None:
        rows = [
            file.NewRow(record.signal, self._partition(record.key), record.key, record.value)
            for record in records
        ]
        with sqlite_errors():
            self._make_room(sum(len(row.value) for row in rows))
            with transaction(self._connection):
                file.append(self._connection, self._streams, rows)
        self._arrivals.announce()

    def close(self) -> None:
        self._connection.close()

    def _partition(self, key: bytes | None) -> int:
        if key is None:
            return next(self._unkeyed) % self._streams.partitions
        return partition_of(key, self._streams.partitions)

    def _make_room(self, needed: int) -> None:
        if time.monotonic() - self._trimmed_at >= _TRIM_EVERY:
            self._trimmed_at = time.monotonic()
            self._trim(older_than=int((time.time() - self._retention) * 1000))
        while self._is_full(needed):
            if not self._trim(older_than=None):
                raise RetryableError(
                    f"the embedded log is full: {self._max_bytes} bytes (log.max_bytes)",
                    retry_after=5.0,
                )

    def _is_full(self, needed: int) -> bool:
        return 0 < self._max_bytes < file.used_bytes(self._connection) + needed

    def _trim(self, *, older_than: int | None) -> int:
        with transaction(self._connection):
            removed = file.trim(self._connection, self._streams, older_than=older_than)
        if removed:
            _LOG.debug("removed %d records from the embedded log", removed)
        return removed
