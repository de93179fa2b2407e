"""From one call in an agent to a page for on-call, over every real station.

Agent → OTLP → Collector → Kafka → worker → /metrics → Prometheus → Alertmanager → webhook. Two
agents: the web of one goes bad, and only that one is paged about.
"""

import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from demo.topics import NEWS_HOSTS, TOPICS
from demo.web import MODEL_NAME, LocalWeb, WebServer
from tests.services.alertmanager import Alertmanager
from tests.services.collected import PARTITIONS, CollectedTopics
from tests.services.monitor_process import MonitorProcess
from tests.services.otelcol import Collector
from tests.services.process import Service
from tests.services.prometheus import Prometheus, ScrapeJob
from tests.services.prometheus_tools import PrometheusTools
from tests.services.waiting import eventually
from tests.services.webhook import WebhookReceiver

STEADY, FAILING = "steady-agent", "failing-agent"
AXIS = "citation_validity"
ENOUGH_RUNS = 40
"""Scored runs of each agent after which good traffic has been quiet for long enough: more than the
least number of runs of every alert that pages."""


class Pipeline:
    """Everything that runs, and the two webs that the agents read."""

    def __init__(self) -> None:
        self.webs = {STEADY: LocalWeb(), FAILING: LocalWeb()}
        self.webhook = WebhookReceiver()
        self.prometheus: Prometheus | None = None

    def scored(self, agent: str) -> float:
        """Return how many runs of an agent Prometheus knows of."""
        assert self.prometheus is not None
        return self.prometheus.value(f'sum(seekwatch_runs_total{{agent="{agent}"}})') or 0.0


def _worker(directory: Path, topics: CollectedTopics) -> MonitorProcess:
    policy = directory / "policy.yaml"
    # Without a price the runs' cost is unknown, and there is an alert for that too.
    policy.write_text(f"prices: {{models: {{{MODEL_NAME}: {{input: 0.15, output: 0.6}}}}}}")
    prefix = f"way-{uuid.uuid4().hex[:8]}"
    settings = (
        f"kafka.bootstrap_servers={topics.bootstrap}",
        f"kafka.group_id={prefix}",
        f"kafka.partitions={PARTITIONS}",
        f"kafka.topics.traces={topics.traces}",
        f"kafka.topics.logs={topics.logs}",
        *(f"kafka.topics.{t}={prefix}.{t}" for t in ("scores", "episodes", "dead_letters")),
        "closing.quiet=1",
        f"policy={policy}",
    )
    return MonitorProcess("worker", directory, settings, name="worker")


def _agent(name: str, web: WebServer, collector: Collector, directory: Path) -> Service:
    options = ["--name", name, "--proxy", web.proxy, "--endpoint", collector.http]
    root = Path(__file__).resolve().parents[2]
    return Service(
        name,
        [sys.executable, "-m", "tests.endtoend.asking_agent", *options],
        directory=directory,
        environment={"PYTHONPATH": str(root), "OTEL_BSP_SCHEDULE_DELAY": "500"},
    )


@pytest.fixture
def pipeline(
    tmp_path: Path,
    repository: Path,
    otelcol: Collector,
    otelcol_topics: CollectedTopics,
    prometheus_tools: PrometheusTools,
) -> Iterator[Pipeline]:
    rules = sorted((repository / "rules" / "generated" / "demo").glob("*.yaml"))
    built = Pipeline()
    with ExitStack() as parts:
        parts.enter_context(built.webhook)
        worker = _worker(tmp_path, otelcol_topics)
        parts.callback(worker.kill)
        worker.start()
        alertmanager = parts.enter_context(
            Alertmanager(prometheus_tools, webhook=built.webhook.url)
        )
        target = worker.metrics.removeprefix("http://")
        built.prometheus = parts.enter_context(
            Prometheus(
                prometheus_tools,
                rules=rules,
                scrape=[ScrapeJob(name="seekwatch", targets=(target,))],
                alertmanagers=[alertmanager.address],
            )
        )
        for name, web in built.webs.items():
            server = WebServer(web)
            parts.callback(server.close)
            agent = _agent(name, server, otelcol, tmp_path)
            parts.callback(agent.kill)
            agent.start()
        yield built


def _decay(web: LocalWeb) -> None:
    """Let every page be gone, while the search engine still lists it."""
    web.worsen(dead_hosts=frozenset({*NEWS_HOSTS, *(topic.official for topic in TOPICS)}))


def test_good_traffic_is_quiet_and_bad_traffic_pages_for_the_right_agent_and_axis(
    pipeline: Pipeline, repository: Path
) -> None:
    eventually(
        lambda: min(pipeline.scored(agent) for agent in pipeline.webs) >= ENOUGH_RUNS,
        what=f"{ENOUGH_RUNS} runs of each agent are scored",
        timeout=120,
    )
    paged = {alert.name for alert in pipeline.webhook.alerts()}
    assert paged <= {"Watchdog"}

    _decay(pipeline.webs[FAILING])
    alert = pipeline.webhook.wait_for(
        "CitationValidityBurnFast", where=lambda a: a.labels["agent"] == FAILING, timeout=90
    )
    assert alert.labels["axis"] == AXIS
    assert alert.labels["severity"] == "page"
    assert (repository / alert.annotations["runbook_url"]).is_file()
    assert f"--agent '{FAILING}' --axis {AXIS}" in alert.annotations["traces"]
    about_the_other = [a for a in pipeline.webhook.alerts() if a.labels.get("agent") == STEADY]
    assert not about_the_other
