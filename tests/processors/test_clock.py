"""The clock of a partition: never ahead of records to come, never stuck behind silence."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.records import LogRecord, PartitionState, Signal
from seekwatch.processors.clock import HOLD_BACK_MS, PartitionClock

START = 1_700_000_000_000
BEGIN = {Signal.TRACES: 0, Signal.LOGS: 0}


def record(signal: Signal, offset: int, timestamp: int) -> LogRecord:
    return LogRecord(
        signal=signal, partition=0, offset=offset, timestamp=timestamp, key=None, value=b""
    )


def state(*at_end: Signal) -> PartitionState:
    """Where reading stands when the topics in `at_end` were read to their end."""
    return PartitionState(
        partition=0,
        read=dict.fromkeys(Signal, 1),
        end={signal: 1 if signal in at_end else 2 for signal in Signal},
        at_end=set(at_end) == set(Signal),
    )


def clock_with(records: Sequence[LogRecord], *at_end: Signal) -> PartitionClock:
    clock = PartitionClock(BEGIN)
    for each in records:
        clock.add(each, 0.0)
    clock.observe(state(*at_end))
    return clock


timestamps = st.lists(st.integers(START, START + 600_000), min_size=1, max_size=20)
seconds = st.floats(0, 10_000, allow_nan=False)


@given(timestamps, seconds)
def test_a_lagging_topic_holds_the_clock_at_its_own_records(
    stamped: list[int], elapsed: float
) -> None:
    records = [record(Signal.TRACES, offset, at) for offset, at in enumerate(stamped)]
    clock = clock_with(records, Signal.LOGS)
    assert clock.now(elapsed) <= max(stamped)


@given(timestamps, seconds)
def test_an_idle_partition_goes_on_with_monotonic_time_held_back(
    stamped: list[int], elapsed: float
) -> None:
    records = [record(Signal.TRACES, offset, at) for offset, at in enumerate(stamped)]
    clock = clock_with(records, *Signal)
    newest = max(stamped)
    assert clock.now(elapsed) <= newest + elapsed * 1000
    assert clock.now(elapsed) >= newest + int(elapsed * 1000) - HOLD_BACK_MS


@given(timestamps, timestamps)
def test_the_clock_of_two_topics_is_the_earlier_one(spans: list[int], logs: list[int]) -> None:
    records = [record(Signal.TRACES, offset, at) for offset, at in enumerate(spans)]
    records += [record(Signal.LOGS, offset, at) for offset, at in enumerate(logs)]
    clock = clock_with(records)
    assert clock.now(0.0) == min(max(spans), max(logs))


@given(timestamps, timestamps)
def test_records_are_applied_in_the_order_of_time_across_topics_and_of_offsets_within(
    spans: list[int], logs: list[int]
) -> None:
    records = [record(Signal.TRACES, offset, at) for offset, at in enumerate(spans)]
    records += [record(Signal.LOGS, offset, at) for offset, at in enumerate(logs)]
    applied = list(clock_with(records, *Signal).due(10_000.0))
    times = [time for time, _ in applied]
    assert times == sorted(times)
    assert len(applied) == len(records)
    for signal in Signal:
        offsets = [each.offset for _, each in applied if each.signal is signal]
        assert offsets == sorted(offsets)


@given(timestamps)
def test_a_record_waits_until_the_other_topic_can_no_longer_be_earlier(stamped: list[int]) -> None:
    records = [record(Signal.TRACES, offset, at) for offset, at in enumerate(stamped)]
    clock = clock_with(records)
    assert list(clock.due(10_000.0)) == []
    assert clock.pending == len(records)
    assert clock.applied() == BEGIN


@given(timestamps, seconds)
def test_while_the_end_of_the_log_is_not_known_the_clock_stands_at_its_records(
    stamped: list[int], elapsed: float
) -> None:
    clock = PartitionClock(BEGIN)
    for signal in Signal:
        for offset, at in enumerate(stamped):
            clock.add(record(signal, offset, at), 0.0)
    clock.observe(
        PartitionState(
            partition=0,
            read=dict.fromkeys(Signal, 1),
            end=dict.fromkeys(Signal, 1),
            at_end=False,
            end_known=False,
        )
    )
    assert clock.now(elapsed) == max(stamped)


def test_a_partition_without_records_has_no_time() -> None:
    assert clock_with([], *Signal).now(10_000.0) == 0


def test_a_topic_that_never_had_a_record_does_not_stop_the_other() -> None:
    clock = clock_with([record(Signal.TRACES, 0, START)], *Signal)
    assert list(clock.due(0.0)) == []
    assert [each.offset for _, each in clock.due(HOLD_BACK_MS / 1000)] == [0]
