"""Assembly gives the same cuts for the same log, whatever happens on the way."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

from seekwatch.core.otlp.requests import span_head
from seekwatch.core.records import LogRecord, PartitionState, Position, Signal
from seekwatch.core.scorecard import CloseReason
from seekwatch.core.testing import log, logs_request, span, traces_request
from seekwatch.processors.assembly import Assembled, PartitionAssembler
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.cuts import Cut, RecordedCut
from seekwatch.processors.record_decoder import OwnsTrace

# Nothing is forgotten within a test's minutes: a span that comes after its trace was forgotten
# opens it anew, and when that is depends on when the commit came.
RULES = ClosingRules(
    quiet=10, idle=60, max_age=600, late_window=30, remember=100_000, span_cap=50, byte_cap=10**6
)
START = 1_700_000_000_000
EMPTY = Position(offsets={Signal.TRACES: 0, Signal.LOGS: 0})


def trace_id(number: int) -> str:
    return f"{number:032x}"


def span_record(
    offset: int,
    seconds: float,
    trace: int,
    *spans: tuple[int, bool],
    signal: Signal = Signal.TRACES,
) -> LogRecord:
    """A record of spans (number, is root) of one trace."""
    if signal is Signal.LOGS:
        value = logs_request(
            [log("note", trace=trace_id(trace), body=f"log {number}") for number, _ in spans]
        )
    else:
        value = traces_request(
            [
                span(
                    f"span-{number}",
                    trace=trace_id(trace),
                    span=f"{number:016x}",
                    parent=None if root else "f" * 16,
                )
                for number, root in spans
            ]
        )
    return LogRecord(
        signal=signal,
        partition=0,
        offset=offset,
        timestamp=START + round(seconds * 1000),
        key=trace_id(trace).encode(),
        value=value,
    )


@dataclass
class Run:
    """A reader of one partition that commits and can be stopped at any moment."""

    records: Sequence[LogRecord]
    rules: ClosingRules = RULES
    position: Position = EMPTY
    published: list[Cut] = field(default_factory=list)
    dead_letters: int = 0

    def start(self) -> None:
        """Begin, or begin again after a crash, from the committed position."""
        recalled = {
            cut.trace: (RecordedCut.of(cut.envelope), offset)
            for offset, cut in enumerate(self.published)
            if offset >= self.position.scores_offset
        }
        self.assembler = PartitionAssembler(0, self.rules, self.position, published=recalled)
        self.next = {signal: self.position.offsets.get(signal, 0) for signal in Signal}
        self.pending: list[Cut] = []
        self.pending_dead = 0

    def read(self, count: int, monotonic: float = 0.0, *, at_end: bool = False) -> None:
        """Read up to `count` records of each topic and take the cuts."""
        ends = {s: sum(r.signal is s for r in self.records) for s in Signal}
        for signal in Signal:
            begin = self.next[signal]
            batch = [
                r for r in self.records if r.signal is signal and begin <= r.offset < begin + count
            ]
            self.assembler.add(batch, monotonic)
            self.next[signal] = begin + len(batch)
        if not at_end:
            ends = {signal: end + 1 for signal, end in ends.items()}
        state = PartitionState(partition=0, read=dict(self.next), end=ends, at_end=at_end)
        self.take(self.assembler.advance(state, monotonic))

    def take(self, assembled: Assembled) -> None:
        self.pending.extend(assembled.cuts)
        self.pending_dead += len(assembled.dead_letters)

    def commit(self) -> None:
        done = [cut.trace for cut in self.pending]
        end = len(self.published)
        self.position = self.assembler.position(done, end)
        self.published.extend(self.pending)
        self.dead_letters += self.pending_dead
        self.assembler.committed(done, end)
        self.pending, self.pending_dead = [], 0

    def drain(self) -> None:
        """Read everything, then let the idle clock close what is open."""
        self.read(len(self.records) + 1, 0.0, at_end=True)
        for monotonic in (100.0, 1_000.0, 2_000.0):
            self.read(1, monotonic, at_end=True)
        self.commit()


def cut_facts(cut: Cut) -> tuple[str, ...]:
    """What must be equal however the cut came about."""
    spans = sorted((span_head(item.raw).span, item.raw) for item in cut.spans)
    envelope = cut.envelope
    facts = (
        envelope.revision,
        envelope.reason,
        envelope.closed_at,
        sorted(envelope.last_offsets.items()),
        spans,
        sorted(item.raw for item in cut.logs),
    )
    return (cut.trace, *(repr(fact) for fact in facts))


def uninterrupted(records: Sequence[LogRecord]) -> list[tuple[str, ...]]:
    run = Run(records)
    run.start()
    run.drain()
    return sorted(cut_facts(cut) for cut in run.published)


@st.composite
def logs_of_traces(draw: st.DrawFn) -> list[LogRecord]:
    """Records of a few interleaved traces over some minutes, with late and repeated spans."""
    records: list[LogRecord] = []
    offsets: Counter[Signal] = Counter()
    seconds = 0.0
    for _ in range(draw(st.integers(1, 25))):
        # Gaps cross the quiet, late and idle limits often.
        seconds += draw(st.sampled_from([0.0, 0.5, 4.0, 11.0, 31.0, 61.0]))
        signal = draw(st.sampled_from([Signal.TRACES] * 4 + [Signal.LOGS]))
        trace = draw(st.integers(1, 4))
        numbers = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
        spans = [(number, number == 1) for number in numbers]
        records.append(span_record(offsets[signal], seconds, trace, *spans, signal=signal))
        offsets[signal] += 1
    return records


@given(logs_of_traces(), st.data())
@settings(max_examples=150, deadline=None)
def test_cuts_do_not_depend_on_how_the_log_is_read_in_batches(
    records: list[LogRecord], data: st.DataObject
) -> None:
    run = Run(records)
    run.start()
    while any(run.next[signal] < sum(r.signal is signal for r in records) for signal in Signal):
        run.read(data.draw(st.integers(1, 4)))
        if data.draw(st.booleans()):
            run.commit()
    run.drain()
    assert sorted(cut_facts(c) for c in run.published) == uninterrupted(records)


@given(logs_of_traces(), st.data())
@settings(max_examples=300, deadline=None)
def test_a_crash_at_any_moment_changes_no_cut_and_publishes_none_twice(
    records: list[LogRecord], data: st.DataObject
) -> None:
    run = Run(records)
    run.start()
    for _ in range(data.draw(st.integers(1, 12))):
        step = data.draw(st.sampled_from(["read", "read", "commit", "crash"]))
        if step == "read":
            run.read(data.draw(st.integers(1, 6)))
        elif step == "commit":
            run.commit()
        else:
            run.start()
    run.drain()
    assert sorted(cut_facts(c) for c in run.published) == uninterrupted(records)


@given(logs_of_traces())
@settings(max_examples=150, deadline=None)
def test_each_trace_has_one_first_revision_and_at_most_one_second(
    records: list[LogRecord],
) -> None:
    revisions = Counter((fact[0], fact[1]) for fact in uninterrupted(records))
    assert set(revisions.values()) == {1}
    assert {revision for _, revision in revisions} <= {"1", "2"}
    assert {trace for trace, _ in revisions} == {r.key.decode() for r in records if r.key}


@given(logs_of_traces(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_second_crash_while_replaying_is_like_the_first(
    records: list[LogRecord], data: st.DataObject
) -> None:
    run = Run(records)
    run.start()
    run.read(data.draw(st.integers(1, 30)))
    run.commit()
    for _ in range(3):
        run.start()
        run.read(data.draw(st.integers(1, 10)))
        if data.draw(st.booleans()):
            run.commit()
    run.start()
    run.drain()
    assert sorted(cut_facts(c) for c in run.published) == uninterrupted(records)


@given(st.lists(st.sampled_from([3.0, 15.0, 60.0]), min_size=3, max_size=20), st.data())
@settings(max_examples=150, deadline=None)
def test_traces_that_were_forgotten_behind_an_open_one_are_not_published_again(
    gaps: list[float], data: st.DataObject
) -> None:
    rules = msgspec.structs.replace(RULES, idle=50_000, max_age=100_000, remember=20)
    records = [span_record(0, 0, 1, (2, False))]
    for number, gap in enumerate(gaps, start=1):
        seconds = (records[-1].timestamp - START) / 1000 + gap
        records.append(span_record(number, seconds, 1 + number, (1, True)))
    run = Run(records, rules)
    for _ in range(data.draw(st.integers(2, 5))):
        run.start()
        for monotonic in (0.0, 50.0, 100.0):
            run.read(data.draw(st.integers(1, 8)), monotonic, at_end=True)
            run.commit()
    run.start()
    run.drain()
    assert run.position.offsets[Signal.TRACES] == 0
    assert sorted(cut.trace for cut in run.published) == [
        r.key.decode() for r in records[1:] if r.key
    ]


def published(records: Sequence[LogRecord], rules: ClosingRules = RULES) -> list[Cut]:
    run = Run(records, rules)
    run.start()
    run.drain()
    return run.published


def test_a_trace_closes_when_its_root_has_ended_and_the_quiet_period_passed() -> None:
    [cut] = published([span_record(0, 0, 1, (2, False)), span_record(1, 3, 1, (1, True))])
    assert cut.envelope.reason is CloseReason.COMPLETE
    assert cut.envelope.closed_at == START + 13_000


def test_a_trace_without_root_closes_by_idle_time() -> None:
    [cut] = published([span_record(0, 0, 1, (2, False))])
    assert cut.envelope.reason is CloseReason.IDLE
    assert cut.envelope.closed_at == START + 60_000


def test_a_run_of_forty_minutes_stays_open_while_spans_come() -> None:
    rules = ClosingRules(quiet=10, idle=60, max_age=3_600)
    records = [span_record(n, 50.0 * n, 1, (n + 2, False)) for n in range(48)]
    records.append(span_record(48, 50.0 * 48, 1, (1, True)))
    [cut] = published(records, rules)
    assert cut.envelope.reason is CloseReason.COMPLETE
    assert len(cut.spans) == 49


def test_a_trace_that_never_rests_closes_at_the_maximum_age() -> None:
    records = [span_record(n, 20.0 * n, 1, (n + 2, False)) for n in range(40)]
    first, *_ = published(records)
    assert first.envelope.reason is CloseReason.MAX_AGE
    assert first.envelope.closed_at == START + 600_000


def test_late_spans_make_one_second_revision_when_the_window_ends() -> None:
    first, second = published(
        [
            span_record(0, 0, 1, (1, True)),
            span_record(1, 20, 1, (2, False)),
            span_record(2, 25, 1, (3, False)),
            span_record(3, 90, 1, (4, False)),
        ]
    )
    assert (first.envelope.revision, second.envelope.revision) == (1, 2)
    assert second.envelope.closed_at == first.envelope.closed_at
    assert second.envelope.late_spans == 2
    assert len(second.spans) == 3


def test_spans_after_the_late_window_are_counted_only() -> None:
    run = Run([span_record(0, 0, 1, (1, True)), span_record(1, 100, 1, (2, False))])
    run.start()
    run.assembler.add(run.records, 0.0)
    state = PartitionState(
        partition=0, read={Signal.TRACES: 2}, end={Signal.TRACES: 2}, at_end=True
    )
    assembled = run.assembler.advance(state, 0.0)
    late = assembled.counts.late
    assembled = run.assembler.advance(state, 10.0)
    assert late + assembled.counts.late == 1
    assert len(run.published) == 0


def test_a_capped_trace_is_cut_once_and_never_corrected() -> None:
    spans = [(number, number == 1) for number in range(1, 61)]
    [cut] = published([span_record(0, 0, 1, *spans), span_record(1, 5, 1, (70, False))])
    assert cut.envelope.reason is CloseReason.SPAN_CAP
    assert len(cut.spans) == 50
    assert cut.truncated_spans == 10


def test_of_two_spans_with_one_id_the_same_one_stays_in_either_order() -> None:
    def with_name(offset: int, name: str) -> LogRecord:
        value = traces_request([span(name, trace=trace_id(1), span=f"{1:016x}")])
        return LogRecord(
            signal=Signal.TRACES,
            partition=0,
            offset=offset,
            timestamp=START,
            key=trace_id(1).encode(),
            value=value,
        )

    [one] = published([with_name(0, "a"), with_name(1, "b")])
    [other] = published([with_name(0, "b"), with_name(1, "a")])
    assert one.spans == other.spans
    assert one.envelope.duplicate_spans == 1


def test_an_undecodable_record_is_a_dead_letter_once_and_costs_nothing_else() -> None:
    garbage = LogRecord(
        signal=Signal.TRACES, partition=0, offset=1, timestamp=START, key=None, value=b"\xff\xff"
    )
    records = [span_record(0, 0, 1, (2, False)), garbage, span_record(2, 1, 2, (1, True))]
    run = Run(records)
    run.start()
    run.read(10, at_end=True)
    run.read(1, 5.0, at_end=True)
    run.commit()
    run.start()
    run.drain()
    assert run.dead_letters == 1
    assert {cut.trace for cut in run.published} == {trace_id(1), trace_id(2)}


def test_a_replay_that_is_cut_short_itself_does_not_bury_a_record_again() -> None:
    garbage = LogRecord(
        signal=Signal.TRACES, partition=0, offset=3, timestamp=START, key=None, value=b"\xff\xff"
    )
    records = [*(span_record(n, 0, n + 1, (2, False)) for n in range(3)), garbage]
    run = Run(records)
    for count in (4, 2, 4):
        run.start()
        run.read(count, at_end=True)
        run.read(0, 5.0, at_end=True)
        run.commit()
    assert run.dead_letters == 1


def test_one_bad_span_does_not_take_its_neighbours_along() -> None:
    good = traces_request([span("good", trace=trace_id(1), span=f"{1:016x}")])
    bad = traces_request([ProtoSpan(name="without ids")])
    record = LogRecord(
        signal=Signal.TRACES,
        partition=0,
        offset=0,
        timestamp=START,
        key=trace_id(1).encode(),
        value=good + bad,
    )
    run = Run([record])
    run.start()
    run.drain()
    assert [len(cut.spans) for cut in run.published] == [1]
    assert run.dead_letters == 1


def misrouted(record: LogRecord, owns: OwnsTrace | None = None) -> int:
    assembler = PartitionAssembler(0, RULES, EMPTY, owns=owns)
    assembler.add([record], 0.0)
    state = PartitionState(
        partition=0, read={Signal.TRACES: 1}, end={Signal.TRACES: 1}, at_end=True
    )
    return sum(assembler.advance(state, at).counts.misrouted for at in (0.0, 5.0, 10.0))


def test_a_record_that_holds_another_trace_than_its_key_is_misrouted() -> None:
    record = span_record(0, 0, 1, (1, True))
    assert misrouted(record) == 0
    assert misrouted(msgspec.structs.replace(record, key=trace_id(2).encode())) == 1
    assert misrouted(msgspec.structs.replace(record, key=None)) == 1


def test_a_record_on_a_partition_where_its_key_does_not_belong_is_misrouted() -> None:
    record = span_record(0, 0, 1, (1, True))
    assert misrouted(record, owns=lambda _: True) == 0
    assert misrouted(record, owns=lambda _: False) == 1


def test_a_closed_trace_is_forgotten_in_the_end() -> None:
    rules = msgspec.structs.replace(RULES, remember=100)
    run = Run([span_record(0, 0, 1, (1, True))], rules)
    run.start()
    run.drain()
    run.records = [*run.records, span_record(1, 5_000, 1, (2, False))]
    for monotonic in (3_000.0, 3_001.0, 4_000.0):
        run.read(1, monotonic, at_end=True)
    run.commit()
    assert [cut.envelope.revision for cut in run.published] == [1, 1]


def test_short_memory_closes_the_oldest_trace_first() -> None:
    records = [span_record(n, float(n), n + 1, (2, False)) for n in range(3)]
    assembler = PartitionAssembler(0, RULES, EMPTY)
    assembler.add(records, 0.0)
    state = PartitionState(
        partition=0, read={Signal.TRACES: 3}, end={Signal.TRACES: 3}, at_end=True
    )
    assembler.advance(state, 5.0)
    assembled = assembler.relieve(1, 5.0)
    assert [cut.trace for cut in assembled.cuts] == [trace_id(1)]
    assert assembled.cuts[0].envelope.reason is CloseReason.MEMORY


def test_the_position_stays_before_the_oldest_trace_that_is_still_needed() -> None:
    records = [
        span_record(0, 0, 1, (2, False)),
        span_record(1, 1, 2, (1, True)),
        span_record(2, 50, 3, (1, True)),
    ]
    run = Run(records)
    run.start()
    run.read(10, at_end=True)
    run.read(1, 5.0, at_end=True)
    run.commit()
    assert [cut.trace for cut in run.published] == [trace_id(2)]
    assert run.position.offsets[Signal.TRACES] == 0
    assert run.position.read_offsets[Signal.TRACES] == 3
