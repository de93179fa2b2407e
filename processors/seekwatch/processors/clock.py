"""The log's clock of one partition, and the order in which records of two topics are applied.

Time for all closing rules is the log's: the largest record timestamp seen. A topic that was read to
its end goes on with monotonic time, held back, so that a quiet trace on an idle partition still
closes. Spans and logs are two topics; the partition's clock is the earlier of the two, and records
are applied in the order of their time across both. So the same log gives the same cuts.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final

from seekwatch.core.records import LogRecord, PartitionState, Signal

HOLD_BACK_MS: Final = 2_000
"""How far the clock of a topic read to its end stays behind, in milliseconds: time for a record
that is already stamped to be seen."""


class _Stream:
    """The records of one topic's partition that were read and not yet applied."""

    __slots__ = ("applied", "at_end", "pending", "seen")

    def __init__(self, start: int) -> None:
        self.pending: deque[tuple[int, LogRecord]] = deque()
        self.seen = 0
        self.at_end = False
        self.applied = start


class PartitionClock:
    """Merges the topics of one partition and tells its time.

    Args:
        start: per signal, the offset that reading starts from.
    """

    def __init__(self, start: Mapping[Signal, int]) -> None:
        self._streams = {signal: _Stream(start.get(signal, 0)) for signal in Signal}
        self._latest = 0
        self._latest_at = 0.0

    def add(self, record: LogRecord, monotonic: float) -> None:
        """Queue a record; within a topic the clock never goes back."""
        stream = self._streams[record.signal]
        stream.seen = max(stream.seen, record.timestamp)
        stream.pending.append((stream.seen, record))
        if stream.seen > self._log_now(monotonic):
            self._latest, self._latest_at = stream.seen, monotonic

    def observe(self, state: PartitionState) -> None:
        """Take over which topics were read to their end."""
        for signal, stream in self._streams.items():
            caught_up = state.read.get(signal, 0) >= state.end.get(signal, 0)
            stream.at_end = state.end_known and caught_up

    def now(self, monotonic: float) -> int:
        """Return the partition's time in milliseconds; 0 before any record was seen."""
        if not self._latest:
            return 0
        idle = self._log_now(monotonic) - HOLD_BACK_MS
        return min(
            max(stream.seen, idle) if stream.at_end else stream.seen
            for stream in self._streams.values()
        )

    def due(self, monotonic: float) -> Iterator[tuple[int, LogRecord]]:
        """Yield what may be applied now as (time, record), in the order of time across topics."""
        limit = self.now(monotonic)
        while True:
            heads = [s for s in self._streams.values() if s.pending and s.pending[0][0] <= limit]
            if not heads:
                return
            stream = min(heads, key=lambda s: s.pending[0][0])
            time, record = stream.pending.popleft()
            stream.applied = record.offset + 1
            yield time, record

    def applied(self) -> dict[Signal, int]:
        """Return per signal the offset after the last record that was applied."""
        return {signal: stream.applied for signal, stream in self._streams.items()}

    @property
    def pending(self) -> int:
        """How many records were read and wait for the other topic's clock."""
        return sum(len(stream.pending) for stream in self._streams.values())

    def _log_now(self, monotonic: float) -> int:
        """A lower bound of the log's present time, from the latest record and monotonic time."""
        if not self._latest:
            return 0
        return self._latest + int((monotonic - self._latest_at) * 1000)
