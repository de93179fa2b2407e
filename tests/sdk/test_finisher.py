import sys
import threading

import pytest

from seekwatch.sdk._finisher import CLOSED, FAILED, QUEUE_FULL, Finisher
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.waiting import eventually


class Log:
    def __init__(self) -> None:
        self.finished: list[str] = []
        self.abandoned: list[tuple[str, str]] = []
        self.threads: set[str] = set()

    def job(self, name: str, size: int = 0, wait: threading.Event | None = None) -> "Noting":
        return Noting(self, name, size, wait)

    def names_abandoned(self) -> list[str]:
        return [name for name, _ in self.abandoned]


class Noting:
    def __init__(self, log: Log, name: str, size: int, wait: threading.Event | None) -> None:
        self._log = log
        self._name = name
        self._wait = wait
        self.size = size

    def finish(self) -> None:
        if self._wait is not None:
            self._wait.wait()
        self._log.threads.add(threading.current_thread().name)
        self._log.finished.append(self._name)

    open_spans = 1

    def abandon(self, reason: str) -> None:
        self._log.abandoned.append((self._name, reason))


class Failing(Noting):
    def finish(self) -> None:
        raise RuntimeError("ours")


def test_jobs_are_finished_in_order_on_a_thread_of_ours() -> None:
    log, finisher = Log(), Finisher()
    for number in range(50):
        finisher.submit(log.job(str(number)))
    assert finisher.drain(60)
    assert log.finished == [str(number) for number in range(50)]
    assert log.threads == {"seekwatch-finisher"}
    finisher.close(1)


def test_what_does_not_fit_is_abandoned_at_once_and_counted() -> None:
    log, finisher, gate = Log(), Finisher(max_jobs=2), threading.Event()
    for number in range(5):
        finisher.submit(log.job(str(number), wait=gate))
    # One job may have left the queue for the thread already.
    assert log.names_abandoned() in (["2", "3", "4"], ["3", "4"])
    assert finisher.dropped == len(log.abandoned)
    gate.set()
    assert finisher.drain(60)
    assert len(log.finished) + len(log.abandoned) == 5
    finisher.close(1)


def test_the_queue_is_bounded_in_bytes() -> None:
    log, finisher, gate = Log(), Finisher(max_bytes=100), threading.Event()
    finisher.submit(log.job("fits", 80, gate))
    finisher.submit(log.job("does not", 30, gate))
    assert log.abandoned == [("does not", QUEUE_FULL)]
    gate.set()
    assert finisher.drain(60)
    finisher.submit(log.job("fits again", 80))
    assert finisher.drain(60)
    assert log.finished == ["fits", "fits again"]
    finisher.close(1)


def test_drain_gives_up_at_its_deadline() -> None:
    log, finisher, gate = Log(), Finisher(), threading.Event()
    finisher.submit(log.job("slow", wait=gate))
    # Without one it would wait for the gate, which nobody opens.
    assert finisher.drain(0.05) is False
    gate.set()
    assert finisher.drain(60)
    finisher.close(1)


def test_a_job_that_fails_is_abandoned_and_the_thread_goes_on() -> None:
    log, finisher = Log(), Finisher()
    finisher.submit(Failing(log, "failed", 0, None))
    finisher.submit(log.job("next"))
    assert finisher.drain(60)
    assert (log.abandoned, log.finished) == ([("failed", FAILED)], ["next"])
    assert failures() == {"finishing a span": 1}
    reset_failures()
    finisher.close(1)


def test_after_close_jobs_are_abandoned() -> None:
    log, finisher = Log(), Finisher()
    assert finisher.close(1)
    finisher.submit(log.job("late"))
    assert log.abandoned == [("late", QUEUE_FULL)]


def test_drain_waits_for_what_was_there_and_not_for_what_comes_after() -> None:
    log, finisher, later = Log(), Finisher(), threading.Event()

    class Breeding(Noting):
        def finish(self) -> None:
            super().finish()
            # As under steady load: the queue is never empty.
            finisher.submit(log.job("later", wait=later))

    finisher.submit(Breeding(log, "first", 0, None))
    assert finisher.drain(60)
    assert log.finished == ["first"]
    later.set()
    finisher.close(5)


def test_the_thread_outlives_a_failure_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    log, finisher = Log(), Finisher()
    whole = Finisher._finish_next
    failing = [True]

    def once(self: Finisher) -> bool:
        if failing:
            failing.clear()
            raise RuntimeError("ours")
        return whole(self)

    monkeypatch.setattr(Finisher, "_finish_next", once)
    finisher.submit(log.job("first"))
    eventually(lambda: log.finished == ["first"], what="the job behind the failure")
    assert log.threads == {"seekwatch-finisher"}
    assert failures() == {"the finisher's thread": 1}
    reset_failures()
    finisher.close(1)


class Busy(Noting):
    def finish(self) -> None:
        sum(range(50_000))
        super().finish()


def test_the_agents_thread_gets_its_turn_between_two_jobs() -> None:
    log = Log()
    finisher = Finisher()
    interval = sys.getswitchinterval()
    # So long that only a thread that steps aside lets another one go on.
    sys.setswitchinterval(30)
    try:
        for number in range(200):
            finisher.submit(Busy(log, str(number), 0, None))
        eventually(lambda: len(log.finished) > 0, what="a finished job")
        finished = len(log.finished)
    finally:
        sys.setswitchinterval(interval)
    assert finished < 200
    assert finisher.close(30)
    assert len(log.finished) == 200


class Ending(Noting):
    """Ends the thread that it is finished on, whatever the fence around it."""

    def finish(self) -> None:
        raise SystemExit


@pytest.mark.parametrize("end", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_would_end_a_thread_ends_only_its_job(end: type[BaseException]) -> None:
    class Raising(Noting):
        def finish(self) -> None:
            raise end

    log, finisher = Log(), Finisher()
    finisher.submit(Raising(log, "bad", 0, None))
    finisher.submit(log.job("good"))
    assert finisher.drain(60)
    assert (log.finished, log.abandoned) == (["good"], [("bad", FAILED)])
    assert failures()["finishing a span"] == 1
    reset_failures()
    finisher.close(1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_died_is_replaced_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, finisher = Log(), Finisher()
    before = set(threading.enumerate())

    def end_thread(kind: str, error: BaseException) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        # Not even counting works: nothing of ours keeps the thread alive.
        patch.setattr("seekwatch.sdk._threads.failed", end_thread)
        finisher.submit(Ending(log, "bad", 0, None))
        eventually(lambda: set(threading.enumerate()) <= before, what="the end of the thread")
    finisher.submit(log.job("good"))
    eventually(lambda: log.finished == ["good"], what="the job of a new thread")
    assert log.threads == {"seekwatch-finisher"}
    reset_failures()
    finisher.close(1)


def test_what_there_is_no_time_for_is_ended_at_the_close() -> None:
    log, finisher, gate = Log(), Finisher(), threading.Event()
    finisher.submit(log.job("hangs", wait=gate))
    finisher.submit(log.job("waits", size=10))
    assert not finisher.close(0.01)
    assert log.abandoned == [("waits", CLOSED)]
    assert finisher.unfinished == 1
    gate.set()
    eventually(lambda: finisher.unfinished == 0, what="the end of what hung")
