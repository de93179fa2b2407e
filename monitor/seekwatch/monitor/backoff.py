"""How long to wait before a failed step is tried again."""

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final, TypeVar, cast

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    wait_random_exponential,
)

from seekwatch.core.errors import RetryableError

_LOG: Final = logging.getLogger(__name__)
_Result = TypeVar("_Result")

_FIRST: Final = 0.2
_LONGEST: Final = 5.0
"""Seconds; short enough that a member of a Kafka group is not taken for dead."""


class Backoff:
    """Exponential with jitter, so that workers do not come back all at once."""

    def __init__(self) -> None:
        self._wait = wait_random_exponential(multiplier=_FIRST, max=_LONGEST)
        self._failures = 0

    def next(self, error: RetryableError) -> float:
        """Return seconds to wait after one more failure."""
        self._failures += 1
        state = cast("Any", SimpleNamespace(attempt_number=self._failures))
        return min(_LONGEST, max(self._wait(state), error.retry_after or 0.0))

    def reset(self) -> None:
        """Note that it works again."""
        self._failures = 0


def patiently(call: Callable[[], _Result], *, seconds: float = 60.0) -> _Result:
    """Call until it succeeds: at start the log may come up later than we do.

    Args:
        call: what to do.
        seconds: how long to go on after retryable errors.

    Raises:
        RetryableError: the last one, when the time is up.
    """
    retrying = Retrying(
        retry=retry_if_exception_type(RetryableError),
        wait=wait_random_exponential(multiplier=_FIRST, max=_LONGEST),
        stop=stop_after_delay(seconds),
        before_sleep=_say,
        reraise=True,
    )
    return retrying(call)


def _say(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    _LOG.warning("not yet, trying again: %s", error)
