"""A real Prometheus sees the very first bad run of an agent, and evaluates every rule on it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry

from seekwatch.core.scorecard import Axis, Outcome
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Verdict
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.metrics_server import MetricsServer
from tests.services.prometheus import Prometheus, ScrapeJob
from tests.services.prometheus_tools import PrometheusTools
from tests.services.scorecards import envelope, scorecard
from tests.services.waiting import eventually

# The templates of production, evaluated every second.
DEMO_RULES = Path(__file__).parents[2] / "rules" / "generated" / "demo"
HOSTILE = "a\"b\\c{{ $value }}'; rm -rf /; 購物"
BAD = (
    'seekwatch_axis_evaluations_total{agent="newcomer",lane="live",axis="citation_validity",'
    'verdict="bad"}'
)


@pytest.fixture(scope="module")
def gateway() -> MetricsGateway:
    return MetricsGateway(CollectorRegistry(), environment={})


@pytest.fixture(scope="module")
def prometheus(gateway: MetricsGateway, prometheus_tools: PrometheusTools) -> Iterator[Prometheus]:
    server = MetricsServer("127.0.0.1", 0, gateway)
    server.start()
    job = ScrapeJob(name="seekwatch", targets=(f"127.0.0.1:{server.port}",))
    with Prometheus(
        prometheus_tools,
        scrape=[job],
        rules=sorted(DEMO_RULES.glob("*.yaml")),
        flags=["--enable-feature=exemplar-storage"],
    ) as running:
        yield running
    server.stop()


def test_the_first_bad_run_of_a_new_agent_is_an_increase(
    gateway: MetricsGateway, prometheus: Prometheus
) -> None:
    prometheus.wait_for_query('up{job="seekwatch"} == 1')
    gateway.scored(
        scorecard(7, agent="newcomer", verdicts={Axis.CITATION_VALIDITY: Verdict.BAD}), envelope(7)
    )
    # `increase` extrapolates, so the plain difference is what tells one from none.
    grown = eventually(
        lambda: prometheus.query(f"max_over_time({BAD}[1m]) - min_over_time({BAD}[1m]) > 0"),
        what="the bad run shows as growth",
    )
    assert [sample.number for sample in grown] == [1.0]
    assert prometheus.query(f"increase({BAD}[1m]) > 0")
    assert prometheus.value(f"resets({BAD}[1m])") == 0
    assert prometheus.value('scrape_samples_scraped{job="seekwatch"}')


def test_created_samples_are_no_series(gateway: MetricsGateway, prometheus: Prometheus) -> None:
    gateway.scored(scorecard(1), envelope(1))
    prometheus.wait_for_query('seekwatch_runs_total{outcome="success"} == 1')
    assert not prometheus.query('{__name__=~"seekwatch_.*_created"}')


def test_every_rule_is_evaluated_without_an_error_whatever_an_agent_is_called(
    gateway: MetricsGateway, prometheus: Prometheus
) -> None:
    for number in range(40):
        gateway.scored(
            scorecard(
                number,
                agent=HOSTILE,
                outcome=Outcome.ERROR,
                verdicts=dict.fromkeys(Axis, Verdict.BAD),
                tags=(FailureTag.CACHE_LEAK,),
            ),
            envelope(number),
        )
    fired = eventually(
        lambda: [alert for alert in prometheus.alerts() if alert.labels.get("agent") == HOSTILE],
        what="an alert about the agent",
    )
    assert all(HOSTILE in alert.annotations["summary"] for alert in fired)
    rules = eventually(lambda: evaluated_rules(prometheus), what="every rule was evaluated")
    assert [rule for rule in rules if rule["health"] != "ok"] == []


def evaluated_rules(prometheus: Prometheus) -> list[dict[str, Any]]:
    """All rules; none until each has been evaluated."""
    answer = httpx.get(f"{prometheus.url}/api/v1/rules").json()
    rules = [rule for group in answer["data"]["groups"] for rule in group["rules"]]
    return rules if all(rule["health"] != "unknown" for rule in rules) else []
