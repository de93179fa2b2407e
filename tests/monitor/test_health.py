"""Liveness and readiness are judged from the read position, never from the committed one."""

from seekwatch.core.records import PartitionState, Signal
from seekwatch.core.testing import START, FixedClock, log_record
from seekwatch.monitor.worker.health import LOOP_LIMIT, Health

STALL = 60.0


def _state(read: int, end: int, *, partition: int = 0) -> PartitionState:
    return PartitionState(
        partition=partition,
        read={Signal.TRACES: read, Signal.LOGS: 0},
        end={Signal.TRACES: end, Signal.LOGS: 0},
        at_end=read == end,
    )


def _health(clock: FixedClock, stall_after: float = STALL) -> Health:
    return Health(stall_after, monotonic=clock, wall=clock)


def test_not_ready_before_the_log_was_read() -> None:
    clock = FixedClock()
    health = _health(clock)
    assert not health.ready().ready
    health.read([_state(0, 0)], [])
    assert health.ready() == (True, "1 partitions assigned")


def test_a_loop_that_hangs_is_neither_alive_nor_ready() -> None:
    clock = FixedClock()
    health = _health(clock)
    health.read([_state(0, 0)], [])
    clock.advance(LOOP_LIMIT)
    assert not health.alive().ready
    assert not health.ready().ready
    health.turned()
    assert health.alive().ready


def test_a_log_that_is_away_makes_unready_and_not_dead() -> None:
    clock = FixedClock()
    health = _health(clock)
    health.read([_state(5, 5)], [])
    for _ in range(4):
        clock.advance(30)
        health.failed("no broker answers")
    assert health.alive().ready
    assert health.ready() == (False, "no broker answers")
    assert health.lag(0) == 120


def test_records_that_wait_while_none_is_read_are_a_stall() -> None:
    clock = FixedClock()
    health = _health(clock)
    for _ in range(4):
        health.read([_state(5, 9), _state(7, 7, partition=1)], [])
        health.turned()
        clock.advance(STALL / 3)
    health.turned()
    health.read([_state(5, 9), _state(7, 7, partition=1)], [])
    ready = health.ready()
    assert not ready.ready
    assert ready.reason.startswith("partition 0:")
    health.read([_state(6, 9), _state(7, 7, partition=1)], [])
    assert health.ready().ready


def test_a_quiet_partition_whose_end_is_not_known_for_a_moment_has_no_lag() -> None:
    clock = FixedClock()
    health = _health(clock)
    health.read([_state(0, 1)], [log_record(b"", offset=0, timestamp=clock.milliseconds())])
    clock.advance(3600)
    unknown = PartitionState(
        partition=0,
        read={Signal.TRACES: 1, Signal.LOGS: 0},
        end={Signal.TRACES: 1, Signal.LOGS: 0},
        at_end=False,
        end_known=False,
    )
    health.read([unknown], [])
    assert health.lag(0) == 0


def test_a_partition_without_traffic_is_no_stall() -> None:
    clock = FixedClock()
    health = _health(clock)
    for _ in range(10):
        health.read([_state(5, 5)], [])
        health.turned()
        clock.advance(STALL / 2)
    health.turned()
    assert health.ready().ready


def test_zero_never_calls_it_a_stall() -> None:
    clock = FixedClock()
    health = _health(clock, stall_after=0)
    health.read([_state(5, 9)], [])
    clock.advance(LOOP_LIMIT * 10)
    health.turned()
    assert health.ready().ready


def test_lag_is_the_age_of_the_newest_record_read_and_none_at_the_end() -> None:
    clock = FixedClock()
    health = _health(clock)
    record = log_record(b"", timestamp=START // 1_000_000)
    clock.advance(90)
    health.read([_state(1, 5)], [record])
    assert health.lag(0) == 90
    health.read([_state(5, 5)], [])
    assert health.lag(0) == 0
    assert health.lag(17) == 0


def test_lag_of_a_partition_that_yields_nothing_grows_from_its_assignment() -> None:
    clock = FixedClock()
    health = _health(clock)
    health.read([_state(0, 5)], [])
    clock.advance(40)
    health.read([_state(0, 5)], [])
    assert health.lag(0) == 40


def test_stopping_is_unready_and_alive() -> None:
    clock = FixedClock()
    health = _health(clock)
    health.read([_state(0, 0)], [])
    health.stopping()
    assert health.ready() == (False, "stopping")
    assert health.alive().ready
