"""Agents that go on running are remembered for good; those that do not are forgotten."""

from pathlib import Path

from prometheus_client import CollectorRegistry

from seekwatch.core.testing import FixedClock
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.monitor.worker.agent_memory import AgentMemory
from tests.services.scorecards import envelope, scorecard

DAY = 86_400.0


def started(path: Path, clock: FixedClock) -> tuple[MetricsGateway, AgentMemory]:
    gateway = MetricsGateway(CollectorRegistry(), wall_clock=clock, environment={})
    return gateway, AgentMemory(path, gateway, wall=clock)


def test_an_agent_that_runs_every_day_is_known_after_months(tmp_path: Path) -> None:
    clock = FixedClock()
    gateway, memory = started(tmp_path / "agents.json", clock)
    for number in range(70):
        gateway.scored(scorecard(number, agent="steady"), envelope(number))
        memory.keep()
        clock.advance(DAY)
    again, _ = started(tmp_path / "agents.json", clock)
    assert again.known_agents() == (("steady", "live"),)


def test_an_agent_that_stopped_is_forgotten_although_others_come(tmp_path: Path) -> None:
    clock = FixedClock()
    gateway, memory = started(tmp_path / "agents.json", clock)
    gateway.scored(scorecard(1, agent="retired"), envelope(1))
    memory.keep()
    for number in range(5):
        clock.advance(10 * DAY)
        gateway, memory = started(tmp_path / "agents.json", clock)
        gateway.scored(scorecard(number, agent=f"agent-{number}"), envelope(number))
        memory.keep()
    again, _ = started(tmp_path / "agents.json", clock)
    assert ("retired", "live") not in again.known_agents()
    assert ("agent-4", "live") in again.known_agents()
