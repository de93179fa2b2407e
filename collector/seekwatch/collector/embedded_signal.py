"""Waiting for records of the embedded log without asking the file over and over.

Inside one process an append wakes the readers. Appends of other processes are noticed by SQLite's
`data_version`, which costs no query and is looked at a few times a second.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

_LOOK_SECONDS: Final = 0.1

_Found = TypeVar("_Found")


class Arrivals:
    """Tells the readers of this process that something was written."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def announce(self) -> None:
        """Wake everyone who waits."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def wait_for(
        self,
        look: Callable[[], _Found | None],
        version: Callable[[], int | None],
        timeout: float,
    ) -> _Found | None:
        """Return the first thing that `look` finds, or None after `timeout` seconds.

        `look` is called at once, and again only after something was written: here, or elsewhere,
        as a change of `version` tells (see `data_version`). Its None ends the waiting.
        """
        deadline = time.monotonic() + timeout
        while True:
            seen, before = self._count, version()
            found = look()
            if found is not None or before is None:
                return found
            while self._count == seen and version() == before:
                left = deadline - time.monotonic()
                if left <= 0:
                    return None
                with self._changed:
                    if self._count == seen:
                        self._changed.wait(min(left, _LOOK_SECONDS))


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that changes when another connection has written to the file."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    return int(version)
