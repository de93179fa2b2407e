"""Agents of an earlier run are known again."""

from pathlib import Path

from seekwatch.core.testing import FixedClock
from seekwatch.exporters.known_agents import (
    FORGOTTEN_AFTER,
    agents_of,
    load_known_agents,
    save_known_agents,
)
from tests.services.scorecards import score_entry, scorecard


def test_pairs_come_back_and_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "agents.json"
    save_known_agents(path, [("b", "live")])
    save_known_agents(path, [("a", "canary"), ("b", "live")])
    assert load_known_agents(path) == (("a", "canary"), ("b", "live"))
    assert [item.name for item in tmp_path.iterdir()] == ["agents.json"]


def test_an_agent_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    path, clock = tmp_path / "agents.json", FixedClock()
    save_known_agents(path, [("old", "live")], wall_clock=clock)
    clock.advance(FORGOTTEN_AFTER)
    save_known_agents(path, [("new", "live")], wall_clock=clock)
    assert load_known_agents(path, wall_clock=clock) == (("new", "live"), ("old", "live"))
    clock.advance(1)
    assert load_known_agents(path, wall_clock=clock) == (("new", "live"),)


def test_a_missing_or_damaged_file_is_none(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text('[{"agent": 1}]')
    assert load_known_agents(tmp_path / "missing.json") == ()
    assert load_known_agents(damaged) == ()
    save_known_agents(damaged, [("a", "live")])
    assert load_known_agents(damaged) == (("a", "live"),)


def test_pairs_are_learned_from_scores() -> None:
    entries = [score_entry(1), score_entry(2), score_entry(3, card=scorecard(3, lane="canary"))]
    assert agents_of(entries) == {("finder", "live"), ("finder", "canary")}
