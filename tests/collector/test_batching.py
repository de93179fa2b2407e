"""Group commit: one step for all that wait, and one sender's mistake is not another's."""

import threading
from collections.abc import Sequence

import pytest

from seekwatch.collector.batching import BatchingAppender
from seekwatch.core.errors import PermanentError, RetryableError
from seekwatch.core.records import NewRecord, Signal


def record(value: bytes) -> NewRecord:
    return NewRecord(signal=Signal.TRACES, key=b"k", value=value)


class Gate:
    """An appender that waits to be let on, and refuses what it is told to."""

    def __init__(self, refusals: dict[bytes, Exception] | None = None) -> None:
        self.calls: list[list[bytes]] = []
        self.entered = threading.Event()
        self.open = threading.Event()
        self.closed = 0
        self._refusals = refusals or {}

    def append(self, records: Sequence[NewRecord]) -> None:
        self.entered.set()
        self.open.wait(60)
        for item in records:
            if item.value in self._refusals:
                raise self._refusals[item.value]
        self.calls.append([item.value for item in records])

    def close(self) -> None:
        self.closed += 1


class Sender:
    """A thread that appends one value and keeps what it was told."""

    def __init__(self, appender: BatchingAppender, value: bytes) -> None:
        self.error: Exception | None = None
        self._appender = appender
        self._value = value
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            self._appender.append([record(self._value)])
        except (PermanentError, RetryableError) as error:
            self.error = error


def send_behind_a_busy_append(
    gate: Gate, appender: BatchingAppender, values: Sequence[bytes]
) -> list[Sender]:
    first = Sender(appender, b"first")
    gate.entered.wait(60)
    senders = [Sender(appender, value) for value in values]
    while len(appender._waiting) < len(values):
        assert all(sender.error is None for sender in senders)
    gate.open.set()
    for sender in (first, *senders):
        sender.thread.join(60)
    return senders


def test_what_waits_is_stored_in_one_step() -> None:
    gate = Gate()
    appender = BatchingAppender(gate)
    senders = send_behind_a_busy_append(gate, appender, [b"1", b"2", b"3"])
    assert all(sender.error is None for sender in senders)
    assert [sorted(call) for call in gate.calls] == [[b"first"], [b"1", b"2", b"3"]]
    appender.close()


def test_what_can_never_be_stored_fails_alone() -> None:
    gate = Gate({b"bad": PermanentError("too large")})
    appender = BatchingAppender(gate)
    senders = send_behind_a_busy_append(gate, appender, [b"1", b"bad", b"2"])
    assert [type(sender.error) for sender in senders] == [type(None), PermanentError, type(None)]
    assert sorted(value for call in gate.calls for value in call) == [b"1", b"2", b"first"]
    appender.close()


def test_an_unreachable_log_fails_everybody() -> None:
    gate = Gate({b"2": RetryableError("away", retry_after=3)})
    appender = BatchingAppender(gate)
    senders = send_behind_a_busy_append(gate, appender, [b"1", b"2"])
    assert [type(sender.error) for sender in senders] == [RetryableError, RetryableError]
    appender.close()


def test_an_unknown_failure_ends_neither_the_waiting_nor_the_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = Gate({b"odd": ZeroDivisionError("what")})
    gate.open.set()
    appender = BatchingAppender(gate)
    with pytest.raises(PermanentError, match="what"):
        appender.append([record(b"odd")])
    appender.append([record(b"fine")])
    assert gate.calls == [[b"fine"]]
    assert "1 records failed" in caplog.text
    appender.close()


def test_a_sender_is_asked_to_come_again_when_too_much_waits() -> None:
    gate = Gate()
    appender = BatchingAppender(gate, max_waiting_bytes=100)
    busy = Sender(appender, b"first")
    gate.entered.wait(60)
    waiting = Sender(appender, b"x" * 90)
    while not appender._waiting:
        assert waiting.error is None
    with pytest.raises(RetryableError, match="already wait") as caught:
        appender.append([record(b"y" * 20)])
    assert caught.value.retry_after
    gate.open.set()
    for sender in (busy, waiting):
        sender.thread.join(60)
        assert sender.error is None
    appender.close()


def test_closing_stores_what_waits_and_closes_once() -> None:
    gate = Gate()
    appender = BatchingAppender(gate)
    sender = Sender(appender, b"last")
    gate.entered.wait(60)
    gate.open.set()
    appender.close()
    appender.close()
    sender.thread.join(60)
    assert sender.error is None
    assert gate.calls == [[b"last"]]
    assert gate.closed == 1
