"""The worker's side of the embedded log: every partition, one worker, one transaction a commit."""

import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from seekwatch.collector import embedded_file as file
from seekwatch.collector.embedded_lock import WorkerLock
from seekwatch.collector.embedded_schema import Topic, connect, sqlite_errors, transaction
from seekwatch.collector.embedded_signal import Arrivals, data_version
from seekwatch.core.errors import RetryableError
from seekwatch.core.records import (
    Assignment,
    Batch,
    LogRecord,
    Output,
    OutputRecord,
    PartitionState,
    Position,
    RevocationListener,
    Signal,
    StoredOutput,
)

MAX_BATCH_RECORDS: Final = 1000
MAX_BATCH_BYTES: Final = 8 << 20
"""Of one `read()`, all partitions together: a slice that a worker handles between two polls."""

_PUBLISHED_SLICE: Final = 1000


class EmbeddedTraceLog:
    """All partitions of one file, read in turn.

    Raises:
        ConfigurationError: another worker has the file.
    """

    def __init__(self, path: Path, partitions: int, arrivals: Arrivals) -> None:
        self._worker = WorkerLock(path)
        self._connection = connect(path)
        self._streams = file.StreamTable(partitions)
        self._arrivals = arrivals
        self._read: dict[tuple[Signal, int], int] = {}
        self._assigned = False
        self._turn = 0
        self._closed = False
        # The reader waits without it, so that a commit from another thread gets in between.
        self._lock = threading.Lock()

    def read(self, timeout: float) -> Batch:
        """Return what has come; see `TraceLog.read`."""
        self._refuse_when_closed()
        with sqlite_errors():
            found = self._arrivals.wait_for(self._look, self._version, timeout)
            return found if found is not None else self._snapshot(())

    def commit(
        self, positions: Mapping[int, Position], records: Sequence[OutputRecord]
    ) -> Mapping[int, int]:
        """Publish and move in one SQLite transaction; see `TraceLog.commit`."""
        self._refuse_when_closed()
        rows = [
            file.NewRow(record.output, record.partition, record.key, record.value, record.headers)
            for record in records
        ]
        touched = {*positions, *(record.partition for record in records)}
        try:
            with self._lock, sqlite_errors(), transaction(self._connection):
                file.append(self._connection, self._streams, rows)
                file.move_positions(
                    self._connection, self._moved(positions), self._read_until(positions)
                )
                extents = file.extents(self._connection)
        except BaseException:
            # Whether the last step reached the disk is for the file to say, at the next read.
            self._assigned = False
            raise
        self._arrivals.announce()
        return {
            partition: extents[self._streams.number(Output.SCORES, partition)].end
            for partition in touched
        }

    def set_revocation_listener(self, listener: RevocationListener) -> None:
        """Accept a listener; partitions of an embedded log are never given away."""

    def close(self) -> None:
        """Release the file; calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._arrivals.announce()
        with self._lock:
            self._connection.close()
            self._worker.release()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise RetryableError("the embedded log is closed")

    def _version(self) -> int | None:
        with self._lock:
            return None if self._closed else data_version(self._connection)

    def _moved(self, positions: Mapping[int, Position]) -> dict[int, int]:
        moved: dict[int, int] = {}
        for partition, position in positions.items():
            for signal, offset in position.offsets.items():
                moved[self._streams.number(signal, partition)] = offset
            moved[self._streams.number(Output.SCORES, partition)] = position.scores_offset
        return moved

    def _read_until(self, positions: Mapping[int, Position]) -> dict[int, int]:
        return {
            self._streams.number(signal, partition): offset
            for partition, position in positions.items()
            for signal, offset in position.read_offsets.items()
        }

    def _look(self) -> Batch | None:
        """Return a batch that has something new in it."""
        with self._lock:
            if self._closed:
                return None
            with transaction(self._connection, "DEFERRED"):
                assigned = () if self._assigned else tuple(self._assign())
                batch = self._batch(assigned)
        if assigned:
            self._assigned = True
        return batch if batch.assigned or batch.records else None

    def _snapshot(self, records: Sequence[LogRecord]) -> Batch:
        with self._lock:
            if self._closed:
                return Batch()
            return Batch(records=records, states=self._states(file.extents(self._connection)))

    def _assign(self) -> Iterable[Assignment]:
        committed, extents = file.positions(self._connection), file.extents(self._connection)
        read = file.read_positions(self._connection)
        for partition in range(self._streams.partitions):
            offsets = {
                signal: self._start(signal, partition, committed, extents) for signal in Signal
            }
            scores = self._start(Output.SCORES, partition, committed, extents)
            self._read.update({(signal, partition): offsets[signal] for signal in Signal})
            yield Assignment(
                partition=partition,
                position=Position(
                    offsets=offsets,
                    scores_offset=scores,
                    read_offsets={
                        signal: read.get(self._streams.number(signal, partition), 0)
                        for signal in Signal
                    },
                ),
                published=tuple(self._published(partition, scores)),
            )

    def _start(
        self,
        topic: Topic,
        partition: int,
        committed: Mapping[int, int],
        extents: Mapping[int, file.Extent],
    ) -> int:
        stream = self._streams.number(topic, partition)
        return max(committed.get(stream, 0), extents[stream].start)

    def _published(self, partition: int, offset: int) -> Iterable[StoredOutput]:
        return read_outputs(
            self._connection, self._streams, Output.SCORES, partition, offset, limit=None
        )

    def _batch(self, assigned: Sequence[Assignment]) -> Batch:
        records: list[LogRecord] = []
        held = 0
        keys = sorted(self._read)
        self._turn += 1
        # Another partition begins each time, so that a busy one does not starve the others.
        for index in range(len(keys)):
            key = keys[(self._turn + index) % len(keys)]
            room = MAX_BATCH_RECORDS - len(records)
            if room <= 0 or held >= MAX_BATCH_BYTES:
                break
            found = self._read_some(key, room, MAX_BATCH_BYTES - held)
            held += sum(len(record.value) for record in found)
            records += found
        return Batch(
            records=records,
            assigned=assigned,
            states=self._states(file.extents(self._connection)),
        )

    def _read_some(self, key: tuple[Signal, int], records: int, size: int) -> list[LogRecord]:
        signal, partition = key
        rows = file.read(
            self._connection,
            self._streams.number(signal, partition),
            self._read[key],
            max_records=records,
            max_bytes=size,
        )
        if rows:
            self._read[key] = rows[-1].offset + 1
        return [
            LogRecord(
                signal=signal,
                partition=partition,
                offset=row.offset,
                timestamp=row.timestamp,
                key=row.key,
                value=row.value,
            )
            for row in rows
        ]

    def _states(self, extents: Mapping[int, file.Extent]) -> list[PartitionState]:
        states: list[PartitionState] = []
        for partition in range(self._streams.partitions if self._read else 0):
            read = {signal: self._read[signal, partition] for signal in Signal}
            end = {
                signal: extents[self._streams.number(signal, partition)].end for signal in Signal
            }
            states.append(
                PartitionState(partition=partition, read=read, end=end, at_end=read == end)
            )
        return states


def read_outputs(
    connection: sqlite3.Connection,
    streams: file.StreamTable,
    output: Output,
    partition: int,
    offset: int,
    *,
    limit: int | None,
) -> Iterable[StoredOutput]:
    """Yield records of one partition of an output topic from `offset` on, at most `limit`."""
    stream = streams.number(output, partition)
    left = limit
    while left is None or left > 0:
        rows = file.read(
            connection,
            stream,
            offset,
            max_records=_PUBLISHED_SLICE if left is None else min(left, _PUBLISHED_SLICE),
            max_bytes=MAX_BATCH_BYTES,
        )
        for row in rows:
            yield StoredOutput(
                output=output,
                partition=partition,
                offset=row.offset,
                timestamp=row.timestamp,
                value=row.value,
                key=row.key,
                headers=row.headers,
            )
        if not rows:
            return
        offset = rows[-1].offset + 1
        left = None if left is None else left - len(rows)
