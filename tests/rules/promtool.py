"""Cases for `promtool test rules`, written as data.

promtool compares labels and annotations exactly, so an expectation spells them out; what the whole
pack has in common (links, teams) is filled in here once.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

import yaml

from tests.services.prometheus_tools import PrometheusTools

RULES = Path(__file__).resolve().parents[2] / "rules"

_GRAFANA = "https://grafana.example/d/seekwatch-"
_RANGE = "from=now-6h&to=now"


@dataclass(frozen=True, kw_only=True)
class Firing:
    """One alert that is expected to fire, with all that a person would see of it."""

    severity: str
    component: str
    summary: str
    description: str
    board: str
    team: str = "agents"
    agent: str | None = None
    axis: str | None = None
    worst: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    runbooks: str = "https://seekwatch.example/runbooks/"

    def expected(self, alert: str) -> dict[str, object]:
        """The expectation in promtool's form."""
        own = {"agent": self.agent, "axis": self.axis}
        labels = {
            **{name: value for name, value in own.items() if value is not None},
            "severity": self.severity,
            "component": self.component,
            "team": self.team,
            **self.labels,
        }
        of_agent = f"&var-agent={quote_plus(self.agent or '')}" if self.team != "platform" else ""
        annotations = {
            "summary": self.summary,
            "description": self.description,
            "runbook_url": f"{self.runbooks}{alert}.md",
            "dashboard_url": f"{_GRAFANA}{self.board}?{_RANGE}{of_agent}",
        }
        if self.worst is not None:
            annotations["worst"] = self.worst
        return {"exp_labels": labels, "exp_annotations": annotations}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What goes in, and which alerts of one name are out at which times.

    Attributes:
        sentence: the claim; the test's id.
        alert: the alert's name.
        series: values by series, in promtool's notation, one sample per `interval`.
        expect: firing alerts by time since the start; an empty list means silence.
        interval: between samples, and between evaluations.
    """

    sentence: str
    alert: str
    series: Mapping[str, str]
    expect: Mapping[str, Sequence[Firing]]
    interval: str = "1m"

    @property
    def fires(self) -> bool:
        """Whether the alert fires at any of the times."""
        return any(self.expect.values())


def run(case: Case, tools: PrometheusTools, folder: Path, rules: Path = RULES) -> None:
    """Run the case under the real promtool; what differs becomes the assertion's message."""
    test_file = folder / "case.yaml"
    test_file.write_text(yaml.safe_dump(_document(case, rules), allow_unicode=True), "utf-8")
    command = [str(tools.promtool), "test", "rules", str(test_file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"


def _document(case: Case, rules: Path) -> dict[str, object]:
    files = _rule_files(case.alert, rules)
    groups = [
        group for path in files for group in yaml.safe_load(path.read_text("utf-8"))["groups"]
    ]
    return {
        "rule_files": [str(path) for path in files],
        # Without it promtool runs the groups of one moment in any order.
        "group_eval_order": [group["name"] for group in groups],
        "evaluation_interval": case.interval,
        "tests": [
            {
                "name": case.sentence,
                "interval": case.interval,
                "input_series": [
                    {"series": series, "values": values} for series, values in case.series.items()
                ],
                "alert_rule_test": [
                    {
                        "eval_time": time,
                        "alertname": case.alert,
                        "exp_alerts": [firing.expected(case.alert) for firing in firings],
                    }
                    for time, firings in case.expect.items()
                ],
            }
        ],
    }


def _rule_files(alert: str, rules: Path) -> list[Path]:
    """The file that defines the alert, after the recordings that it reads."""
    (defining,) = [
        path
        for path in (rules / "alerts").glob("*.yaml")
        if f"alert: {alert}\n" in path.read_text("utf-8")
    ]
    text = defining.read_text("utf-8")
    recordings = [
        path
        for path in sorted((rules / "recording").glob("*.yaml"))
        if any(name in text for name in re.findall(r"record: (\S+)", path.read_text("utf-8")))
    ]
    return [*recordings, defining]
