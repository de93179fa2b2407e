"""Threads that wait for models, and keep no process from ending.

The interpreter joins the threads of `concurrent.futures` at its end, however long their answers
take; what these wait for may be dropped.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Result = TypeVar("Result")


class DaemonPool(Generic[Result]):
    """A few threads that work off what is submitted, oldest first.

    Args:
        threads: how many.
        name: that theirs begin with.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._waiting: queue.SimpleQueue[tuple[Future[Result], Callable[[], Result]] | None] = (
            queue.SimpleQueue()
        )
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Have something done; a future that is cancelled before its turn is passed over."""
        future: Future[Result] = Future()
        self._waiting.put((future, work))
        return future

    def close(self) -> None:
        """Cancel what waits; what is under way goes on, and nobody waits for it."""
        while True:
            try:
                waiting = self._waiting.get_nowait()
            except queue.Empty:
                break
            if waiting is not None:
                waiting[0].cancel()
        for _ in self._threads:
            self._waiting.put(None)

    def _work(self) -> None:
        while (given := self._waiting.get()) is not None:
            future, work = given
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - it belongs to whoever holds the future
                future.set_exception(error)
            else:
                future.set_result(result)
