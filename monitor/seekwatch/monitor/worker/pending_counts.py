"""Counts of reading that wait for their commit, like everything that a metric shows of it."""

from collections import Counter

from seekwatch.core.records import Signal
from seekwatch.processors.assembly import Assembled


class PendingCounts:
    """Counts that move with the next commit.

    Attributes:
        read, skipped, dead: records by signal.
        reasons: dead letters by reason.
        misrouted, late: see `assembly.Counts`.
    """

    def __init__(self) -> None:
        self.read: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.dead: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.misrouted = 0
        self.late = 0

    def add(self, assembled: Assembled) -> None:
        """Add what one step counted."""
        counts = assembled.counts
        self.read.update({str(signal): number for signal, number in counts.read.items()})
        self.skipped[str(Signal.TRACES)] += counts.skipped
        self.misrouted += counts.misrouted
        self.late += counts.late
        for letter in assembled.dead_letters:
            self.reasons[letter.reason] += 1
            # A record of which one span is dead has not failed as a whole.
            if letter.value == letter.record.value:
                self.dead[str(letter.record.signal)] += 1
