"""Cases for `promtool test rules`, written as data.

promtool compares labels and annotations exactly, so an expectation spells them out; what the whole
pack has in common (links, teams) is filled in here once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus

import yaml

from tests.rules.pack import RULES, groups_behind
from tests.services.prometheus_tools import PrometheusTools

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
    traces: str | None = None
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
        if self.traces is not None:
            annotations["traces"] = self.traces
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
    """Run one case; what differs becomes the assertion's message."""
    (finding,) = findings([case], tools, folder, rules)
    assert not finding, finding


def findings(
    cases: Sequence[Case], tools: PrometheusTools, folder: Path, rules: Path = RULES
) -> list[str]:
    """Run cases under one real promtool, because starting it takes as long as most cases do.

    Returns:
        For each case what differs from its expectation; empty where nothing does.
    """
    test_files = [
        _written(case, folder / f"{number:03}", rules) for number, case in enumerate(cases)
    ]
    output = tools.run_promtool("test", "rules", *test_files, together=True).stdout
    _, *sections = output.split("Unit Testing:")
    assert len(sections) == len(cases), output
    return ["" if section.split()[1:] == ["SUCCESS"] else section for section in sections]


def _written(case: Case, folder: Path, rules: Path) -> Path:
    """Write a case and the rules that it is about; return its file."""
    folder.mkdir()
    groups = groups_behind(case.alert, rules)
    (folder / "rules.yaml").write_text(_text({"groups": groups}), "utf-8")
    test_file = folder / "case.yaml"
    test_file.write_text(_text(_document(case, groups)), "utf-8")
    return test_file


def _document(case: Case, groups: Sequence[Mapping[str, object]]) -> dict[str, object]:
    return {
        "rule_files": ["rules.yaml"],
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


def _text(document: Mapping[str, object]) -> str:
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False)
