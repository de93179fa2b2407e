"""How long to wait before a failed step is tried again."""

from types import SimpleNamespace
from typing import Any, Final, cast

from tenacity import wait_random_exponential

from seekwatch.core.errors import RetryableError

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
