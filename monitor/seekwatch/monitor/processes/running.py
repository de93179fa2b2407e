"""A process of several parts: started in order, stopped in the opposite one, within a deadline.

Ctrl-C and SIGTERM ask for the end; a part that dies ends the others too, because half a monitor
looks like a whole one.
"""

import logging
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

from seekwatch.core.errors import SeekwatchError

_LOG: Final = logging.getLogger(__name__)

Stop = Callable[[float], object]
"""Ends a part within so many seconds; calling it again does nothing."""


class Running:
    """The parts of one process.

    Args:
        deadline: seconds for all of them to end.
    """

    def __init__(self, deadline: float) -> None:
        self.stopping = threading.Event()
        self._deadline = deadline
        self._stops: list[tuple[str, Stop]] = []
        self._failed = False
        self._started = False

    def catch_signals(self) -> None:
        """Let Ctrl-C and SIGTERM end the process in order, from before anybody is told it is ready.

        Until `started` they interrupt what is going on, which may be a long wait for the log.
        """
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def started(self) -> None:
        """Note that every part runs: from now on a signal asks for the end."""
        self._started = True

    def add(self, name: str, stop: Stop) -> None:
        """Note how a started part is ended."""
        self._stops.append((name, stop))

    def thread(
        self, name: str, work: Callable[[], None], stop: Callable[[], object] | None = None
    ) -> None:
        """Run `work` on a thread; its end, wanted or not, ends the process.

        Args:
            name: of the thread.
            work: returns soon after `stop` was called.
            stop: asks it to; None: it looks at an event of its own.
        """

        def run() -> None:
            try:
                work()
            except SeekwatchError as error:
                _LOG.error("%s stopped: %s", name, error)
                self._failed = True
            except Exception:  # noqa: BLE001 - the last to see it; the process ends with code 1
                _LOG.exception("%s died", name)
                self._failed = True
            finally:
                self.stopping.set()

        thread = threading.Thread(target=run, name=name, daemon=True)

        def end(deadline: float) -> None:
            if stop is not None:
                stop()
            thread.join(deadline)
            if thread.is_alive():
                _LOG.warning("%s did not end in time", name)

        thread.start()
        self.add(name, end)

    def wait(self) -> int:
        """Wait for a signal or the end of a part, then end all; return the exit code."""
        # A wait without a timeout would keep the signal waiting on some platforms.
        while not self.stopping.wait(1.0):
            pass
        self.end()
        return 1 if self._failed else 0

    def end(self) -> None:
        """End every part, the last one started first; calling it again does nothing."""
        self.stopping.set()
        until = time.monotonic() + self._deadline
        while self._stops:
            name, stop = self._stops.pop()
            try:
                stop(max(0.1, until - time.monotonic()))
            except Exception:  # noqa: BLE001 - the other parts are ended all the same
                _LOG.exception("%s did not end well", name)
                self._failed = True

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self.stopping.is_set() or not self._started:
            raise KeyboardInterrupt
        _LOG.info("stopping (%s)", signal.Signals(number).name)
        self.stopping.set()
