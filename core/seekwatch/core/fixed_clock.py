"""A clock for tests: it stands still, so that nothing depends on how fast a test runs."""

from typing import Final

from seekwatch.core.otlp.building import START

_SECOND: Final = 1_000_000_000
_STEP: Final = 1_000_000


class FixedClock:
    """A clock that moves only when told to.

    Calling it gives seconds, so that it stands in for `time.time` and `time.monotonic` alike.

    Args:
        start: nanoseconds since the epoch.
    """

    def __init__(self, start: int = START) -> None:
        self._now = start

    def __call__(self) -> float:
        """Return seconds."""
        return self._now / _SECOND

    def nanoseconds(self) -> int:
        """Return nanoseconds, as OTLP counts."""
        return self._now

    def milliseconds(self) -> int:
        """Return milliseconds, as the log counts."""
        return self._now // _STEP

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`; going back is not possible.

        Raises:
            ValueError: `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError(f"a clock does not go back ({seconds} s)")
        self._now += round(seconds * _SECOND)
