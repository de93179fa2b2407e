"""Which agents were seen, kept beside the log: their series come back at 0 with the next start."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from seekwatch.exporters.known_agents import load_known_agents, save_known_agents
from seekwatch.exporters.metrics import MetricsGateway

_LOG: Final = logging.getLogger(__name__)

_REFRESH: Final = 86_400.0
"""Seconds after which agents at work are written again, lest a month makes them forgotten."""


class AgentMemory:
    """The agents of one worker.

    Args:
        path: of the file; None keeps nothing.
        gateway: gets the agents of the file at once.
        wall: seconds since the epoch.
    """

    def __init__(
        self,
        path: Path | None,
        gateway: MetricsGateway,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._gateway = gateway
        self._wall = wall
        if path is not None:
            gateway.recall(load_known_agents(path, wall_clock=wall))
        self._kept: frozenset[tuple[str, str]] = frozenset()
        self._kept_at = wall()

    def keep(self) -> None:
        """Write the file when an agent has come, and once a day for those that are at work."""
        agents, now = self._gateway.agents_at_work(), self._wall()
        if self._path is None or (agents <= self._kept and now < self._kept_at + _REFRESH):
            return
        self._kept, self._kept_at = agents, now
        try:
            save_known_agents(self._path, sorted(agents), wall_clock=self._wall)
        except OSError as error:
            _LOG.warning("agents are not remembered over a restart: %s: %s", self._path, error)
