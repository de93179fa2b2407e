"""The example of routing, under amtool and a real Alertmanager."""

import json
import re
from collections.abc import Iterator

import msgspec
import pytest
import yaml

from tests.rules import pack
from tests.rules.pack import RULES
from tests.services.alertmanager import Alertmanager
from tests.services.plain_http import get, post
from tests.services.prometheus_tools import PrometheusTools
from tests.services.waiting import eventually

CONFIGURATION = RULES / "alertmanager.yaml"
ALERTS = {rule["alert"]: rule["labels"] for rule in pack.alerts(pack.packs()["default"])}


class _Status(msgspec.Struct):
    state: str


class _Held(msgspec.Struct):
    labels: dict[str, str]
    status: _Status


def test_amtool_accepts_it(prometheus_tools: PrometheusTools) -> None:
    result = prometheus_tools.run_amtool("check-config", CONFIGURATION)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ({"alertname": "CitationValidityBurnFast", "severity": "page"}, "agents-pager"),
        ({"alertname": "CitationValidityBurnTicket", "severity": "ticket"}, "agents-tickets"),
        (
            {"alertname": "MonitorDown", "severity": "page", "team": "platform"},
            "platform-pager",
        ),
        (
            {"alertname": "LateSpansHigh", "severity": "ticket", "team": "platform"},
            "platform-tickets",
        ),
        ({"alertname": "NoSuccesses", "severity": "page", "team": "unknown"}, "platform-pager"),
        (
            {"alertname": "QueryQualityBurnFast", "severity": "ticket", "team": "unknown"},
            "agents-tickets",
        ),
        ({"alertname": "Watchdog", "severity": "none", "team": "platform"}, "dead-mans-switch"),
    ],
    ids=lambda value: value if isinstance(value, str) else value["alertname"],
)
def test_severity_and_team_decide_who_hears(
    labels: dict[str, str], receiver: str, prometheus_tools: PrometheusTools
) -> None:
    arguments = [f"{name}={value}" for name, value in ({"team": "agents"} | labels).items()]
    result = prometheus_tools.run_amtool(
        "config", "routes", "test", f"--config.file={CONFIGURATION}", *arguments
    )
    assert result.stdout.strip() == receiver, result.stderr


def test_every_name_and_component_in_it_exists() -> None:
    document = yaml.safe_load(CONFIGURATION.read_text("utf-8"))
    matchers = [
        matcher
        for rule in document["inhibit_rules"]
        for side in ("source_matchers", "target_matchers")
        for matcher in rule[side]
    ]
    components = {labels["component"] for labels in ALERTS.values()}
    for matcher in matchers:
        label, value = re.fullmatch(r'(\w+) !?[=~]+ "?([^"]+)"?', matcher).groups()  # type: ignore[union-attr]
        known = set(ALERTS) if label == "alertname" else components
        alternatives = [value] if "+" in value else value.split("|")
        for alternative in alternatives:
            assert any(re.fullmatch(alternative, name) for name in known), matcher


class TestInhibition:
    @pytest.fixture
    def alertmanager(self, prometheus_tools: PrometheusTools) -> Iterator[Alertmanager]:
        configuration = yaml.safe_load(CONFIGURATION.read_text("utf-8"))
        with Alertmanager(prometheus_tools, configuration=configuration) as running:
            yield running

    @staticmethod
    def states(alertmanager: Alertmanager, *names: str) -> dict[str, str]:
        """Post alerts as the pack labels them, and return their states."""
        body = [{"labels": _labels(name)} for name in names]
        post(f"{alertmanager.url}/api/v2/alerts", json.dumps(body).encode())

        def settled() -> dict[str, str] | None:
            held = msgspec.json.decode(get(f"{alertmanager.url}/api/v2/alerts"), type=list[_Held])
            states = {alert.labels["alertname"]: alert.status.state for alert in held}
            done = set(states) >= set(names) and "unprocessed" not in states.values()
            return states if done else None

        return eventually(settled, what="every alert has a state", timeout=60)

    def test_a_monitor_that_is_down_holds_back_quality_but_no_broken_invariant(
        self, alertmanager: Alertmanager
    ) -> None:
        # The source first: what is inhibited is decided when an alert is handled.
        self.states(alertmanager, "MonitorDown")
        states = self.states(
            alertmanager,
            "MonitorDown",
            "PartitionStalled",
            "CitationValidityBurnFast",
            "NoSuccesses",
            "AxisUnscorableHigh",
            "PolicyViolation",
            "Watchdog",
        )
        assert {name for name, state in states.items() if state == "suppressed"} == {
            "PartitionStalled",
            "CitationValidityBurnFast",
            "NoSuccesses",
            "AxisUnscorableHigh",
        }

    def test_a_fast_burn_speaks_for_the_slower_alerts_of_its_own_subject(
        self, alertmanager: Alertmanager
    ) -> None:
        self.states(alertmanager, "CitationValidityBurnFast")
        states = self.states(
            alertmanager,
            "CitationValidityBurnFast",
            "CitationValidityBurnSlow",
            "CitationValidityBurnTicket",
            "SourceFreshnessBurnTicket",
            "DeadLettersPresent",
        )
        assert {name for name, state in states.items() if state == "suppressed"} == {
            "CitationValidityBurnSlow",
            "CitationValidityBurnTicket",
        }


def _labels(name: str) -> dict[str, str]:
    own = ALERTS[name]
    of_agent = {} if own["team"] == "platform" else {"agent": "shop"}
    return {"alertname": name, **own, **of_agent}
