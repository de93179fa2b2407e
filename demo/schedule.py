"""What goes wrong in the demo, in what order, and how it is told."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from demo.topics import NEWS_HOSTS, TOPICS
from demo.web import LocalWeb

HEALTHY_SECONDS: Final = 20.0
"""How long the agent answers well before anything goes wrong."""
BETWEEN_STEPS: Final = 8.0
"""From one step to the next: long enough for the first to show before the second begins."""

_OFFICIAL: Final = frozenset(topic.official for topic in TOPICS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that goes wrong.

    Attributes:
        at: seconds after the traffic began.
        name: two or three words for it.
        what: the sentences on the screen.
        axis: the axis that should fall.
        tag: the failure tag that should appear.
        apply: makes it happen; None for what the agent does by its own clock.
    """

    at: float
    name: str
    what: str
    axis: str
    tag: str
    apply: Callable[[LocalWeb], None] | None


YEAR_IS_DROPPED_AT: Final = HEALTHY_SECONDS

# Citations come last: the demo ends with their alert.
STEPS: Final = (
    Step(
        at=YEAR_IS_DROPPED_AT,
        name="the year is dropped",
        what="The agent's rewriter drops the year from the question before it searches.",
        axis="query_quality",
        tag="constraint-drop",
        apply=None,
    ),
    Step(
        at=HEALTHY_SECONDS + BETWEEN_STEPS,
        name="sources age",
        what="Every page and every search result is four years old now.",
        axis="source_freshness",
        tag="stale-source",
        apply=lambda web: web.worsen(stale_years=4),
    ),
    Step(
        at=HEALTHY_SECONDS + 2 * BETWEEN_STEPS,
        name="links die",
        what=f"{NEWS_HOSTS[0]} and the official site of every topic answer 404. The agent answers "
        "from the search snippets and cites the dead pages all the same.",
        axis="citation_validity",
        tag="dead-link",
        apply=lambda web: web.worsen(dead_hosts=_OFFICIAL | {NEWS_HOSTS[0]}),
    ),
    Step(
        at=HEALTHY_SECONDS + 2 * BETWEEN_STEPS + 4,
        name="a login wall",
        what=f"{NEWS_HOSTS[1]} answers every page with a login form, and with status 200.",
        axis="citation_validity",
        tag="login-wall",
        apply=lambda web: web.worsen(login_hosts=frozenset({NEWS_HOSTS[1]})),
    ),
)


class Schedule:
    """Lets the steps happen when their time has come."""

    def __init__(
        self,
        web: LocalWeb,
        steps: tuple[Step, ...],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._web = web
        self._waiting = list(steps)
        self._clock = clock
        self._begin = clock()

    def elapsed(self) -> float:
        """Seconds since the traffic began."""
        return self._clock() - self._begin

    def due(self) -> list[Step]:
        """Apply and return the steps whose time has come."""
        elapsed = self.elapsed()
        due = [step for step in self._waiting if step.at <= elapsed]
        for step in due:
            self._waiting.remove(step)
            if step.apply is not None:
                step.apply(self._web)
        return due

    def over(self) -> bool:
        """Whether every step has happened."""
        return not self._waiting
