"""A real Prometheus sees the very first bad run of an agent that it has never heard of."""

from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry

from seekwatch.core.scorecard import Axis
from seekwatch.core.verdicts import Verdict
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.metrics_server import MetricsServer
from tests.services.prometheus import Prometheus, ScrapeJob
from tests.services.prometheus_tools import PrometheusTools
from tests.services.scorecards import envelope, scorecard
from tests.services.waiting import eventually

BAD = (
    'seekwatch_axis_evaluations_total{agent="newcomer",lane="live",axis="citation_validity",'
    'verdict="bad"}'
)


@pytest.fixture
def gateway() -> MetricsGateway:
    return MetricsGateway(CollectorRegistry(), environment={})


@pytest.fixture
def prometheus(gateway: MetricsGateway, prometheus_tools: PrometheusTools) -> Iterator[Prometheus]:
    server = MetricsServer("127.0.0.1", 0, gateway)
    server.start()
    job = ScrapeJob(name="seekwatch", targets=(f"127.0.0.1:{server.port}",))
    with Prometheus(
        prometheus_tools, scrape=[job], flags=["--enable-feature=exemplar-storage"]
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
