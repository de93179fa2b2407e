"""A thread of ours outlives what is raised in it, and says when it has ended all the same.

Whatever the agent lets us call there (redactions, log handlers) may raise anything at all, and an
exporting thread that is gone costs every span from then on.
"""

import time
from collections.abc import Callable
from typing import Final

from ._guard import failed

PAUSE_SECONDS: Final = 0.1
"""How long a thread of ours waits after a failure of its own: a lasting one shall cost little."""


def work_on(kind: str, work: Callable[[], bool], ended: Callable[[], None]) -> None:
    """Work until there is no more; the body of a thread.

    Args:
        kind: under which failures are counted.
        work: some of the work; False ends the thread.
        ended: called at the end, whatever brought it about.
    """
    try:
        while _goes_on(kind, work):
            pass
    finally:
        ended()


def _goes_on(kind: str, work: Callable[[], bool]) -> bool:
    try:
        return work()
    except BaseException as error:  # noqa: BLE001 - on a thread of ours nobody means it for us
        failed(kind, error)
        time.sleep(PAUSE_SECONDS)
        return True
