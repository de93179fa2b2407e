"""Which agents were seen, kept beside the log: their series come back at 0 with the next start."""

import logging
from pathlib import Path
from typing import Final

from seekwatch.exporters.known_agents import load_known_agents, save_known_agents
from seekwatch.exporters.metrics import MetricsGateway

_LOG: Final = logging.getLogger(__name__)


class AgentMemory:
    """The agents of one worker.

    Args:
        path: of the file; None keeps nothing.
        gateway: gets the agents of the file at once.
    """

    def __init__(self, path: Path | None, gateway: MetricsGateway) -> None:
        self._path = path
        self._gateway = gateway
        if path is not None:
            gateway.recall(load_known_agents(path))
        self._kept = frozenset(gateway.known_agents())

    def keep(self) -> None:
        """Write the file when an agent has come."""
        agents = frozenset(self._gateway.known_agents())
        if self._path is None or agents <= self._kept:
            return
        self._kept = agents
        try:
            save_known_agents(self._path, sorted(agents))
        except OSError as error:
            _LOG.warning("agents are not remembered over a restart: %s: %s", self._path, error)
