"""The exporters' loop loses nothing, waits for what comes back, and passes what never will."""

import threading
from collections.abc import Sequence

import pytest

from seekwatch.core.errors import PermanentError, RetryableError
from seekwatch.core.records import Output, StoredOutput
from seekwatch.exporters.consumer import Consumer, ConsumerCounts
from tests.services.scorecards import stored
from tests.services.waiting import eventually


class ListReader:
    """A topic with a committed position, as a restart would find it."""

    def __init__(self, values: Sequence[str], batch: int = 3) -> None:
        self.topic = [
            stored(Output.SCORES, value.encode(), offset) for offset, value in enumerate(values)
        ]
        self.batch = batch
        self.read_position = 0
        self.committed = 0
        self.failures: list[Exception] = []
        self.closed = 0

    def read(self, timeout: float) -> Sequence[StoredOutput]:
        if self.failures:
            self.read_position = self.committed
            raise self.failures.pop(0)
        records = self.topic[self.read_position : self.read_position + self.batch]
        self.read_position += len(records)
        return records

    def commit(self) -> None:
        self.committed = self.read_position

    def close(self) -> None:
        self.closed += 1


class Backend:
    """Keeps values by what they are; fails as it is told to."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.poison: set[str] = set()
        self.failures: list[Exception] = []
        self.closed = 0

    def deliver(self, records: Sequence[StoredOutput]) -> None:
        for record in records:
            value = record.value.decode()
            if value in self.poison:
                raise PermanentError(f"will not take {value}")
            self.values[value] = self.values.get(value, 0) + 1
        if self.failures:
            raise self.failures.pop(0)

    def close(self) -> None:
        self.closed += 1


def consumer(reader: ListReader, backend: Backend) -> Consumer:
    return Consumer("test", reader, backend, first_pause=0.001, longest_pause=0.002)


def test_records_are_delivered_and_then_committed() -> None:
    reader, backend = ListReader(["a", "b", "c", "d"]), Backend()
    loop = consumer(reader, backend)
    assert [loop.step(0), loop.step(0), loop.step(0)] == [3, 1, 0]
    assert list(backend.values) == ["a", "b", "c", "d"]
    assert reader.committed == 4
    assert loop.counts == ConsumerCounts(delivered=4)


def test_a_backend_that_comes_back_gets_everything() -> None:
    reader, backend = ListReader(["a", "b"]), Backend()
    backend.failures = [RetryableError("away"), RetryableError("away", retry_after=0.001)]
    loop = consumer(reader, backend)
    loop.step(0)
    assert backend.values == {"a": 3, "b": 3}
    assert reader.committed == 2
    assert loop.counts == ConsumerCounts(delivered=2, retried=4)


def test_a_log_that_comes_back_is_read_on() -> None:
    reader, backend = ListReader(["a"]), Backend()
    reader.failures = [RetryableError("no broker")]
    loop = consumer(reader, backend)
    assert loop.step(0) == 1
    assert loop.counts == ConsumerCounts(delivered=1)


def test_one_poisoned_record_does_not_take_its_neighbours_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader, backend = ListReader(["a", "bad", "c"]), Backend()
    backend.poison = {"bad"}
    loop = consumer(reader, backend)
    loop.step(0)
    assert set(backend.values) == {"a", "c"}
    assert reader.committed == 3
    assert loop.counts == ConsumerCounts(delivered=2, refused=1)
    assert "offset 1: will not take bad" in caplog.text


def test_results_are_counted_under_the_exporters_name() -> None:
    seen: list[tuple[str, str, int]] = []
    loop = Consumer(
        "archive",
        ListReader(["a", "b"]),
        Backend(),
        count=lambda name, result, number: seen.append((name, result, number)),
    )
    loop.step(0)
    assert seen == [("archive", "delivered", 2)]


def test_stopping_ends_the_loop_and_releases_both_sides() -> None:
    reader, backend = ListReader(["a"]), Backend()
    loop = consumer(reader, backend)
    thread = threading.Thread(target=loop.run)
    thread.start()
    eventually(lambda: reader.committed == 1, what="the record is committed")
    assert loop.stop()
    assert loop.stop()
    thread.join()
    assert (reader.closed, backend.closed) == (1, 1)


def test_stopping_while_a_backend_is_away_commits_nothing() -> None:
    reader, backend = ListReader(["a"]), Backend()
    backend.failures = [RetryableError("away", retry_after=3600)]
    loop = consumer(reader, backend)
    thread = threading.Thread(target=loop.run)
    thread.start()
    eventually(lambda: loop.counts.retried == 1, what="the first attempt has failed")
    assert loop.stop(deadline=30)
    thread.join()
    assert reader.committed == 0
    assert loop.counts == ConsumerCounts(retried=1)


def test_stopping_before_the_start_is_no_wait() -> None:
    loop = consumer(ListReader([]), Backend())
    assert loop.stop(deadline=60)
    loop.run()


def test_an_error_that_no_retry_mends_ends_the_consumer_and_is_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader, backend = ListReader(["a"]), Backend()
    backend.failures = [ZeroDivisionError("a defect")]
    loop = consumer(reader, backend)
    with pytest.raises(ZeroDivisionError):
        loop.run()
    assert reader.committed == 0
    assert (reader.closed, backend.closed) == (1, 1)
    assert "its records wait in the topic" in caplog.text
