"""What every log promises, as tests that any implementation runs.

A subclass gives the fixture `world`. Nothing here knows which log it is.
"""

import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from seekwatch.collector.partitioner import partition_of
from seekwatch.core.errors import RetryableError
from seekwatch.core.records import (
    Assignment,
    Batch,
    LogRecord,
    NewRecord,
    Output,
    OutputReader,
    OutputRecord,
    Position,
    Signal,
    StoredOutput,
    TraceLog,
)
from tests.services.log_worlds import LogWorld

PATIENCE = 60.0
REPOSITORY = Path(__file__).resolve().parents[2]


def new(number: int, signal: Signal = Signal.TRACES, value: bytes | None = None) -> NewRecord:
    key = f"{number:032x}".encode()
    return NewRecord(signal=signal, key=key, value=value or b"value-%d" % number)


def score(partition: int, value: bytes, output: Output = Output.SCORES) -> OutputRecord:
    return OutputRecord(output=output, partition=partition, value=value)


def append(world: LogWorld, *records: NewRecord) -> None:
    appender = world.appender()
    appender.append(records)
    appender.close()


class Reading:
    """A trace log that is read until something holds; it keeps all that came."""

    def __init__(self, log: TraceLog) -> None:
        self.log = log
        self.records: list[LogRecord] = []
        self.assigned: dict[int, Assignment] = {}
        self.last = Batch()

    def once(self, timeout: float = 0.2) -> Batch:
        # A log that cannot be reached this moment says so and is asked again.
        with contextlib.suppress(RetryableError):
            self.last = self.log.read(timeout)
            for assignment in self.last.assigned:
                self.assigned[assignment.partition] = assignment
            self.records += self.last.records
            return self.last
        return Batch()

    def until(self, holds: Callable[["Reading"], bool]) -> "Reading":
        deadline = time.monotonic() + PATIENCE
        while not holds(self):
            assert time.monotonic() < deadline, f"not in time; last {self.last}"
            self.once()
        return self

    def until_assigned(self, count: int) -> "Reading":
        return self.until(lambda it: len(it.assigned) >= count)

    def until_records(self, count: int) -> "Reading":
        return self.until(lambda it: len(it.records) >= count)

    def until_at_end(self) -> "Reading":
        return self.until(
            lambda it: bool(it.last.states) and all(state.at_end for state in it.last.states)
        )

    def end_position(self, partition: int, scores_offset: int = 0) -> Position:
        """Return the position behind everything that was read."""
        offsets = dict(self.assigned[partition].position.offsets)
        for record in self.records:
            if record.partition == partition:
                offsets[record.signal] = max(offsets[record.signal], record.offset + 1)
        return Position(offsets=offsets, scores_offset=scores_offset)


def read_outputs(reader: OutputReader, count: int) -> list[StoredOutput]:
    """Read until `count` records are there, and a little longer to see that no more come."""
    found: list[StoredOutput] = []
    deadline = time.monotonic() + PATIENCE
    while len(found) < count:
        assert time.monotonic() < deadline, f"{len(found)} of {count} records came"
        found += reader.read(0.3)
    return [*found, *reader.read(0.5)]


def values(records: Sequence[StoredOutput | LogRecord]) -> list[bytes]:
    return [record.value for record in records]


class LogContract:
    """The contract. Every test has a log of its own."""

    @pytest.fixture
    def opened(self) -> Iterator[list[TraceLog | OutputReader]]:
        opened: list[TraceLog | OutputReader] = []
        yield opened
        for part in opened:
            part.close()

    @pytest.fixture
    def start(
        self, world: LogWorld, opened: list[TraceLog | OutputReader]
    ) -> Callable[[], Reading]:
        def start() -> Reading:
            log = world.trace_log()
            opened.append(log)
            return Reading(log).until_assigned(world.partitions)

        return start

    @pytest.fixture
    def outputs(
        self, world: LogWorld, opened: list[TraceLog | OutputReader]
    ) -> Callable[..., OutputReader]:
        def outputs(
            *which: Output, consumer: str | None = None, from_end: bool = False
        ) -> OutputReader:
            reader = world.output_reader(which or (Output.SCORES,), consumer, from_end=from_end)
            opened.append(reader)
            return reader

        return outputs

    def test_a_new_log_is_assigned_whole_and_at_its_end(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        reading = start()
        assert sorted(reading.assigned) == list(range(world.partitions))
        for assignment in reading.assigned.values():
            assert assignment.position.offsets == {Signal.TRACES: 0, Signal.LOGS: 0}
            assert assignment.published == ()
        reading.until_at_end()
        assert len(reading.last.states) == world.partitions

    def test_records_come_in_order_on_the_partition_of_their_key(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        wanted = [new(number % 10, value=b"%d" % number) for number in range(60)]
        append(world, *wanted[:30])
        append(world, *wanted[30:])
        reading = start().until_records(60)
        for partition in range(world.partitions):
            found = [record for record in reading.records if record.partition == partition]
            assert [record.offset for record in found] == list(range(len(found)))
            assert values(found) == [
                item.value
                for item in wanted
                if partition_of(item.key or b"", world.partitions) == partition
            ]
            stamps = [record.timestamp for record in found]
            assert stamps == sorted(stamps)
            assert all(abs(stamp / 1000 - time.time()) < 120 for stamp in stamps)

    def test_both_signals_of_a_key_come_on_one_partition(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        append(world, new(7), new(7, Signal.LOGS), new(8, Signal.LOGS))
        reading = start().until_records(3)
        seven = [record for record in reading.records if record.key == new(7).key]
        assert {record.signal for record in seven} == {Signal.TRACES, Signal.LOGS}
        assert len({record.partition for record in seven}) == 1

    def test_reading_wakes_up_for_what_is_appended(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        reading = start()
        reading.until_at_end()
        sender = threading.Timer(0.3, lambda: append(world, new(1)))
        sender.start()
        reading.until_records(1)
        sender.join()
        reading.until_at_end()
        read = {state.partition: state.read[Signal.TRACES] for state in reading.last.states}
        end = {state.partition: state.end[Signal.TRACES] for state in reading.last.states}
        assert read == end
        assert sum(read.values()) == 1

    def test_states_say_how_far_reading_is_behind(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        append(world, *(new(1, value=b"x" * 50_000) for _ in range(400)))
        reading = start()
        behind = reading.until(lambda it: bool(it.records)).last
        state = next(item for item in behind.states if item.read[Signal.TRACES] > 0)
        if state.read[Signal.TRACES] < 400:
            reading.until(lambda it: len(it.records) == 400)
        reading.until_at_end()
        assert max(item.end[Signal.TRACES] for item in reading.last.states) == 400

    def test_a_commit_publishes_and_moves_in_one_step(
        self,
        world: LogWorld,
        start: Callable[[], Reading],
        outputs: Callable[..., OutputReader],
    ) -> None:
        append(world, *(new(number) for number in range(12)))
        first = start().until_records(12)
        done = {
            partition: first.end_position(partition, scores_offset=0)
            for partition in range(world.partitions)
        }
        first.log.commit(done, [score(partition, b"s%d" % partition) for partition in done])
        first.log.close()
        second = start()
        for partition, assignment in second.assigned.items():
            assert assignment.position.offsets == done[partition].offsets
            assert values(assignment.published) == [b"s%d" % partition]
        second.once(1.0)
        assert second.records == []
        assert sorted(values(read_outputs(outputs(), 4))) == [b"s0", b"s1", b"s2", b"s3"]

    def test_what_was_not_committed_comes_again(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        append(world, *(new(1, value=b"%d" % number) for number in range(5)))
        first = start().until_records(5)
        partition = first.records[0].partition
        position = Position(offsets={Signal.TRACES: 2, Signal.LOGS: 0})
        first.log.commit({partition: position}, [])
        first.log.close()
        assert values(start().until_records(3).records) == [b"2", b"3", b"4"]

    def test_a_position_comes_back_as_it_was_committed(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        append(world, *(new(number) for number in range(40)))
        first = start().until_records(40)
        wanted = {
            partition: Position(
                offsets={Signal.TRACES: partition, Signal.LOGS: 0},
                read_offsets={Signal.TRACES: partition + 2, Signal.LOGS: 0},
            )
            for partition in range(world.partitions)
        }
        first.log.commit(wanted, [])
        first.log.close()
        found = {item: assignment.position for item, assignment in start().assigned.items()}
        assert found == wanted

    def test_published_scores_are_learnt_from_the_position_that_was_committed(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        append(world, new(1))
        first = start().until_records(1)
        partition = first.records[0].partition
        ends: list[int] = [0]
        for number in range(3):
            position = first.end_position(partition, scores_offset=ends[-1])
            moved = first.log.commit({partition: position}, [score(partition, b"%d" % number)])
            ends.append(moved[partition])
        assert ends == sorted(set(ends))
        first.log.close()
        assignment = start().assigned[partition]
        assert assignment.position.scores_offset == ends[2]
        assert values(assignment.published) == [b"2"]

    def test_a_commit_without_scores_tells_the_same_end_again(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        append(world, new(1))
        reading = start().until_records(1)
        partition = reading.records[0].partition
        position = reading.end_position(partition)
        end = reading.log.commit({partition: position}, [score(partition, b"s")])[partition]
        again = reading.log.commit({partition: position}, [])[partition]
        assert again == end > 0

    def test_every_output_keeps_key_value_and_headers(
        self,
        world: LogWorld,
        start: Callable[[], Reading],
        outputs: Callable[..., OutputReader],
    ) -> None:
        append(world, new(1))
        reading = start().until_records(1)
        partition = reading.records[0].partition
        dead = OutputRecord(
            output=Output.DEAD_LETTERS,
            partition=partition,
            key=b"k",
            value=b"\x00broken",
            headers=(("reason", b"protobuf"), ("offset", b"7")),
        )
        position = reading.end_position(partition)
        episode = score(partition, b"e", Output.EPISODES)
        reading.log.commit({partition: position}, [dead, episode, score(partition, b"s")])
        (found,) = read_outputs(outputs(Output.DEAD_LETTERS), 1)
        assert (found.key, found.value, found.headers) == (dead.key, dead.value, dead.headers)
        assert (found.output, found.partition, found.offset) == (dead.output, partition, 0)
        both = read_outputs(outputs(Output.EPISODES, Output.SCORES), 2)
        assert {(item.output, item.value) for item in both} == {
            (Output.EPISODES, b"e"),
            (Output.SCORES, b"s"),
        }

    def test_a_consumer_goes_on_where_it_committed_and_others_are_not_touched(
        self,
        start: Callable[[], Reading],
        outputs: Callable[..., OutputReader],
    ) -> None:
        reading = start()
        reading.log.commit({}, [score(0, b"1"), score(1, b"2")])
        one = outputs(consumer="one")
        assert sorted(values(read_outputs(one, 2))) == [b"1", b"2"]
        one.commit()
        reading.log.commit({}, [score(0, b"3")])
        assert values(read_outputs(one, 1)) == [b"3"]
        # What was not committed comes again.
        one.close()
        assert values(read_outputs(outputs(consumer="one"), 1)) == [b"3"]
        assert sorted(values(read_outputs(outputs(consumer="two"), 3))) == [b"1", b"2", b"3"]

    def test_a_reader_without_a_name_may_begin_at_the_end(
        self,
        start: Callable[[], Reading],
        outputs: Callable[..., OutputReader],
    ) -> None:
        reading = start()
        reading.log.commit({}, [score(0, b"old")])
        tail = outputs(from_end=True)
        reading.log.commit({}, [score(0, b"new")])
        assert values(read_outputs(tail, 1)) == [b"new"]
        tail.commit()

    def test_closing_twice_is_closing_once(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        reading = start()
        reading.log.close()
        reading.log.close()
        with pytest.raises(RetryableError):
            reading.log.read(0.0)
        appender = world.appender()
        appender.close()
        appender.close()
        with pytest.raises(RetryableError):
            appender.append([new(1)])

    def test_concurrent_appends_are_all_stored(
        self, world: LogWorld, start: Callable[[], Reading]
    ) -> None:
        appender = world.appender()
        wanted = [new(number) for number in range(80)]
        threads = [threading.Thread(target=appender.append, args=([item],)) for item in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        appender.close()
        found = start().until_records(80).records
        assert sorted(values(found)) == sorted(item.value for item in wanted)

    @pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.nightly)])
    def test_a_worker_killed_again_and_again_publishes_each_record_once(
        self,
        world: LogWorld,
        outputs: Callable[..., OutputReader],
        tmp_path: Path,
        kills: int,
    ) -> None:
        total = 100 * kills
        chance = random.Random(7)
        said = tmp_path / "worker.log"
        for begin in range(0, total, 100):
            append(world, *(new(number) for number in range(begin, begin + 100)))
            worker = start_worker(world, said)
            wait_for_line(said, "started")
            time.sleep(chance.uniform(0.0, 1.0))
            worker.kill()
            worker.wait()
        worker = start_worker(world, said)
        try:
            found = read_outputs(outputs(), total)
        finally:
            worker.kill()
            worker.wait()
        assert len(found) == total, said.read_text()
        assert sorted(values(found)) == sorted(new(number).value for number in range(total))


def start_worker(world: LogWorld, said: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start a copying worker; what it says goes to `said`, emptied before."""
    with said.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.services.log_worker", world.describe(), *options],
            cwd=REPOSITORY,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )


def wait_for_line(said: Path, wanted: str) -> None:
    """Wait until a worker has said something that begins with `wanted`."""
    deadline = time.monotonic() + PATIENCE
    while not any(line.startswith(wanted) for line in said.read_text().splitlines()):
        assert time.monotonic() < deadline, f"no {wanted!r} in: {said.read_text()}"
        time.sleep(0.02)
