"""The gateway counts what happened, in the words that the rules read."""

import gzip
import threading
from collections.abc import Callable, Iterable

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families as parse_text

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.model import Adapter
from seekwatch.core.scorecard import Axis, Cost, Escalation, Latency, Outcome
from seekwatch.core.tags import FailureTag
from seekwatch.core.testing import FixedClock
from seekwatch.core.verdicts import Check, Verdict
from seekwatch.exporters.metric_names import CHECKS, DECLARATIONS, Scope
from seekwatch.exporters.metrics import METRIC_NAMES, SAMPLE_NAMES, MetricsGateway
from tests.services.scorecards import START, axis_verdict, envelope, scorecard

OPENMETRICS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2"
parse_openmetrics: Callable[[str], Iterable[Metric]] = (
    openmetrics_parser.text_string_to_metric_families
)
RUN = {"agent": "finder", "lane": "live"}


class Scene:
    """A gateway whose clocks stand still."""

    def __init__(self, **options: object) -> None:
        self.clock = FixedClock()
        self.registry = CollectorRegistry()
        self.gateway = MetricsGateway(
            self.registry,
            clock=self.clock,
            wall_clock=self.clock,
            environment={},
            **options,  # type: ignore[arg-type]
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)

    def scrape(self) -> str:
        return self.gateway.page().body.decode()


@pytest.fixture
def scene() -> Scene:
    """A gateway in which the agent `finder` was scraped at 0 in the live lane."""
    made = Scene(known_agents=[("finder", "live")])
    made.scrape()
    return made


def test_a_good_run_moves_every_counter_that_it_should(scene: Scene) -> None:
    scene.gateway.scored(scorecard(), envelope(), delay_seconds=12.0)
    assert scene.value("seekwatch_runs_total", outcome="success", **RUN) == 1
    for axis in Axis:
        assert (
            scene.value("seekwatch_axis_evaluations_total", axis=axis, verdict="good", **RUN) == 1
        )
        assert scene.value("seekwatch_axis_evaluations_total", axis=axis, verdict="bad", **RUN) == 0
    assert scene.value("seekwatch_run_duration_seconds_sum", **RUN) == 2.5
    assert scene.value("seekwatch_run_cost_usd_total", **RUN) == 0.01
    assert scene.value("seekwatch_priced_runs_total", outcome="success", **RUN) == 1
    assert scene.value("seekwatch_unpriced_runs_total", **RUN) == 0
    assert scene.value("seekwatch_scoring_delay_seconds_sum") == 12.0
    assert scene.value("seekwatch_last_scored_timestamp_seconds", agent="finder") == scene.clock()


def test_a_bad_run_moves_tags_checks_escalations_and_invariants(scene: Scene) -> None:
    check = CHECKS[Axis.CITATION_VALIDITY][0]
    citation = axis_verdict(
        Axis.CITATION_VALIDITY,
        Verdict.BAD,
        checks=(Check.bad(check, "404"), Check.good(check, "200"), Check.bad(check, "404")),
    )
    card = scorecard(
        axes=(citation,),
        outcome=Outcome.POLICY_VIOLATION,
        tags=(FailureTag.DEAD_LINK, FailureTag.FORBIDDEN_ACTION, FailureTag.CACHE_LEAK),
        escalations=(Escalation(source=Adapter.FETCH, target=Adapter.STEALTH, count=2),),
        complete=False,
    )
    scene.gateway.scored(card, envelope())
    axis = {"lane": "live", "axis": "citation_validity", "check": check}
    assert scene.value("seekwatch_checks_total", verdict="bad", **axis) == 2
    assert scene.value("seekwatch_checks_total", verdict="good", **axis) == 1
    assert scene.value("seekwatch_failure_tags_total", lane="live", tag="dead-link") == 1
    step = {"lane": "live", "from_adapter": "fetch", "to_adapter": "stealth"}
    assert scene.value("seekwatch_escalations_total", **step) == 2
    assert scene.value("seekwatch_escalated_runs_total", **RUN) == 1
    assert scene.value("seekwatch_incomplete_runs_total", **RUN) == 1
    violations = "seekwatch_invariant_violations_total"
    assert scene.value(violations, invariant="policy_violation", **RUN) == 1
    assert scene.value(violations, invariant="cache_leak", **RUN) == 1
    assert scene.value(violations, invariant="destructive_action", **RUN) == 0


def test_a_second_revision_moves_the_corrections_alone(scene: Scene) -> None:
    scene.gateway.scored(scorecard(), envelope(), delay_seconds=1)
    before = scene.scrape()
    scene.gateway.scored(scorecard(outcome=Outcome.ERROR), envelope(revision=2), delay_seconds=1)
    after = scene.scrape()
    changed = set(after.splitlines()) - set(before.splitlines())
    assert changed == {'seekwatch_corrections_total{agent="finder",lane="live"} 1.0'}


@pytest.mark.parametrize("cost", [None, float("nan"), float("inf"), -0.01])
def test_an_unknown_or_impossible_cost_is_unpriced_and_never_zero(
    scene: Scene, cost: float | None
) -> None:
    scene.gateway.scored(scorecard(cost=Cost(total=cost)), envelope())
    assert scene.value("seekwatch_unpriced_runs_total", **RUN) == 1
    assert scene.value("seekwatch_priced_runs_total", outcome="success", **RUN) == 0
    assert scene.value("seekwatch_run_cost_usd_total", **RUN) == 0


def test_a_run_that_cost_nothing_is_priced(scene: Scene) -> None:
    scene.gateway.scored(scorecard(cost=Cost(total=0.0)), envelope())
    assert scene.value("seekwatch_priced_runs_total", outcome="success", **RUN) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -1.0, 10**400])
def test_a_value_that_is_no_amount_is_refused_counted_and_logged_once(
    scene: Scene, value: float, caplog: pytest.LogCaptureFixture
) -> None:
    name = "seekwatch_run_duration_seconds"
    for _ in range(2):
        scene.gateway.scored(scorecard(latency=Latency(total=value)), envelope())
    assert scene.value("seekwatch_refused_values_total", metric=name) == 2
    assert scene.value(f"{name}_count", **RUN) == 0
    assert scene.value("seekwatch_runs_total", outcome="success", **RUN) == 2
    assert len([record for record in caplog.records if name in record.getMessage()]) == 1


def test_a_delay_that_an_agents_clock_made_negative_counts_as_zero(scene: Scene) -> None:
    scene.gateway.scored(scorecard(), envelope(), delay_seconds=-3.0)
    assert scene.value("seekwatch_scoring_delay_seconds_count") == 1
    assert scene.value("seekwatch_scoring_delay_seconds_sum") == 0


def test_agents_above_the_cap_are_other_and_counted() -> None:
    scene = Scene(agent_cap=2)
    for agent in ("a", "b", "c", "d", "a"):
        scene.gateway.scored(scorecard(agent=agent), envelope())
    scene.scrape()
    runs = {"lane": "live", "outcome": "success"}
    assert scene.value("seekwatch_runs_total", agent="a", **runs) == 2
    assert scene.value("seekwatch_runs_total", agent="other", **runs) == 2
    assert scene.value("seekwatch_runs_total", agent="c", **runs) is None
    assert scene.value("seekwatch_label_overflow_total", label="agent") == 2


@pytest.mark.parametrize("agent", ["", "x" * 500, "new\nline", "\ud800", "nul\x00"])
def test_an_agent_name_that_is_no_label_is_other(scene: Scene, agent: str) -> None:
    scene.gateway.scored(scorecard(agent=agent), envelope())
    scene.scrape()
    labels = {"agent": "other", "lane": "live", "outcome": "success"}
    assert scene.value("seekwatch_runs_total", **labels) == 1


def test_values_outside_a_closed_set_are_other_and_counted(scene: Scene) -> None:
    scene.gateway.spans("stolen", 3)
    scene.gateway.dead_letter("because")
    scene.gateway.scored(scorecard(lane="secret"), envelope())
    scene.scrape()
    assert scene.value("seekwatch_spans_total", result="other") == 3
    assert scene.value("seekwatch_dead_letters_total", reason="other") == 1
    assert scene.value("seekwatch_runs_total", agent="finder", lane="other", outcome="success") == 1
    for label in ("result", "reason", "lane"):
        assert scene.value("seekwatch_label_overflow_total", label=label) == 1


def test_a_check_or_step_that_no_scorer_declares_is_other(scene: Scene) -> None:
    verdict = axis_verdict(Axis.QUERY_QUALITY, checks=(Check.good("made-up", "x"),))
    downwards = Escalation(source=Adapter.STEALTH, target=Adapter.CACHE, count=1)
    scene.gateway.scored(scorecard(axes=(verdict,), escalations=(downwards,)), envelope())
    check = {"lane": "live", "axis": "query_quality", "check": "other", "verdict": "good"}
    assert scene.value("seekwatch_checks_total", **check) == 1
    step = {"lane": "live", "from_adapter": "other", "to_adapter": "other"}
    assert scene.value("seekwatch_escalations_total", **step) == 1


def test_every_pipeline_series_stands_at_zero_from_the_start() -> None:
    scene = Scene()
    families = {family.name: family for family in parse_text(scene.scrape())}
    for declaration in DECLARATIONS:
        if declaration.scope is Scope.PROCESS:
            samples = families[declaration.name.removesuffix("_total")].samples
            assert samples, declaration.name
            assert {sample.value for sample in samples} == {0.0}, declaration.name


def test_a_known_agent_comes_back_at_zero_and_is_not_said_to_have_been_scored() -> None:
    scene = Scene(known_agents=[("finder", "live")])
    page = scene.scrape()
    assert 'seekwatch_runs_total{agent="finder",lane="live",outcome="error"} 0.0' in page
    assert "seekwatch_last_scored_timestamp_seconds{" not in page
    assert scene.gateway.known_agents() == (("finder", "live"),)


def test_the_info_metric_shows_the_newest_release_of_an_agent_alone(scene: Scene) -> None:
    info = "seekwatch_agent_release_info"
    for release, seconds in (("1.0", 0), ("1.1", 60), ("1.0", 70), ("1.1", 80)):
        card = scorecard(release=release, environment="prod", start=START + seconds * 10**9)
        scene.gateway.scored(card, envelope())
    labels = {"agent": "finder", "environment": "prod"}
    assert scene.value(info, release="1.1", **labels) == 1
    assert scene.value(info, release="1.0", **labels) is None
    rolled_back = scorecard(release="1.0", environment="prod", start=START + 2000 * 10**9)
    scene.gateway.scored(rolled_back, envelope())
    assert scene.value(info, release="1.0", **labels) == 1
    assert scene.value(info, release="1.1", **labels) is None


def test_a_revoked_partition_leaves_no_series_behind(scene: Scene) -> None:
    scene.gateway.partition(3, read=10, end=12, lag_seconds=0.5)
    assert scene.value("seekwatch_lag_seconds", partition="3") == 0.5
    scene.gateway.forget_partition(3)
    scene.gateway.forget_partition(3)
    assert 'partition="3"' not in scene.scrape()


def test_up_falls_to_zero_when_the_loop_no_longer_turns(scene: Scene) -> None:
    assert "seekwatch_up 0.0" in scene.scrape()
    scene.gateway.turned()
    assert "seekwatch_up 1.0" in scene.scrape()
    scene.clock.advance(31)
    assert "seekwatch_up 0.0" in scene.scrape()


def test_exemplars_lead_from_slow_and_from_bad_runs_to_their_traces(scene: Scene) -> None:
    card = scorecard(7, verdicts={Axis.CITATION_VALIDITY: Verdict.BAD})
    scene.gateway.scored(card, envelope(7))
    page = scene.gateway.page(OPENMETRICS)
    assert page.content_type.startswith("application/openmetrics-text; version=1.0.0")
    samples = [
        sample
        for family in parse_openmetrics(page.body.decode())
        for sample in family.samples
        if sample.exemplar
    ]
    assert {sample.exemplar.labels["trace_id"] for sample in samples if sample.exemplar} == {
        card.trace
    }
    assert {sample.name for sample in samples} == {
        "seekwatch_run_duration_seconds_bucket",
        "seekwatch_axis_evaluations_total",
    }


def test_a_trace_id_that_is_none_gives_no_exemplar(scene: Scene) -> None:
    scene.gateway.scored(scorecard(trace="<script>"), envelope())
    assert b"script" not in scene.gateway.page(OPENMETRICS).body


def test_the_page_holds_no_created_samples(scene: Scene) -> None:
    assert b"_created" not in scene.gateway.page(OPENMETRICS).body
    assert b"_created" not in scene.gateway.page().body


def test_every_sample_on_the_page_is_one_that_was_declared(scene: Scene) -> None:
    scene.gateway.scored(scorecard(release="1"), envelope(), delay_seconds=1)
    scene.gateway.partition(0, read=1, end=1, lag_seconds=0)
    scene.gateway.build_info("0.1", "s", "p")
    names = {sample.name for family in parse_text(scene.scrape()) for sample in family.samples}
    assert names == SAMPLE_NAMES
    assert all(name.startswith("seekwatch_") for name in METRIC_NAMES)


@pytest.mark.parametrize("key", ["PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir"])
def test_multi_process_mode_stops_the_start(key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        MetricsGateway(CollectorRegistry(), environment={key: "/tmp/x"})


def test_a_negative_agent_cap_stops_the_start() -> None:
    with pytest.raises(ConfigurationError, match="agent_cap"):
        MetricsGateway(CollectorRegistry(), agent_cap=-1, environment={})


def test_scrapes_beside_scoring_lose_nothing() -> None:
    gateway = MetricsGateway(CollectorRegistry(), environment={})
    ended = threading.Event()

    def scrape() -> None:
        while not ended.is_set():
            gzip.compress(gateway.page(OPENMETRICS).body)

    scraper = threading.Thread(target=scrape)
    scraper.start()

    def score(agent: str) -> None:
        for _ in range(100):
            gateway.scored(scorecard(agent=agent), envelope())

    scorers = [threading.Thread(target=score, args=(f"agent-{number}",)) for number in range(4)]
    for scorer in scorers:
        scorer.start()
    for scorer in scorers:
        scorer.join()
    ended.set()
    scraper.join()
    gateway.page()
    families = {family.name: family for family in parse_text(gateway.page().body.decode())}
    runs = [sample.value for sample in families["seekwatch_runs"].samples if sample.value]
    assert runs == [100.0] * 4
