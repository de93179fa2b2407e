"""The embedded log as an onlooker sees it."""

import shutil
from collections.abc import Iterable, Sequence

from seekwatch.collector import embedded_file as file
from seekwatch.collector.embedded_schema import Topic, connect, sqlite_errors, transaction
from seekwatch.core.records import Output, Signal, StoredOutput
from seekwatch.core.scorecard import ScoreEntry
from seekwatch.core.topics import unpack_scores
from seekwatch.monitor.processes import building
from seekwatch.monitor.settings.model import Settings

from .findings import Arrived, Finding, note, ok, wrong

_MIB = 1 << 20


class EmbeddedSight:
    """Looks at the file; a running monitor is not disturbed.

    Raises:
        ConfigurationError: there is no such file, or it is no log.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        log = building.existing_log(settings)
        log.close()
        self._connection = connect(log.path)
        self._streams = file.StreamTable(log.partitions)

    def checks(self) -> Iterable[Finding]:
        """Look at size and space."""
        embedded = self._settings.embedded
        with sqlite_errors(), transaction(self._connection, "DEFERRED"):
            used = file.used_bytes(self._connection)
        free = shutil.disk_usage(embedded.path.absolute().parent).free
        what = f"{embedded.path}: {used / _MIB:.0f} MiB used, {free / _MIB:.0f} MiB free on disk"
        if embedded.max_bytes and used > 0.9 * embedded.max_bytes:
            yield wrong(
                "log",
                f"{what}; it refuses records from {embedded.max_bytes / _MIB:.0f} MiB on",
                "raise embedded.max_bytes, lower embedded.retention, or move to Kafka",
            )
        elif free < 512 * _MIB:
            yield wrong("log", what, "make room on the disk: a full log refuses spans")
        elif embedded.max_bytes and free < embedded.max_bytes - used:
            yield note("log", what, "the disk is smaller than embedded.max_bytes allows it to grow")
        else:
            yield ok("log", what)

    def spans(self, limit: int) -> Sequence[Arrived]:
        """Return the newest records of spans, oldest first."""
        rows = self._newest(Signal.TRACES, limit)
        return [Arrived(timestamp=row.timestamp, value=row.value) for _, row in rows]

    def first_arrival(self) -> float | None:
        """Return when the oldest span on the log arrived, in seconds since the epoch."""
        times: list[int] = []
        with sqlite_errors(), transaction(self._connection, "DEFERRED"):
            extents = file.extents(self._connection)
            for partition in range(self._streams.partitions):
                stream = self._streams.number(Signal.TRACES, partition)
                start = extents[stream].start
                rows = file.read(
                    self._connection, stream, start, max_records=1, max_bytes=64 * _MIB
                )
                times += [row.timestamp for row in rows]
        return min(times) / 1000 if times else None

    def pending(self, since: float) -> set[str]:
        """Return ids of traces that came since then and before which the worker still stands.

        Some may be scored: an open trace holds back what came after it, too.

        Args:
            since: seconds since the epoch.
        """
        traces: set[str] = set()
        with sqlite_errors(), transaction(self._connection, "DEFERRED"):
            committed = file.positions(self._connection)
            for stream in self._streams.of(Signal.TRACES):
                start = committed.get(stream, 0)
                traces |= file.keys_since(self._connection, stream, start, int(since * 1000))
        return traces

    def scores(self, limit: int) -> Sequence[ScoreEntry]:
        """Return the newest scorecards, oldest first."""
        rows = self._newest(Output.SCORES, limit)
        return [entry for _, row in rows for entry in unpack_scores(row.value)][-limit:]

    def dead_letters(self, limit: int) -> Sequence[StoredOutput]:
        """Return the newest dead letters, oldest first."""
        return [
            StoredOutput(
                output=Output.DEAD_LETTERS,
                partition=partition,
                offset=row.offset,
                timestamp=row.timestamp,
                value=row.value,
                key=row.key,
                headers=row.headers,
            )
            for partition, row in self._newest(Output.DEAD_LETTERS, limit)
        ]

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _newest(self, topic: Topic, limit: int) -> list[tuple[int, file.Row]]:
        each = max(1, limit // self._streams.partitions)
        found: list[tuple[int, file.Row]] = []
        with sqlite_errors(), transaction(self._connection, "DEFERRED"):
            extents = file.extents(self._connection)
            for partition in range(self._streams.partitions):
                stream = self._streams.number(topic, partition)
                rows = file.read(
                    self._connection,
                    stream,
                    max(extents[stream].start, extents[stream].end - each),
                    max_records=each,
                    max_bytes=64 * _MIB,
                )
                found += [(partition, row) for row in rows]
        return sorted(found, key=lambda item: item[1].timestamp)
