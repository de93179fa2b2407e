"""The harness's own promises about Prometheus, Alertmanager and the webhook receiver."""

from pathlib import Path

import pytest

from demo.prometheus_binary import PROMETHEUS, Found, Missing, Tool, find
from tests.services.alertmanager import Alertmanager
from tests.services.prometheus import Prometheus, ScrapeJob
from tests.services.prometheus_tools import PrometheusTools
from tests.services.webhook import WebhookReceiver

RULES = """
groups:
  - name: harness
    rules:
      - alert: TargetIsUp
        expr: up{job="self"} == 1
        labels: {severity: page}
        annotations: {summary: The target answers}
"""


def test_an_alert_goes_from_a_scrape_to_the_webhook(
    prometheus_tools: PrometheusTools, tmp_path: Path
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("groups: []\n")
    with (
        WebhookReceiver() as webhook,
        Alertmanager(prometheus_tools, webhook=webhook.url) as alertmanager,
        Prometheus(
            prometheus_tools,
            rules=[rules],
            scrape=[ScrapeJob(name="self", targets=(alertmanager.address,))],
            alertmanagers=[alertmanager.address],
        ) as prometheus,
    ):
        prometheus.wait_for_query('up{job="self"} == 1')
        assert prometheus.value("count(up)") == 1
        assert prometheus.alerts() == []
        rules.write_text(RULES)
        prometheus.reload()
        assert prometheus.wait_for_alert("TargetIsUp")[0].labels["severity"] == "page"
        notified = webhook.wait_for("TargetIsUp")
        assert notified.annotations["summary"] == "The target answers"
        assert [alert.name for alert in alertmanager.alerts()] == ["TargetIsUp"]


def test_promtool_and_amtool_judge_files(prometheus_tools: PrometheusTools, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(RULES)
    bad.write_text(RULES.replace("== 1", "=== 1"))
    assert prometheus_tools.run_promtool("check", "rules", good).returncode == 0
    assert prometheus_tools.run_promtool("check", "rules", bad).returncode != 0
    assert prometheus_tools.run_amtool("--version").returncode == 0


def test_a_refused_expression_is_an_error(prometheus_tools: PrometheusTools) -> None:
    with Prometheus(prometheus_tools) as prometheus, pytest.raises(OSError, match="400"):
        prometheus.query("sum(")


def test_a_program_on_the_path_is_taken_first(tmp_path: Path) -> None:
    program = tmp_path / "prometheus"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    found = find(PROMETHEUS, tmp_path / "cache", search_path=str(tmp_path))
    assert found == Found(path=program, how="on the PATH")


def test_what_cannot_be_had_says_why_and_what_would_bring_it(tmp_path: Path) -> None:
    broken = tmp_path / "nonesuch"
    broken.write_text("#!/bin/sh\necho cannot run here >&2; exit 3\n")
    broken.chmod(0o755)
    nonesuch = Tool(commands=("nonesuch",), debian_package="nonesuch-0", go_package=None)
    missing = find(nonesuch, tmp_path / "cache", search_path=str(tmp_path))
    assert isinstance(missing, Missing)
    assert missing.hint == "apt-get install --no-install-recommends nonesuch-0"
    assert "cannot run here" in missing.reasons[0]
    assert len(missing.reasons) == 3
