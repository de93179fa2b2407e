"""Assembly: from the records of one partition to the cuts of its traces, by the log's clock.

Pure: what comes out depends on the records, the closing rules, what was published before, and the
monotonic times it is told. Spans stay encoded until their trace is cut. `docs/assembly.md` tells
the life of a trace.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from seekwatch.core.model import Record
from seekwatch.core.otlp.requests import span_head
from seekwatch.core.records import LogRecord, PartitionState, Position, Signal
from seekwatch.core.scorecard import CloseReason
from seekwatch.processors.clock import PartitionClock
from seekwatch.processors.closing import CORRECTABLE, ClosingRules
from seekwatch.processors.cuts import Cut, RecordedCut
from seekwatch.processors.record_decoder import (
    NO_TRACE,
    DeadLetter,
    Item,
    OwnsTrace,
    RecordDecoder,
    key_trace,
)
from seekwatch.processors.told import Told
from seekwatch.processors.trace_state import Stage, TraceState


class Counts(Record, frozen=True, kw_only=True):
    """What happened in one step.

    Attributes:
        read: records applied, by signal.
        skipped: of those, not decoded because their trace was published before.
        misrouted: records that hold another trace than their key says, or lie on a partition where
            their key does not belong.
        late: spans that came after their trace was closed for good; they are counted only.
    """

    read: Mapping[Signal, int]
    skipped: int = 0
    misrouted: int = 0
    late: int = 0


class Assembled(Record, frozen=True, kw_only=True):
    """What one step brought."""

    cuts: tuple[Cut, ...] = ()
    dead_letters: tuple[DeadLetter, ...] = ()
    counts: Counts


class PartitionAssembler:
    """Assembles the traces of one partition.

    Args:
        partition: its number.
        rules: when traces close.
        position: where reading starts (from the assignment).
        published: trace id (32 hex) to the cut published last and the scores offset to read it
            from; replays reproduce those cuts and publish nothing twice.
        owns: the log's partitioner, to find records on a wrong partition; None: not checked.
    """

    def __init__(
        self,
        partition: int,
        rules: ClosingRules,
        position: Position,
        *,
        published: Mapping[str, tuple[RecordedCut, int]] | None = None,
        owns: OwnsTrace | None = None,
    ) -> None:
        self.partition = partition
        self._rules = rules
        self._clock = PartitionClock(position.offsets)
        self._decoder = RecordDecoder(position.read_offsets, owns)
        self._traces: dict[bytes, TraceState] = {}
        # Closed for good and published: trace id to when it is forgotten, and to the scores offset
        # that tells of it.
        self._closed: dict[bytes, tuple[int, int]] = {}
        self._told = Told()
        self._deadlines: list[tuple[int, int, bytes]] = []
        self._sequence = 0
        self._step = _Step()
        for trace, (cut, scores_offset) in sorted((published or {}).items(), key=_scores_offset):
            self._recall(bytes.fromhex(trace), cut, scores_offset)
            self._told.note(_by_signal(cut.last_offsets), scores_offset)

    def add(self, records: Iterable[LogRecord], monotonic: float) -> None:
        """Queue records in the order of their offsets.

        Args:
            records: of this partition.
            monotonic: seconds of a clock that never goes back.
        """
        for record in records:
            self._clock.add(record, monotonic)

    def advance(self, state: PartitionState, monotonic: float) -> Assembled:
        """Apply what may be applied and fire every deadline that has passed, in order."""
        self._clock.observe(state)
        for time, record in self._clock.due(monotonic):
            self._fire(time)
            self._apply(record, time)
        self._fire(self._clock.now(monotonic))
        return self._take()

    def relieve(self, bytes_to_free: int, monotonic: float) -> Assembled:
        """Close traces, oldest first, until about `bytes_to_free` are let go with their commit.

        A trace inside its late window gives up the rest of the window.
        """
        freed = 0
        for trace in sorted(self._traces.values(), key=lambda t: (t.first_seen, t.sequence)):
            if freed >= bytes_to_free:
                break
            freed += trace.size
            if trace.stage is Stage.OPEN:
                self._close(trace, CloseReason.MEMORY, self._clock.now(monotonic))
            elif trace.stage is Stage.LATE_WINDOW and trace.size:
                self._end_window(trace)
        return self._take()

    def committed(self, traces: Iterable[str], scores_offset: int) -> None:
        """Learn that the pending cuts of `traces` are dealt with: published, or of no interest.

        Args:
            traces: trace ids, 32 hex characters, one for each cut.
            scores_offset: end of the scores partition before that commit.
        """
        for trace_id in traces:
            trace = self._traces.get(bytes.fromhex(trace_id))
            if trace is not None:
                trace.pending_cuts -= 1
                trace.scores_offset = scores_offset
                self._told.note(trace.last_offsets, scores_offset)
                if trace.stage is Stage.CLOSED and not trace.pending_cuts:
                    self._remember(trace.trace, trace.closed_at, scores_offset)

    def position(self, done: Iterable[str], scores_end: int) -> Position:
        """Return the position to commit together with the scorecards of `done`.

        Args:
            done: trace ids of the cuts that are in that commit or need no scorecard, one for each.
            scores_end: end of the scores partition before that commit.
        """
        finished = Counter(bytes.fromhex(trace) for trace in done)
        applied = self._clock.applied()
        offsets = dict(applied)
        scores_offset = min((offset for _, offset in self._closed.values()), default=scores_end)
        for trace in self._traces.values():
            if trace.holds_position(cuts_in_commit=finished[trace.trace]):
                for signal, first in trace.first_offsets.items():
                    offsets[signal] = min(offsets[signal], first)
        told_from = self._told.lowest(offsets)
        return Position(
            offsets=offsets,
            scores_offset=min(
                scores_offset, scores_end, scores_end if told_from is None else told_from
            ),
            read_offsets=self._decoder.reported_until(applied),
        )

    def now(self, monotonic: float) -> int:
        """Return the partition's time in milliseconds; 0 before any record."""
        return self._clock.now(monotonic)

    def held(self) -> Iterator[tuple[int, int]]:
        """Yield when it began (milliseconds) and its size (bytes) of every trace that is held."""
        return ((trace.first_seen, trace.size) for trace in self._traces.values() if trace.size)

    @property
    def held_bytes(self) -> int:
        """Bytes of spans and log records that are held."""
        return sum(trace.size for trace in self._traces.values())

    @property
    def open_traces(self) -> int:
        """How many traces are open."""
        return sum(trace.stage is Stage.OPEN for trace in self._traces.values())

    @property
    def oldest_open(self) -> int | None:
        """Milliseconds on the log's clock when the oldest open trace began."""
        first = (t.first_seen for t in self._traces.values() if t.stage is Stage.OPEN)
        return min(first, default=None)

    # --- applying records -------------------------------------------------------------------------

    def _apply(self, record: LogRecord, time: int) -> None:
        self._step.read[record.signal] += 1
        if self._skip(record):
            self._step.skipped += 1
            return
        for trace_id, items in self._decoder.decode(record).items():
            if trace_id != NO_TRACE:
                self._apply_items(trace_id, record, time, items)

    def _skip(self, record: LogRecord) -> bool:
        """Pass over a record of a published cut, undecoded; keep it for a possible revision 2."""
        key = key_trace(record)
        if key in self._closed:
            return self._decoder.reported(record)
        trace = self._traces.get(key)
        if trace is None or not trace.in_published_cut(record):
            return False
        trace.keep(record)
        return True

    def _apply_items(
        self, trace_id: bytes, record: LogRecord, time: int, items: list[Item]
    ) -> None:
        trace = self._traces.get(trace_id)
        if trace_id in self._closed or (trace is not None and trace.stage is Stage.CLOSED):
            if not self._decoder.reported(record):
                self._step.late += sum(head is not None for head, _ in items)
            return
        if trace is None:
            trace = self._open(trace_id, time)
        trace.touch(record, time)
        if trace.stage is Stage.LATE_WINDOW:
            self._add_late(trace, items)
        else:
            self._add(trace, items, time)

    def _add(self, trace: TraceState, items: list[Item], time: int) -> None:
        for index, item in enumerate(items):
            trace.add(item)
            cap = trace.outgrown(self._rules)
            if cap is not None:
                trace.truncated += sum(head is not None for head, _ in items[index + 1 :])
                self._close(trace, cap, time)
                return
        self._schedule(trace)

    def _add_late(self, trace: TraceState, items: list[Item]) -> None:
        for kept in trace.take_kept():
            for item in self._decoder.decode(kept).get(trace.trace, []):
                trace.add(item)
        for item in items:
            trace.add_late(item)
        if trace.outgrown(self._rules) is not None:
            self._end_window(trace)

    # --- opening and closing ----------------------------------------------------------------------

    def _open(self, trace_id: bytes, time: int) -> TraceState:
        self._sequence += 1
        trace = TraceState(trace_id, self.partition, self._sequence, time)
        self._traces[trace_id] = trace
        return trace

    def _recall(self, trace_id: bytes, cut: RecordedCut, scores_offset: int) -> None:
        correctable = self._correctable(cut.reason) and cut.revision == 1
        if not correctable or self._is_past(cut):
            self._remember(trace_id, cut.closed_at, scores_offset)
            return
        trace = self._open(trace_id, cut.closed_at)
        trace.recall(cut, scores_offset)
        self._schedule(trace)

    def _is_past(self, cut: RecordedCut) -> bool:
        """Tell whether the committed position has left a record of the cut behind.

        A trace holds the position until its late window is over, so then it was over; and a trace
        of which only a part is read again must not be amended by that part.
        """
        begin = self._clock.applied()
        return any(begin[Signal(key)] > first for key, first in cut.first_offsets.items())

    def _correctable(self, reason: CloseReason) -> bool:
        return reason in CORRECTABLE and self._rules.late_window > 0

    def _close(self, trace: TraceState, reason: CloseReason, at: int) -> None:
        trace.reason = reason
        trace.closed_at = at
        trace.stage = Stage.LATE_WINDOW if self._correctable(reason) else Stage.CLOSED
        self._cut(trace)
        if trace.stage is Stage.LATE_WINDOW:
            self._schedule(trace)

    def _end_window(self, trace: TraceState) -> None:
        trace.stage = Stage.CLOSED
        if trace.amended:
            self._cut(trace)
        elif not trace.pending_cuts:
            self._remember(trace.trace, trace.closed_at, trace.scores_offset)

    def _cut(self, trace: TraceState) -> None:
        last_end = max((span_head(item.raw).end for item in trace.spans.values()), default=0)
        self._step.cuts.append(trace.cut(last_end=last_end))

    def _remember(self, trace_id: bytes, closed_at: int, scores_offset: int) -> None:
        """Keep only that the trace is closed, so that later spans are late and nothing else."""
        self._traces.pop(trace_id, None)
        forgotten_at = self._rules.forgotten_at(closed_at)
        self._closed[trace_id] = (forgotten_at, scores_offset)
        self._sequence += 1
        heapq.heappush(self._deadlines, (forgotten_at, self._sequence, trace_id))

    # --- deadlines --------------------------------------------------------------------------------

    def _schedule(self, trace: TraceState) -> None:
        """Put the trace's deadline into the heap.

        A deadline that moved back needs no entry: the earlier one fires and is put in again.
        """
        deadline, _ = self._deadline(trace)
        if trace.deadline is None or deadline < trace.deadline:
            trace.deadline = deadline
            heapq.heappush(self._deadlines, (deadline, trace.sequence, trace.trace))

    def _deadline(self, trace: TraceState) -> tuple[int, CloseReason]:
        if trace.stage is Stage.LATE_WINDOW:
            return self._rules.window_end(trace.closed_at), trace.reason
        return self._rules.deadline(
            first=trace.first_seen, last=trace.last_seen, root_ended=trace.root_ended
        )

    def _fire(self, now: int) -> None:
        """Fire every deadline up to `now`, in order."""
        while self._deadlines and self._deadlines[0][0] <= now:
            at, sequence, trace_id = heapq.heappop(self._deadlines)
            trace = self._traces.get(trace_id)
            if trace is None:
                if self._closed.get(trace_id, (at + 1, 0))[0] <= at:
                    del self._closed[trace_id]
            elif trace.sequence == sequence and trace.deadline == at:
                trace.deadline = None
                self._pass_deadline(trace, at)

    def _pass_deadline(self, trace: TraceState, at: int) -> None:
        if trace.stage is Stage.CLOSED:
            return
        deadline, reason = self._deadline(trace)
        if deadline > at:
            self._schedule(trace)
        elif trace.stage is Stage.OPEN:
            self._close(trace, reason, at)
        else:
            self._end_window(trace)

    def _take(self) -> Assembled:
        step, self._step = self._step, _Step()
        return Assembled(
            cuts=tuple(step.cuts),
            dead_letters=self._decoder.take_dead_letters(),
            counts=Counts(
                read=step.read,
                skipped=step.skipped,
                misrouted=self._decoder.take_misrouted(),
                late=step.late,
            ),
        )


class _Step:
    """What the current step has brought so far."""

    def __init__(self) -> None:
        self.cuts: list[Cut] = []
        self.read: dict[Signal, int] = dict.fromkeys(Signal, 0)
        self.skipped = 0
        self.late = 0


def _scores_offset(published: tuple[str, tuple[RecordedCut, int]]) -> int:
    return published[1][1]


def _by_signal(offsets: Mapping[str, int]) -> dict[Signal, int]:
    return {Signal(signal): offset for signal, offset in offsets.items()}
