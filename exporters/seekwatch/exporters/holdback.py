"""Hold increments of new series back until their zeros were on a page.

Prometheus takes the first value of a series as its origin: a counter that first appears as 5 has,
to `increase()`, not increased. So new series appear at 0, are scraped once, and only then move. A
scraper that does not come is not waited for longer than the patience.
"""

from collections.abc import Callable
from threading import RLock
from typing import Final

from .series import LARGEST, Increment, Key

Group = tuple[str, ...]
"""Series that are created together: those of an agent in a lane, or of the process."""

PATIENCE: Final = 60.0
"""Seconds: four scrapes at Prometheus' usual interval of 15."""


class Holdback:
    """Increments of groups whose zeros were not scraped yet. Safe to call from any thread.

    Args:
        apply: takes an increment when its time has come.
        clock: monotonic seconds.
        patience: seconds after which increments show even if nobody scraped.
    """

    def __init__(
        self,
        apply: Callable[[Increment], None],
        *,
        clock: Callable[[], float],
        patience: float = PATIENCE,
    ) -> None:
        self._apply = apply
        self._clock = clock
        self._patience = patience
        self._waiting: dict[Group, _Held] = {}
        self._released: set[Group] = set()
        # Re-entrant: applying an increment may count an overflow, which is an increment too.
        self._lock = RLock()

    def sight(self, group: Group) -> bool:
        """Tell whether `group` is new; the caller then creates its series at 0."""
        with self._lock:
            if group in self._released or group in self._waiting:
                return False
            self._waiting[group] = _Held(until=self._clock() + self._patience)
            return True

    def add(self, group: Group, increment: Increment) -> None:
        """Apply an increment of a sighted group, now or when the group is released."""
        with self._lock:
            held = self._waiting.get(group)
            if held is not None:
                held.add(increment)
                return
        self._apply(increment)

    def waiting(self) -> tuple[Group, ...]:
        """Groups whose series stand at 0: a page that is made now shows that."""
        with self._lock:
            return tuple(self._waiting)

    def shown(self, groups: tuple[Group, ...]) -> None:
        """Release groups that a page has shown at 0."""
        with self._lock:
            for group in groups:
                self._release(group)

    def release_due(self) -> None:
        """Release groups that have waited long enough."""
        now = self._clock()
        with self._lock:
            for group in [group for group, held in self._waiting.items() if held.until <= now]:
                self._release(group)

    def _release(self, group: Group) -> None:
        held = self._waiting.pop(group, None)
        if held is None:
            return
        self._released.add(group)
        for increment in held.increments():
            self._apply(increment)


class _Held:
    """What waits for one group; a counter's increments are kept as their sum."""

    def __init__(self, until: float) -> None:
        self.until = until
        self._sums: dict[Key, Increment] = {}
        self._single: list[Increment] = []

    def add(self, increment: Increment) -> None:
        key = (increment.name, increment.labels)
        earlier = self._sums.get(key)
        if increment.observation or (earlier and earlier.value + increment.value > LARGEST):
            self._single.append(increment)
        else:
            self._sums[key] = increment if earlier is None else _sum(earlier, increment)

    def increments(self) -> list[Increment]:
        return [*self._sums.values(), *self._single]


def _sum(earlier: Increment, later: Increment) -> Increment:
    return Increment(
        name=later.name,
        labels=later.labels,
        value=earlier.value + later.value,
        trace=later.trace or earlier.trace,
    )
