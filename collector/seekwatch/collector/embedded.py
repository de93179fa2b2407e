"""The embedded log: all of Kafka that Seekwatch needs, in one SQLite file.

For a laptop, a demo, a small installation: the same semantics as the Kafka log (partitions, the
log's clock, one atomic commit, consumers with offsets of their own) without a service to run. A
commit is one SQLite transaction in WAL mode with `synchronous=FULL`.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

from seekwatch.collector.embedded_append import EmbeddedAppender
from seekwatch.collector.embedded_outputs import EmbeddedOutputReader
from seekwatch.collector.embedded_schema import prepare
from seekwatch.collector.embedded_signal import Arrivals
from seekwatch.collector.embedded_trace_log import EmbeddedTraceLog
from seekwatch.core.records import Output

DEFAULT_PARTITIONS: Final = 4
DEFAULT_MAX_BYTES: Final = 4 << 30
DEFAULT_RETENTION: Final = 24 * 3600.0

_Part = TypeVar("_Part", EmbeddedAppender, EmbeddedTraceLog, EmbeddedOutputReader)


class EmbeddedLog:
    """One file, and what reads and writes it.

    Several processes may append and read outputs; one at a time may be the worker.

    Args:
        path: the file; it and its folder are made when missing.
        partitions: of each topic, fixed when the file is made. None takes the file's own number,
            and 4 for a new file.
        max_bytes: a file grown to this size takes no more until something can be removed; appends
            then raise RetryableError. 0 sets no limit.
        retention: seconds for which records stay that nobody waits for any more. Records that the
            worker has not committed past stay longer; when the file is full, others go earlier.

    Raises:
        ConfigurationError: the file is none of ours, of another version, or of another number of
            partitions.
        RetryableError: the file cannot be opened now.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        partitions: int | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        retention: float = DEFAULT_RETENTION,
    ) -> None:
        self.path: Final = Path(path)
        self.partitions: Final = prepare(self.path, partitions, DEFAULT_PARTITIONS)
        self._max_bytes = max_bytes
        self._retention = retention
        self._arrivals = Arrivals()
        self._lock = threading.Lock()
        self._open: list[EmbeddedAppender | EmbeddedTraceLog | EmbeddedOutputReader] = []

    def appender(self) -> EmbeddedAppender:
        """Return a way to append; concurrent appends share one fsync."""
        return self._keep(
            EmbeddedAppender(
                self.path,
                self.partitions,
                self._arrivals,
                max_bytes=self._max_bytes,
                retention=self._retention,
            )
        )

    def trace_log(self) -> EmbeddedTraceLog:
        """Return the worker's side.

        Raises:
            ConfigurationError: another worker has the file.
        """
        return self._keep(EmbeddedTraceLog(self.path, self.partitions, self._arrivals))

    def output_reader(
        self, outputs: Sequence[Output], consumer: str | None = None, *, from_end: bool = False
    ) -> EmbeddedOutputReader:
        """Return a consumer of output topics.

        Args:
            outputs: the topics to read.
            consumer: the name under which the position is kept; None keeps none.
            from_end: where the first reading begins, when no position is kept yet.
        """
        return self._keep(
            EmbeddedOutputReader(
                self.path, self.partitions, self._arrivals, outputs, consumer, from_end=from_end
            )
        )

    def close(self) -> None:
        """Close everything that was made here; calling it again does nothing."""
        with self._lock:
            opened, self._open = self._open, []
        for part in opened:
            part.close()

    def _keep(self, part: _Part) -> _Part:
        with self._lock:
            self._open.append(part)
        return part
