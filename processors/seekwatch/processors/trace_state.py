"""What is held for one trace between its first record and its last possible revision."""

import hashlib
from enum import Enum, auto

from seekwatch.core.otlp.requests import RawItem
from seekwatch.core.records import LogRecord, Signal
from seekwatch.core.scorecard import CloseReason, Envelope
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.cuts import Cut, RecordedCut
from seekwatch.processors.record_decoder import Item


class Stage(Enum):
    """Where a trace is in its life."""

    OPEN = auto()
    LATE_WINDOW = auto()
    CLOSED = auto()


class TraceState:
    """One trace. Times are milliseconds of the log's clock, offsets are per signal.

    Attributes:
        stage: open, closed with its late window running, or closed for good.
        spans: by span id.
        logs: by their own bytes, so that one delivered twice counts once.
        late: spans that came inside the late window.
        amended: something came inside the late window, so there will be a revision 2.
        pending_cuts: how many cuts of it wait to be published.
        scores_offset: where the scores partition tells of its latest revision.
        deadline: of its entry in the heap of deadlines, None without one.
    """

    __slots__ = (
        "_kept",
        "_recorded",
        "amended",
        "closed_at",
        "deadline",
        "duplicates",
        "first_offsets",
        "first_seen",
        "last_offsets",
        "last_seen",
        "late",
        "logs",
        "partition",
        "pending_cuts",
        "reason",
        "revision",
        "root_ended",
        "scores_offset",
        "sequence",
        "size",
        "spans",
        "stage",
        "trace",
        "truncated",
    )

    def __init__(self, trace: bytes, partition: int, sequence: int, time: int) -> None:
        self.trace = trace
        self.partition = partition
        self.sequence = sequence
        self.stage = Stage.OPEN
        self.first_seen = self.last_seen = time
        self.first_offsets: dict[Signal, int] = {}
        self.last_offsets: dict[Signal, int] = {}
        self.root_ended = False
        self.spans: dict[bytes, RawItem] = {}
        self.logs: dict[bytes, RawItem] = {}
        self.size = 0
        self.truncated = 0
        self.duplicates = 0
        self.deadline: int | None = None
        self.reason = CloseReason.IDLE
        self.closed_at = 0
        self.revision = 0
        self.late = 0
        self.amended = False
        self.pending_cuts = 0
        self.scores_offset = _NEVER_PUBLISHED
        self._recorded: RecordedCut | None = None
        self._kept: list[LogRecord] = []

    def recall(self, cut: RecordedCut, scores_offset: int) -> None:
        """Take over a cut that was published before, its late window still running."""
        self._recorded = cut
        self.first_offsets = {Signal(key): offset for key, offset in cut.first_offsets.items()}
        self.last_offsets = {Signal(key): offset for key, offset in cut.last_offsets.items()}
        self.reason = cut.reason
        self.closed_at = cut.closed_at
        self.revision = cut.revision
        self.scores_offset = scores_offset
        self.stage = Stage.LATE_WINDOW

    def touch(self, record: LogRecord, time: int) -> None:
        """Note that a record of this trace came."""
        self.first_offsets.setdefault(record.signal, record.offset)
        last = self.last_offsets.get(record.signal, record.offset)
        self.last_offsets[record.signal] = max(last, record.offset)
        self.last_seen = time

    def add(self, item: Item) -> bool:
        """Add a span or a log record.

        Of two spans with one id the one with the smaller content hash stays, whichever came first.

        Returns:
            Whether it was new to the trace.
        """
        head, raw = item
        if head is None:
            return self._add_log(raw)
        known = self.spans.get(head.span)
        if known is None:
            self.spans[head.span] = raw
            self.size += raw.size
            self.root_ended = self.root_ended or head.is_root
            return True
        self.duplicates += 1
        if known != raw and _content_hash(raw) < _content_hash(known):
            self.spans[head.span] = raw
            self.size += raw.size - known.size
        return False

    def add_late(self, item: Item) -> None:
        """Add what came inside the late window."""
        if self.add(item):
            self.amended = True
            self.late += item[0] is not None

    def outgrown(self, rules: ClosingRules) -> CloseReason | None:
        """Return the cap that the trace has reached, if any."""
        if len(self.spans) >= rules.span_cap:
            return CloseReason.SPAN_CAP
        return CloseReason.BYTE_CAP if self.size >= rules.byte_cap else None

    def in_published_cut(self, record: LogRecord) -> bool:
        """Tell whether a record that is read again was part of the published cut."""
        if self._recorded is None:
            return False
        return record.offset <= self._recorded.last_offsets.get(record.signal, -1)

    def keep(self, record: LogRecord) -> None:
        """Keep a record of the published cut, undecoded."""
        self._kept.append(record)
        self.size += len(record.value)

    def take_kept(self) -> list[LogRecord]:
        """Return and forget the records kept so far."""
        kept, self._kept = self._kept, []
        self.size -= sum(len(record.value) for record in kept)
        return kept

    def holds_position(self, *, cuts_in_commit: int) -> bool:
        """Tell whether the committed position must stay before this trace's first record."""
        return self.stage is not Stage.CLOSED or self.pending_cuts > cuts_in_commit

    def cut(self, *, last_end: int) -> Cut:
        """Return the trace as it stands, as its next revision."""
        self.revision += 1
        self.pending_cuts += 1
        trace = self.trace.hex()
        return Cut(
            trace=trace,
            spans=tuple(self.spans.values()),
            logs=tuple(self.logs.values()),
            truncated_spans=self.truncated,
            last_end=last_end,
            envelope=Envelope(
                trace=trace,
                partition=self.partition,
                first_offsets={str(s): offset for s, offset in self.first_offsets.items()},
                last_offsets={str(s): offset for s, offset in self.last_offsets.items()},
                reason=self.reason,
                closed_at=self.closed_at,
                revision=self.revision,
                late_spans=self.late,
                duplicate_spans=self.duplicates,
            ),
        )

    def _add_log(self, raw: RawItem) -> bool:
        if raw.raw in self.logs:
            return False
        self.logs[raw.raw] = raw
        self.size += raw.size
        return True


_NEVER_PUBLISHED = 2**63 - 1
"""An offset beyond any: a trace without a scorecard holds back no scores offset."""


def _content_hash(item: RawItem) -> bytes:
    return hashlib.blake2b(item.raw + item.resource + item.scope, digest_size=16).digest()
