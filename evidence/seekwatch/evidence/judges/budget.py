"""What judging may cost in an hour: calls and money, whichever runs out first."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

_HOUR: Final = 3_600.0


class HourlyBudget:
    """Counts the calls of the last hour and what they cost; safe to share between threads.

    Args:
        calls: in any hour; 0 is no call at all.
        dollars: in any hour; None is no limit in money, for endpoints without a price.
        clock: monotonic seconds.
    """

    def __init__(
        self, calls: int, dollars: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._calls = calls
        self._dollars = dollars
        self._clock = clock
        self._lock = threading.Lock()
        self._spent: deque[tuple[float, float]] = deque()

    def take(self, most: float) -> "Reservation | None":
        """Reserve one call; None where it could go beyond the budget.

        Args:
            most: dollars that the call may cost at most.
        """
        with self._lock:
            now = self._clock()
            while self._spent and self._spent[0][0] <= now - _HOUR:
                self._spent.popleft()
            if len(self._spent) >= self._calls:
                return None
            spent = sum(cost for _, cost in self._spent)
            if self._dollars is not None and spent + most > self._dollars:
                return None
            # Counted at its most until it is known, so that parallel calls cannot overdraw.
            entry = (now, most)
            self._spent.append(entry)
        return Reservation(self, entry)

    def settle(self, entry: tuple[float, float], cost: float) -> None:
        """Put what a call did cost in the place of what it might have."""
        with self._lock:
            for index, each in enumerate(self._spent):
                if each is entry:
                    self._spent[index] = (entry[0], cost)
                    return


class Reservation:
    """One call that was taken from a budget."""

    def __init__(self, budget: HourlyBudget, entry: tuple[float, float]) -> None:
        self._budget = budget
        self._entry = entry

    def settle(self, cost: float | None) -> None:
        """Say what the call did cost; unknown stays at its most."""
        if cost is not None:
            self._budget.settle(self._entry, cost)
