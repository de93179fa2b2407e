"""Waiting for a condition instead of sleeping for a guess."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_STEP_SECONDS = 0.05


class NotInTimeError(AssertionError):
    """A condition did not come true; the message says which and what was seen last."""


def eventually(
    check: Callable[[], T | None],
    *,
    what: str,
    timeout: float = 60.0,
    forgive: tuple[type[Exception], ...] = (),
) -> T:
    """Call `check` until it returns something true, and return that.

    Args:
        check: returns None, False or an empty container while the condition does not hold.
        what: the condition in words, for the message.
        timeout: seconds; generous, since a slow machine is no defect.
        forgive: exceptions of `check` that mean "not yet".

    Raises:
        NotInTimeError: the condition did not come true in time.
    """
    end = time.monotonic() + timeout
    seen: object = None
    while True:
        try:
            result = check()
        except forgive as error:
            seen = error
        else:
            if result:
                return result
            seen = result
        if time.monotonic() > end:
            raise NotInTimeError(f"{what}: not within {timeout:g} s; last seen: {seen!r}")
        time.sleep(_STEP_SECONDS)
