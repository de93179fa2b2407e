"""Page loads whose span waits for what the agent sees of the page.

An agent reads a page some time after it has loaded it, when scripts have drawn it; what it reads
is the evidence. So the span ends with the load, but is told when the page is left: by the next
load, a close, the end of the run, or some seconds without a further look at it.

An agent that asks for the whole page (`content()`) has told us all. One that reads it in parts is
followed by a look of our own, which it does not wait for unless it leaves the page meanwhile.
"""

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from seekwatch.sdk._guard import guard, guarded
from seekwatch.sdk._http.call import HttpCall
from seekwatch.sdk._http.spans import Ended
from seekwatch.sdk._runs.run import current_run

from .views import PageAnswer

HOLD_SECONDS: Final = 5.0
"""How long a page may stay unread before its load is told."""
LOOK_SECONDS: Final = 0.25
"""How long the agent waits for a look at a page that it has read in parts and leaves at once. A
look takes some milliseconds; asked for later, it would show the next page."""
GRACE_SECONDS: Final = 1.0
"""How long the last look at a page that is being left may take."""
MAX_OPEN: Final = 32
"""Loads that may wait at once; of more, the oldest is told."""
MAX_CHARACTERS: Final = 8 * 1024 * 1024
"""A longer page is not held."""
_SWEEP_SECONDS: Final = 0.2


class Visit:
    """One page load that has ended.

    Args:
        call: its spans, open.
        answer: the page; None where its answer is not known yet.
        ended_ns: when it had loaded.
        frame: Playwright's main frame.
        is_current: tells whether the page still shows what was loaded.
    """

    def __init__(
        self,
        call: HttpCall,
        answer: PageAnswer | None,
        ended_ns: int,
        frame: Any,
        is_current: Callable[[], bool],
    ) -> None:
        self.call = call
        self.answer = answer
        self._due = time.monotonic() + HOLD_SECONDS
        self._ended_ns = ended_ns
        self._frame = frame
        self._is_current = is_current
        self._run = current_run()
        self._reads = 0
        self._seen_at = 0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_left = False
        self._is_told = False
        self._lock = threading.RLock()
        config = call.runtime.config
        self._may_look = bool(config.page_bytes and config.capture_content)

    @guarded("a page that was read")
    def read(self) -> None:
        """Note that the agent read something of the page; on its thread."""
        self._reads += 1
        self._due = time.monotonic() + HOLD_SECONDS
        if not self._has_page and not self._tasks:
            self._look()

    @guarded("the content of a page")
    def saw(self, html: object) -> None:
        """Note the whole page as the agent got it; on its thread."""
        if self._is_current():
            self._reads += 1
            self._due = time.monotonic() + HOLD_SECONDS
            self._keep(html, self._reads)

    def _keep(self, html: object, reads: int) -> None:
        if self.answer is not None and isinstance(html, str) and len(html) <= MAX_CHARACTERS:
            self._seen_at = reads
            self.answer.html = html

    @property
    def _has_page(self) -> bool:
        return self.answer is not None and self.answer.html is not None

    def _look(self) -> None:
        """Ask for the page without waiting for it; on the thread of Playwright's loop."""
        if not self._may_look or self._is_told or not self._is_current():
            return
        reads = self._reads

        def keep(html: object) -> None:
            if self._is_current():
                self._keep(html, reads)

        self.ask(lambda: _content(self._frame), keep)

    def ask(self, question: Callable[[], Awaitable[Any]], use: Callable[[Any], None]) -> None:
        """Ask Playwright something, without waiting; on the thread of its loop.

        Args:
            question: a method of Playwright's.
            use: gets the answer, if one comes.
        """

        def answered(task: asyncio.Task[Any]) -> None:
            with guard("an answer of the browser"):
                self._tasks.discard(task)
                # Asking for the exception keeps asyncio from telling of it.
                if not task.cancelled() and task.exception() is None:
                    use(task.result())
                if self._is_left and not self._tasks:
                    self.tell()

        async def asked() -> Any:
            return await question()

        task: asyncio.Task[Any] = self._frame._loop.create_task(asked())
        self._tasks.add(task)
        task.add_done_callback(answered)

    @property
    def needs_look(self) -> bool:
        """Whether the agent has read of the page what we have not seen, or not yet."""
        return self._may_look and (self._seen_at if self._has_page else 0) < self._reads

    async def last_look(self) -> None:
        """Wait for a look at a page that the agent has read and is about to leave.

        The agent waits with us, `LOOK_SECONDS` at most.
        """
        with guard("a last look at a page"):
            if not self._tasks:
                self._look()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=LOOK_SECONDS)

    @guarded("leaving a page")
    def leave(self, *, look: bool = True) -> None:
        """Tell the load as soon as a last look has come; on the thread of Playwright's loop.

        Args:
            look: the page is still there; what is asked now is asked before it goes.
        """
        if look and not self._tasks and (self.needs_look or not self._has_page):
            self._look()
        self._is_left = True
        self._due = min(self._due, time.monotonic() + GRACE_SECONDS)
        if not self._tasks:
            self.tell()

    def is_due(self, now: float) -> bool:
        """Tell whether it has waited long enough: for a look, or for its run to go on."""
        return self._due <= now or (not self._is_left and self._run is not None and self._run.ended)

    @guarded("a page that is not read any more")
    def expire(self) -> None:
        """Leave the page from another thread, or tell what is known if that has been tried."""
        loop: asyncio.AbstractEventLoop = self._frame._loop
        if self._is_left or loop.is_closed():
            self.tell()
            return
        self._is_left = True
        self._due = time.monotonic() + GRACE_SECONDS
        # Where the agent is busy elsewhere the loop may not turn; then the grace runs out.
        loop.call_soon_threadsafe(self.leave)

    def tell(self) -> None:
        """Hand the load over to be told; only the first time counts; on any thread."""
        with self._lock:
            told, self._is_told = self._is_told, True
        OPEN.forget(self)
        if not told:
            with guard("telling a page load"):
                self.call.end(Ended(self.call, self._ended_ns, self.answer))


def _content(frame: Any) -> Awaitable[Any]:
    """Begin reading the page. Parameters that a release added have no defaults down there."""
    parameters = inspect.signature(frame.content).parameters.values()
    given = {each.name: None for each in parameters if each.default is each.empty}
    reading: Awaitable[Any] = frame.content(**given)
    return reading


class Waiting(Protocol):
    """What waits to be told; compared by identity."""

    def is_due(self, now: float) -> bool:
        """Tell whether it has waited long enough, by the monotonic clock."""
        ...

    def expire(self) -> None:
        """End the waiting, on any thread."""
        ...

    def tell(self) -> None:
        """Hand over what is known now, on any thread."""
        ...


class _OpenVisits:
    """What waits, and the thread that ends its waiting."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, in a forked child too: the browser belongs to the parent."""
        self._visits: dict[Waiting, None] = {}
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None

    def add(self, visit: Waiting) -> None:
        """Let a visit wait."""
        with self._lock:
            self._visits[visit] = None
            oldest = next(iter(self._visits)) if len(self._visits) > MAX_OPEN else None
            if self._thread is None:
                self._start()
            if self._thread is None:
                oldest = visit
        if oldest is not None:
            oldest.tell()

    def _start(self) -> None:
        thread = threading.Thread(target=self._sweep, name="seekwatch-visits", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is shutting down.
            return
        self._thread = thread

    def forget(self, visit: Waiting) -> None:
        """Let a visit wait no longer."""
        with self._lock:
            self._visits.pop(visit, None)

    def tell_all(self) -> None:
        """Tell every load as far as it is known now."""
        with self._lock:
            visits = list(self._visits)
        for visit in visits:
            visit.tell()

    def _sweep(self) -> None:
        while True:
            time.sleep(_SWEEP_SECONDS)
            now = time.monotonic()
            with self._lock:
                if not self._visits:
                    self._thread = None
                    return
                visits = list(self._visits)
            for visit in visits:
                if visit.is_due(now):
                    visit.expire()


OPEN: Final = _OpenVisits()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=OPEN.reset)
