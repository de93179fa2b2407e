"""When a trace closes: the rules as data, in seconds of the log's clock."""

from seekwatch.core.model import Record
from seekwatch.core.scorecard import CloseReason


class ClosingRules(Record, frozen=True, kw_only=True):
    """The rules of one worker.

    Attributes:
        quiet: seconds without a span, after the root has ended, until a trace is complete.
        idle: seconds without a span until a trace whose root has not ended is closed.
        max_age: seconds from a trace's first record until it is closed in any case.
        late_window: seconds after closing in which late spans are kept for one revision 2; 0: none
            are kept.
        remember: seconds after the late window in which spans of a closed trace are still known to
            be late, instead of opening the trace anew.
        span_cap: spans at which a trace is closed.
        byte_cap: bytes of spans and log records at which a trace is closed.
    """

    quiet: float = 10.0
    idle: float = 300.0
    max_age: float = 7_200.0
    late_window: float = 120.0
    remember: float = 600.0
    span_cap: int = 10_000
    byte_cap: int = 64 * 1024 * 1024

    def deadline(self, *, first: int, last: int, root_ended: bool) -> tuple[int, CloseReason]:
        """Return when an open trace closes (milliseconds) and why, if nothing more arrives.

        Args:
            first: time of its first record, milliseconds.
            last: time of its latest one.
            root_ended: whether its root has ended.
        """
        pause, reason = (
            (self.quiet, CloseReason.COMPLETE) if root_ended else (self.idle, CloseReason.IDLE)
        )
        quiet_at = last + _milliseconds(pause)
        old_at = first + _milliseconds(self.max_age)
        return (old_at, CloseReason.MAX_AGE) if old_at < quiet_at else (quiet_at, reason)

    def window_end(self, closed_at: int) -> int:
        """Return when the late window of a trace that closed at `closed_at` ends."""
        return closed_at + _milliseconds(self.late_window)

    def forgotten_at(self, closed_at: int) -> int:
        """Return when a trace that closed at `closed_at` is no longer known."""
        return self.window_end(closed_at) + _milliseconds(self.remember)


CORRECTABLE = frozenset({CloseReason.COMPLETE, CloseReason.IDLE, CloseReason.MAX_AGE})
"""Reasons after which late spans make a revision 2; a cap or short memory cut on purpose."""


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
