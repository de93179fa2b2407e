"""What goes wrong in the demo, in what order, and how it is told."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from demo.topics import NEWS_HOSTS, TOPICS
from demo.web import LocalWeb

HEALTHY_SECONDS: Final = 20.0
"""How long the agent answers well before anything goes wrong."""

_OFFICIAL: Final = frozenset(topic.official for topic in TOPICS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that goes wrong.

    Attributes:
        at: seconds after the traffic began.
        what: the sentence on the screen.
        axis: the axis that should fall.
        apply: makes it happen; None for what the agent does by its own clock.
    """

    at: float
    what: str
    axis: str
    apply: Callable[[LocalWeb], None] | None


YEAR_IS_DROPPED_AT: Final = HEALTHY_SECONDS + 8

STEPS: Final = (
    Step(
        at=HEALTHY_SECONDS,
        what=f"Links die: pages of {NEWS_HOSTS[0]} and of every operator answer 404. "
        "The agent cites them all the same, from the snippet.",
        axis="citation_validity",
        apply=lambda web: web.worsen(dead_hosts=_OFFICIAL | {NEWS_HOSTS[0]}),
    ),
    Step(
        at=HEALTHY_SECONDS + 4,
        what="Sources age: every page and every search result is four years old now.",
        axis="source_freshness",
        apply=lambda web: web.worsen(stale_years=4),
    ),
    Step(
        at=YEAR_IS_DROPPED_AT,
        what="The rewriter drops the year from the question before it searches.",
        axis="query_quality",
        apply=None,
    ),
    Step(
        at=HEALTHY_SECONDS + 12,
        what=f"{NEWS_HOSTS[1]} answers every page with a login form, and with status 200.",
        axis="citation_validity",
        apply=lambda web: web.worsen(login_hosts=frozenset({NEWS_HOSTS[1]})),
    ),
)


class Schedule:
    """Lets the steps happen when their time has come."""

    def __init__(self, web: LocalWeb, steps: tuple[Step, ...]) -> None:
        self._web = web
        self._waiting = list(steps)
        self._begin = time.monotonic()

    def elapsed(self) -> float:
        """Seconds since the traffic began."""
        return time.monotonic() - self._begin

    def due(self) -> list[Step]:
        """Apply and return the steps whose time has come."""
        elapsed = self.elapsed()
        due = [step for step in self._waiting if step.at <= elapsed]
        for step in due:
            self._waiting.remove(step)
            if step.apply is not None:
                step.apply(self._web)
        return due
