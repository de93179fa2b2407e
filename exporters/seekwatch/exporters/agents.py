"""Agent names and releases as labels: the two values on a metric that come from spans.

Both are text that an attacker may choose, so the first is capped and the second is one per agent.
"""

from collections.abc import Callable, Iterable
from typing import Final

from .metric_names import OTHER
from .series import readable_label

OLD_RELEASE_AFTER: Final = 600.0
"""Seconds without a run of the newest release before an earlier one may take its place again."""

RELEASES_REMEMBERED: Final = 16


class AgentCap:
    """The agents that have a label of their own: the first that come, up to a number.

    Args:
        cap: how many; 0 puts every agent under `other`.
        overflowed: called for each name that is shown as `other`.
    """

    def __init__(self, cap: int, overflowed: Callable[[], None]) -> None:
        self._cap = cap
        self._overflowed = overflowed
        self._agents: set[str] = set()

    def label(self, agent: str) -> str:
        """Return the label of an agent, giving it one if there is room."""
        if agent in self._agents or agent == OTHER:
            return agent
        if len(self._agents) < self._cap and readable_label(agent):
            self._agents.add(agent)
            return agent
        self._overflowed()
        return OTHER


class ReleaseWatch:
    """The newest release of one agent.

    During a roll-out runs of two releases alternate. A release that was never seen is the newest at
    once; one that was seen before comes back only when the newest has been quiet for a while, which
    is what a roll-back looks like.
    """

    def __init__(self) -> None:
        self.current: tuple[str, str] | None = None
        self._last_run = 0.0
        self._seen: list[tuple[str, str]] = []

    def run(self, release: str, environment: str, start: float) -> bool:
        """Take note of a run that began at `start` (Unix seconds).

        Returns:
            True when another release is now the newest.
        """
        candidate = (release, environment)
        if candidate == self.current:
            self._last_run = max(self._last_run, start)
            return False
        if candidate in self._seen and start < self._last_run + OLD_RELEASE_AFTER:
            return False
        self._seen = [*self._seen, candidate][-RELEASES_REMEMBERED:]
        self.current = candidate
        self._last_run = start
        return True


def readable_release(values: Iterable[str | None]) -> bool:
    """Tell whether release and environment can be labels (an absent one can)."""
    return all(value is None or value == "" or readable_label(value) for value in values)
