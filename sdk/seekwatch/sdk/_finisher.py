"""The background thread that finishes spans, so that the agent's threads do not.

Hashing, compressing, redacting and reading bodies happens here; the span then ends with the time
at which the agent was done with the call. The queue is bounded in number and in bytes. What does
not fit is finished without its body, at once, and counted.
"""

import os
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from ._guard import failed, guard
from ._threads import work_on

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_JOBS: Final = 4096
MAX_BYTES: Final = 64 * 1024 * 1024
GATHER_SECONDS: Final = 0.05
"""How long the thread lets jobs gather after it was woken: waking it for each one would cost the
agent's thread more than the job itself, in lost turns of the interpreter lock."""

TURN_SECONDS: Final = 0.0005
"""How long the thread works before it steps aside. A turn for each job would cost the agent's
thread more, in hand-overs of the interpreter lock, than it gains."""

YIELD_SECONDS: Final = 0.0001
"""How long the thread steps aside after its turn while nobody waits for it: a thread that only
releases the interpreter lock takes it again before a waiting one has woken, so that one would wait
for the interpreter's switch interval (5 ms) instead of for one turn."""


class Job(Protocol):
    """One span to finish."""

    size: int
    """Bytes of body that the job keeps alive."""

    def finish(self) -> None:
        """Say everything about the span and end it."""
        ...

    def abandon(self, reason: str) -> None:
        """End the span without its body, for one of the reasons below."""
        ...

    @property
    def open_spans(self) -> int:
        """Spans that have not ended yet and will by this job."""
        ...


QUEUE_FULL: Final = "queue-full"
FAILED: Final = "failed"
CLOSED: Final = "closed"
"""Nothing is exported any more, so nothing need be said of the span."""


class Finisher:
    """A bounded queue and one daemon thread that works it off."""

    def __init__(self, *, max_jobs: int = MAX_JOBS, max_bytes: int = MAX_BYTES) -> None:
        self._max_jobs = max_jobs
        self._max_bytes = max_bytes
        self.before_drain: list[Callable[[], None]] = []
        """What submits jobs that wait for something, before all jobs are waited for."""
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self.dropped = 0
        """Spans that were ended without their body because the queue was full."""
        self._jobs: deque[Job] = deque()
        self._bytes = 0
        self._current: Job | None = None
        self._idle = False
        self._taken = 0
        self._finished = 0
        self._flush_to = 0
        # Reentrant: the collector of garbage may end a body at any point. Where nobody waits or is
        # woken it is taken without the condition around it, which costs ten times more.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()

    def reset_after_fork(self) -> None:
        """Begin anew in a forked child: the jobs and the thread belong to the parent."""
        self._reset()

    def submit(self, job: Job) -> None:
        """Take a job, or abandon it when there is no room."""
        size = job.size
        with self._lock:
            room = len(self._jobs) < self._max_jobs and self._bytes + size <= self._max_bytes
            if room and not self._closed:
                self._jobs.append(job)
                self._bytes += size
                self._taken += 1
                if self._thread is None:
                    self._start()
                elif self._idle or len(self._jobs) == self._max_jobs // 2:
                    self._idle = False
                    self._changed.notify_all()
                return
            self.dropped += 1
        with guard("ending a span without its body"):
            job.abandon(QUEUE_FULL)

    def _start(self) -> None:
        # Started by the first job: an agent that never calls out has no thread of ours.
        self._idle = False
        self._thread = threading.Thread(target=self._run, name="seekwatch-finisher", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # The interpreter is shutting down; `drain` does the work on its caller's thread.
            self._thread = None

    def _run(self) -> None:
        work_on("the finisher's thread", self._work_off, self._thread_ended)

    def _thread_ended(self) -> None:
        with self._lock:
            if self._thread is threading.current_thread():
                # The next job starts another.
                self._thread = None

    def _work_off(self) -> bool:
        if not self._wait_for_jobs():
            return False
        began = time.perf_counter()
        while self._finish_next():
            if time.perf_counter() - began < TURN_SECONDS:
                continue
            if self._jobs and self._finished >= self._flush_to and not self._closed:
                time.sleep(YIELD_SECONDS)
            began = time.perf_counter()
        return True

    def _wait_for_jobs(self) -> bool:
        """Wait until there is something to do; False ends the thread."""
        with self._changed:
            while not self._jobs and not self._closed:
                self._idle = True
                self._changed.wait()
            self._idle = False
            if self._finished >= self._flush_to and not self._closed:
                self._changed.wait(GATHER_SECONDS)
            return bool(self._jobs) or not self._closed

    def _finish_next(self) -> bool:
        with self._lock:
            if not self._jobs or self._current is not None:
                return False
            job = self._current = self._jobs.popleft()
        try:
            self._finish(job)
        finally:
            with self._changed:
                self._bytes -= job.size
                self._current = None
                self._finished += 1
                if self._finished >= self._flush_to:
                    self._changed.notify_all()
        return True

    def _finish(self, job: Job) -> None:
        try:
            job.finish()
        except BaseException as error:
            failed("finishing a span", error)
            with guard("ending a span without its body"):
                job.abandon(FAILED)
            # Who drains on a thread of the agent's may be interrupted.
            if not isinstance(error, Exception):
                raise

    def drain(self, timeout: float) -> bool:
        """Wait until every job taken so far is finished.

        Args:
            timeout: seconds to wait at most.

        Returns:
            Whether they were, in time.
        """
        deadline = time.monotonic() + timeout
        for submit in self.before_drain:
            with guard("submitting what waits"):
                submit()
        with self._changed:
            target = self._flush_to = self._taken
            while self._finished < target:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                if self._thread is None or not self._thread.is_alive():
                    break
                self._changed.notify_all()
                self._changed.wait(remaining)
        while self._finished < target and time.monotonic() < deadline and self._finish_next():
            pass
        return self._finished >= target

    def close(self, timeout: float) -> bool:
        """Finish what is there and stop the thread; later jobs are abandoned at once.

        So is what there was no time for; see `unfinished`.
        """
        drained = self.drain(timeout)
        with self._changed:
            self._closed = True
            waiting, self._jobs = self._jobs, deque()
            self._bytes -= sum(job.size for job in waiting)
            self._finished += len(waiting)
            self._changed.notify_all()
        for job in waiting:
            with guard("ending a span without its body"):
                job.abandon(CLOSED)
        return drained

    @property
    def unfinished(self) -> int:
        """Spans that a job still works on although nothing is waited for any more."""
        with self._lock:
            working = self._current
            return working.open_spans if self._closed and working is not None else 0
