"""The embedded log keeps the contract of every log, and its own promises about its file."""

import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core.errors import ConfigurationError, RetryableError
from seekwatch.core.records import Appender, NewRecord, Output, OutputRecord, Position, Signal
from tests.collector.log_contract import LogContract, Reading, append, new, score, values
from tests.services.log_worlds import EmbeddedWorld


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


class TestContract(LogContract):
    """The contract, on a file."""

    @pytest.fixture
    def world(self, path: Path) -> EmbeddedWorld:
        return EmbeddedWorld(path)


def fat(number: int) -> NewRecord:
    return new(number, value=b"x" * 100_000)


def fill(appender: Appender) -> RetryableError:
    """Append until the log takes no more; return how it said so."""
    for number in range(100):
        try:
            appender.append([fat(number)])
        except RetryableError as error:
            return error
    raise AssertionError("never full")


def test_a_second_worker_of_a_file_is_refused(path: Path) -> None:
    log = EmbeddedLog(path)
    first = log.trace_log()
    with pytest.raises(ConfigurationError, match="another worker"):
        EmbeddedLog(path).trace_log()
    program = (
        "import sys; from seekwatch.collector.embedded import EmbeddedLog\n"
        "EmbeddedLog(sys.argv[1]).trace_log()"
    )
    other = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False
    )
    assert "another worker" in other.stderr
    first.close()
    EmbeddedLog(path).trace_log().close()


def test_another_process_appends_and_the_worker_wakes_up(path: Path) -> None:
    reading = Reading(EmbeddedLog(path).trace_log())
    reading.once()
    program = (
        "import sys; from seekwatch.collector.embedded import EmbeddedLog\n"
        "from seekwatch.core.records import NewRecord, Signal\n"
        "log = EmbeddedLog(sys.argv[1])\n"
        "log.appender().append([NewRecord(signal=Signal.TRACES, key=b'k', value=b'v')])\n"
        "log.close()"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    assert values(reading.until_records(1).records) == [b"v"]
    reading.log.close()


def test_a_full_log_is_retryable_and_takes_more_once_it_was_read(path: Path) -> None:
    log = EmbeddedLog(path, max_bytes=2_000_000)
    appender = log.appender()
    refusal = fill(appender)
    assert "full" in str(refusal)
    assert refusal.retry_after
    reading = Reading(log.trace_log())
    reading.until_at_end()
    stored = len(reading.records)
    assert 10 <= stored < 100
    # Nothing that the worker may still need was removed to make room.
    with pytest.raises(RetryableError, match="full"):
        appender.append([fat(100)])
    reading.log.commit(
        {partition: reading.end_position(partition) for partition in range(log.partitions)}, []
    )
    appender.append([fat(100)])
    log.close()


def test_a_full_log_keeps_outputs_that_a_consumer_has_not_read(path: Path) -> None:
    log = EmbeddedLog(path, max_bytes=1_500_000)
    reading = Reading(log.trace_log())
    reading.once()
    slow = log.output_reader([Output.EPISODES], "slow")
    body = b"e" * 100_000
    for _ in range(12):
        reading.log.commit({}, [score(0, body, Output.EPISODES)])
    appender = log.appender()
    assert "full" in str(fill(appender))
    assert len(slow.read(1.0)) == 12
    slow.commit()
    appender.append([fat(99)])
    log.close()


def test_records_past_their_retention_go_unless_the_worker_needs_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seekwatch.collector.embedded_append._TRIM_EVERY", 0.0)
    log = EmbeddedLog(path, retention=0.0, partitions=1)
    append_to = log.appender()
    append_to.append([new(number) for number in range(10)])
    reading = Reading(log.trace_log()).until_records(10)
    reading.log.commit(
        {0: Position(offsets={Signal.TRACES: 6, Signal.LOGS: 0}, scores_offset=1)},
        [score(0, b"old"), score(0, b"needed")],
    )
    time.sleep(0.01)
    append_to.append([new(10)])
    reading.log.close()
    again = Reading(log.trace_log())
    again.until_records(5)
    assert [record.offset for record in again.records] == [6, 7, 8, 9, 10]
    assert values(again.assigned[0].published) == [b"needed"]
    rows = sqlite3.connect(path).execute("SELECT count(*) FROM records").fetchone()
    assert rows == (6,)
    log.close()


def test_time_never_goes_back_on_a_partition(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = EmbeddedLog(path, partitions=1)
    appender = log.appender()
    appender.append([new(1)])
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    appender.append([new(2)])
    monkeypatch.undo()
    first, second = Reading(log.trace_log()).until_records(2).records
    assert second.timestamp >= first.timestamp > 1_000_000
    log.close()


def test_a_failed_commit_publishes_nothing_and_hands_everything_out_again(path: Path) -> None:
    log = EmbeddedLog(path, partitions=1)
    log.appender().append([new(1), new(2)])
    reading = Reading(log.trace_log()).until_records(2)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute(
        "CREATE TRIGGER no BEFORE INSERT ON positions BEGIN SELECT RAISE(FAIL, 'x'); END"
    )
    with pytest.raises(Exception, match="x"):
        reading.log.commit({0: reading.end_position(0)}, [score(0, b"lost")])
    blocker.execute("DROP TRIGGER no")
    blocker.close()
    reading.assigned.clear()
    reading.records.clear()
    reading.until_records(2)
    assert reading.assigned[0].published == ()
    assert reading.assigned[0].position.offsets[Signal.TRACES] == 0
    log.close()


def test_a_locked_file_is_retryable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seekwatch.collector.embedded_schema._BUSY_SECONDS", 0.05)
    log = EmbeddedLog(path)
    appender = log.appender()
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(RetryableError, match="locked"):
        appender.append([new(1)])
    blocker.execute("ROLLBACK")
    blocker.close()
    appender.append([new(1)])
    log.close()


def test_a_file_of_something_else_is_refused(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    with pytest.raises(ConfigurationError, match="something else"):
        EmbeddedLog(path)
    path.write_bytes(b"this is no database at all" * 100)
    with pytest.raises(ConfigurationError, match="not a database"):
        EmbeddedLog(path)


def test_a_file_of_another_schema_is_refused(path: Path) -> None:
    EmbeddedLog(path).close()
    changed = sqlite3.connect(path)
    changed.execute("PRAGMA user_version = 99")
    changed.close()
    with pytest.raises(ConfigurationError, match="schema version 99"):
        EmbeddedLog(path)


def test_the_number_of_partitions_is_the_files_own(path: Path) -> None:
    EmbeddedLog(path, partitions=3).close()
    assert EmbeddedLog(path).partitions == 3
    with pytest.raises(ConfigurationError, match="has 3"):
        EmbeddedLog(path, partitions=5)


def test_many_senders_share_an_fsync(path: Path) -> None:
    log = EmbeddedLog(path)
    appender = log.appender()
    threads = [threading.Thread(target=appender.append, args=([new(i)],)) for i in range(64)]
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    blocker.execute("ROLLBACK")
    blocker.close()
    for thread in threads:
        thread.join()
    records = Reading(log.trace_log()).until_records(64).records
    # One group was waiting for the lock, the others had become one by then.
    assert len({record.timestamp for record in records}) <= 8
    log.close()


def test_offsets_of_outputs_are_their_own(path: Path) -> None:
    log = EmbeddedLog(path)
    reading = Reading(log.trace_log())
    reading.once()
    outputs = [OutputRecord(output=output, partition=2, value=output.encode()) for output in Output]
    reading.log.commit({}, outputs)
    found = log.output_reader(list(Output)).read(1.0)
    assert {(item.output, item.partition, item.offset) for item in found} == {
        (output, 2, 0) for output in Output
    }
    log.close()


def test_a_reader_that_waits_is_ended_by_closing(path: Path) -> None:
    log = EmbeddedLog(path)
    reader = log.output_reader([Output.SCORES])
    waiting = threading.Thread(target=reader.read, args=(30.0,))
    waiting.start()
    log.close()
    waiting.join(20)
    assert not waiting.is_alive()


def test_appending_nothing_does_nothing(path: Path) -> None:
    world = EmbeddedWorld(path)
    append(world)
    assert Reading(world.trace_log()).once(0.0).records == []
