"""A consumer of the embedded log's output topics, with a position of its own."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from seekwatch.collector import embedded_file as file
from seekwatch.collector.embedded_schema import connect, sqlite_errors, transaction
from seekwatch.collector.embedded_signal import Arrivals, data_version
from seekwatch.collector.embedded_trace_log import MAX_BATCH_BYTES, read_outputs
from seekwatch.core.errors import RetryableError
from seekwatch.core.records import Output, StoredOutput

_RECORDS_PER_PARTITION: Final = 200


class EmbeddedOutputReader:
    """Reads all partitions of some outputs; see `EmbeddedLog.output_reader`."""

    def __init__(
        self,
        path: Path,
        partitions: int,
        arrivals: Arrivals,
        outputs: Sequence[Output],
        consumer: str | None,
        *,
        from_end: bool = False,
    ) -> None:
        self._connection = connect(path)
        self._streams = file.StreamTable(partitions)
        self._arrivals = arrivals
        self._outputs = tuple(outputs)
        self._consumer = consumer
        self._closed = False
        self._lock = threading.Lock()
        with sqlite_errors(), transaction(self._connection):
            self._positions = self._start(from_end=from_end)
            if consumer is not None:
                # Known from now on: a full file keeps what this consumer has not read.
                file.move_consumer(self._connection, consumer, self._positions)

    def read(self, timeout: float) -> Sequence[StoredOutput]:
        """Return what was committed since the last call; see `OutputReader.read`."""
        if self._closed:
            raise RetryableError("the embedded log is closed")
        with sqlite_errors():
            found = self._arrivals.wait_for(self._look, self._version, timeout)
        return found or ()

    def commit(self) -> None:
        """Keep the position; see `OutputReader.commit`."""
        if self._consumer is None:
            return
        with self._lock, sqlite_errors(), transaction(self._connection):
            file.move_consumer(self._connection, self._consumer, self._positions)

    def close(self) -> None:
        """Release the file; calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._arrivals.announce()
        with self._lock:
            self._connection.close()

    def _version(self) -> int | None:
        with self._lock:
            return None if self._closed else data_version(self._connection)

    def _start(self, *, from_end: bool) -> dict[int, int]:
        extents = file.extents(self._connection)
        kept = file.consumer_offsets(self._connection, self._consumer) if self._consumer else {}
        positions: dict[int, int] = {}
        for output in self._outputs:
            for stream in self._streams.of(output):
                first = extents[stream].end if from_end else extents[stream].start
                positions[stream] = max(kept.get(stream, first), extents[stream].start)
        return positions

    def _look(self) -> list[StoredOutput] | None:
        found: list[StoredOutput] = []
        with self._lock:
            if self._closed:
                return None
            with transaction(self._connection, "DEFERRED"):
                for output in self._outputs:
                    for partition in range(self._streams.partitions):
                        found += self._read_some(output, partition)
                        if sum(len(record.value) for record in found) >= MAX_BATCH_BYTES:
                            return found
        return found or None

    def _read_some(self, output: Output, partition: int) -> list[StoredOutput]:
        stream = self._streams.number(output, partition)
        rows = list(
            read_outputs(
                self._connection,
                self._streams,
                output,
                partition,
                self._positions[stream],
                limit=_RECORDS_PER_PARTITION,
            )
        )
        if rows:
            self._positions[stream] = rows[-1].offset + 1
        return rows
