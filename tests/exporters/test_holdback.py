"""New series appear at 0, are scraped once, and only then move."""

import itertools
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from seekwatch.core.testing import FixedClock
from seekwatch.exporters.holdback import PATIENCE, Holdback
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.metrics_server import MetricsServer
from seekwatch.exporters.series import LARGEST, Increment
from tests.services.scorecards import envelope, scorecard


class Scraped:
    """A gateway behind its real server, and what a scraper gets from it."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.gateway = MetricsGateway(
            CollectorRegistry(), clock=self.clock, wall_clock=self.clock, environment={}
        )
        self.server = MetricsServer("127.0.0.1", 0, self.gateway)

    def successes(self, agent: str = "finder") -> float | None:
        answer = httpx.get(f"http://127.0.0.1:{self.server.port}/metrics")
        answer.raise_for_status()
        wanted = {"agent": agent, "lane": "live", "outcome": "success"}
        return next(
            (
                sample.value
                for family in text_string_to_metric_families(answer.text)
                for sample in family.samples
                if sample.name == "seekwatch_runs_total" and sample.labels == wanted
            ),
            None,
        )


@pytest.fixture
def scraped() -> Iterator[Scraped]:
    made = Scraped()
    made.server.start()
    yield made
    made.server.stop()


def test_the_first_scrape_shows_zero_and_the_second_everything(scraped: Scraped) -> None:
    for _ in range(3):
        scraped.gateway.scored(scorecard(), envelope())
    assert scraped.successes() == 0
    assert scraped.successes() == 3
    scraped.gateway.scored(scorecard(), envelope())
    assert scraped.successes() == 4


def test_without_a_scraper_increments_show_after_the_patience(scraped: Scraped) -> None:
    scraped.gateway.scored(scorecard(), envelope())
    scraped.clock.advance(PATIENCE)
    assert scraped.successes() == 1


def test_an_agent_waits_for_itself_alone(scraped: Scraped) -> None:
    scraped.gateway.scored(scorecard(agent="first"), envelope())
    assert scraped.successes("first") == 0
    scraped.gateway.scored(scorecard(agent="first"), envelope())
    scraped.gateway.scored(scorecard(agent="second"), envelope())
    assert scraped.successes("first") == 2
    assert scraped.successes("second") == 1  # its zero was on the page before


def test_what_comes_in_while_a_page_is_made_waits_for_the_next_one() -> None:
    applied: list[Increment] = []
    clock = FixedClock()
    holdback = Holdback(applied.append, clock=clock)
    holdback.sight(("early",))
    page = holdback.waiting()
    holdback.sight(("late",))
    for group in ("early", "late"):
        holdback.add((group,), Increment(name=group))
    holdback.shown(page)
    assert [increment.name for increment in applied] == ["early"]


def test_held_counters_are_summed_and_observations_are_kept() -> None:
    applied: list[Increment] = []
    holdback = Holdback(applied.append, clock=itertools.count().__next__)
    holdback.sight(("g",))
    for value in (1.0, 2.0):
        holdback.add(("g",), Increment(name="total", value=value))
        holdback.add(("g",), Increment(name="seconds", value=value, observation=True))
    holdback.shown((("g",),))
    assert [(item.name, item.value) for item in applied] == [
        ("total", 3.0),
        ("seconds", 1.0),
        ("seconds", 2.0),
    ]


def test_a_sum_that_would_be_too_large_for_one_increment_stays_in_parts() -> None:
    applied: list[Increment] = []
    holdback = Holdback(applied.append, clock=itertools.count().__next__)
    holdback.sight(("g",))
    for _ in range(2):
        holdback.add(("g",), Increment(name="total", value=LARGEST))
    holdback.shown((("g",),))
    assert [item.value for item in applied] == [LARGEST, LARGEST]


def test_what_happens_before_the_first_scrape_of_a_process_is_an_increase_too() -> None:
    registry = CollectorRegistry()
    gateway = MetricsGateway(registry, environment={})
    gateway.dead_letter("json")
    gateway.spans("stolen")
    gateway.partition(0, read=0, end=0, lag_seconds=float("nan"))
    counters = {
        "seekwatch_dead_letters_total": {"reason": "json"},
        "seekwatch_label_overflow_total": {"label": "result"},
        "seekwatch_refused_values_total": {"metric": "seekwatch_lag_seconds"},
    }
    first, second = (gateway.page().body.decode() for _ in range(2))
    for name, labels in counters.items():
        ((label, value),) = labels.items()
        assert f'{name}{{{label}="{value}"}} 0.0' in first
        assert f'{name}{{{label}="{value}"}} 1.0' in second
    assert registry.get_sample_value("seekwatch_read_position", {"partition": "0"}) == 0
