"""Whether the worker lives and whether it keeps up, judged from the read position."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from seekwatch.core.records import LogRecord, PartitionState, Signal
from seekwatch.exporters.metrics_server import Readiness

LOOP_LIMIT: Final = 60.0
"""Seconds without a turn of the loop after which the process counts as hung. A commit's own
deadline is half of it."""


class _Progress(NamedTuple):
    read: Mapping[Signal, int]
    since: float
    timestamp: int | None


class Health:
    """What /healthz and /readyz answer; written by the loop, read by the metrics server.

    Args:
        stall_after: seconds of lag without a record read; 0 never calls it a stall.
        monotonic: seconds of a clock that never goes back.
        wall: seconds since the epoch.
    """

    def __init__(
        self,
        stall_after: float,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._stall_after = stall_after
        self._monotonic = monotonic
        self._wall = wall
        self._lock = threading.Lock()
        self._turned = monotonic()
        self._progress: dict[int, _Progress] = {}
        self._states: dict[int, PartitionState] = {}
        self._trouble: str | None = "the log was not read yet"
        self._read_at = self._turned
        self._stopping = False

    # --- told by the loop -------------------------------------------------------------------------

    def turned(self) -> None:
        """Note a turn of the loop."""
        with self._lock:
            self._turned = self._monotonic()

    def read(self, states: Iterable[PartitionState], records: Iterable[LogRecord]) -> None:
        """Note what a read brought."""
        newest: dict[int, int] = {}
        for record in records:
            newest[record.partition] = max(record.timestamp, newest.get(record.partition, 0))
        now = self._monotonic()
        with self._lock:
            self._trouble = None
            self._read_at = now
            self._states = {state.partition: state for state in states}
            self._progress = {
                partition: self._next(state, newest.get(partition), now)
                for partition, state in self._states.items()
            }

    def failed(self, why: str) -> None:
        """Note that the log cannot be reached. The loop lives: it tries again."""
        with self._lock:
            self._trouble = why
            self._turned = self._monotonic()

    @property
    def states(self) -> list[PartitionState]:
        """Where reading stood when the log was last read."""
        with self._lock:
            return list(self._states.values())

    def stopping(self) -> None:
        """Note that the end has begun: no more traffic, please."""
        with self._lock:
            self._stopping = True

    # --- asked by others --------------------------------------------------------------------------

    def alive(self) -> Readiness:
        """Tell whether the loop turns, and why not."""
        with self._lock:
            silence = self._monotonic() - self._turned
        return Readiness(silence < LOOP_LIMIT, f"the loop turned {silence:.1f} s ago")

    def ready(self) -> Readiness:
        """Tell whether the worker does its work, and why not."""
        alive = self.alive()
        if not alive.ready:
            return alive
        with self._lock:
            if self._stopping:
                return Readiness(False, "stopping")
            if self._trouble is not None:
                return Readiness(False, self._trouble)
            stalled = self._stalled()
            if stalled:
                names = ", ".join(map(str, stalled))
                return Readiness(False, f"partition {names}: records wait and none is read")
            return Readiness(True, f"{len(self._states)} partitions assigned")

    def lag(self, partition: int) -> float:
        """Return seconds that the read position of a partition is behind the log's end.

        While the log cannot be reached nobody knows its end, and the silence counts as lag.
        """
        with self._lock:
            silence = self._monotonic() - self._read_at if self._trouble is not None else 0.0
            return silence + self._behind(partition)

    def _behind(self, partition: int) -> float:
        state, progress = self._states.get(partition), self._progress.get(partition)
        if state is None or progress is None or state.read == state.end:
            return 0.0
        if progress.timestamp is None:
            return self._monotonic() - progress.since
        return max(0.0, self._wall() - progress.timestamp / 1000)

    def _next(self, state: PartitionState, newest: int | None, now: float) -> _Progress:
        before = self._progress.get(state.partition)
        if before is None:
            return _Progress(state.read, now, newest)
        timestamp = before.timestamp if newest is None else newest
        moved = before.read != state.read or state.at_end
        return _Progress(state.read, now if moved else before.since, timestamp)

    def _stalled(self) -> list[int]:
        if not self._stall_after:
            return []
        now = self._monotonic()
        return [
            partition
            for partition, progress in sorted(self._progress.items())
            if now - progress.since > self._stall_after and not self._states[partition].at_end
        ]
