"""Every runbook holds: its sections, its words, and the commands that it tells people to run."""

import inspect
import os
import re
import shlex
import shutil
import subprocess
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import yaml

from rules.objectives import DEFAULT_PATH, load
from seekwatch.core.policy import Regime
from seekwatch.core.scorecard import (
    Axis,
    Cost,
    Escalation,
    Latency,
    Outcome,
    ScoreEntry,
    encode_line,
)
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Reason, Verdict
from tests.rules import pack
from tests.services.prometheus_tools import PrometheusTools
from tests.services.scorecards import envelope, scorecard

SECTIONS = ("Meaning", "Impact", "Diagnosis", "Mitigation", "False positives")
RULES = pack.rules(pack.packs()["default"])
ALERTS = [rule["alert"] for rule in RULES if "alert" in rule]

# A run that is all right, one that cost most, and one that is the business of the other runbooks.
GOOD = scorecard(1)
DEAR = scorecard(2, cost=Cost(total=5.0))
STRANGE = scorecard(
    3,
    outcome=Outcome.UNKNOWN,
    verdicts=dict.fromkeys(Axis, Verdict.UNSCORABLE),
    latency=Latency(total=99.0),
    cost=Cost(unpriced=("model:new",)),
    tags=(FailureTag.CACHE_LEAK,),
    escalations=(Escalation(source="fetch", target="browser", count=1),),
)

every_alert = pytest.mark.parametrize("alert", ALERTS)


def text(alert: str) -> str:
    return (pack.RULES / "runbooks" / f"{alert}.md").read_text("utf-8")


def commands(alert: str) -> list[str]:
    _, _, rest = text(alert).partition("```sh\n")
    block, _, _ = rest.partition("```")
    return [line for line in block.splitlines() if line and not line.startswith("#")]


def queries(alert: str) -> list[str]:
    return [
        command.split("'")[1]
        for command in commands(alert)
        if command.startswith("promtool query instant")
    ]


def vocabulary() -> set[str]:
    """The words that a runbook may set in type: what metrics, verdicts and settings say."""
    from seekwatch.exporters.metric_names import DECLARATIONS
    from seekwatch.sdk import instrument

    labels = [label for item in DECLARATIONS for label in item.labels]
    return {
        *(label.name for label in labels),
        *(value for label in labels for value in label.values),
        *(item.name for item in DECLARATIONS),
        *(str(word) for words in (Reason, FailureTag, Regime) for word in words),
        *re.findall(r"[a-z_]+(?=:)", DEFAULT_PATH.read_text("utf-8")),
        *inspect.signature(instrument).parameters,
        *("agent-7f3a", "encoding"),
    }


def test_every_alert_has_one_and_every_one_has_an_alert() -> None:
    assert {path.stem for path in (pack.RULES / "runbooks").iterdir()} == set(ALERTS)


@every_alert
def test_it_has_its_title_and_sections_in_order(alert: str) -> None:
    lines = text(alert).splitlines()
    assert lines[0] == f"# {alert}"
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert tuple(headings) == SECTIONS


@every_alert
def test_no_section_is_empty(alert: str) -> None:
    for section in text(alert).split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        assert len(body.split()) >= 5, heading


@every_alert
def test_diagnosis_begins_with_three_commands(alert: str) -> None:
    assert len(commands(alert)) == 3


@every_alert
def test_its_words_are_those_of_metrics_verdicts_and_settings(alert: str) -> None:
    prose = re.sub(r"```.*?```", "", text(alert), flags=re.DOTALL)
    words = set(re.findall(r"`([a-z0-9][a-z0-9_-]*)`", prose))
    assert words <= vocabulary()


@every_alert
def test_the_command_line_takes_its_commands(alert: str) -> None:
    from typer.main import get_command

    from seekwatch.monitor.cli import app

    verbs = get_command(app).commands  # type: ignore[attr-defined]
    for command in commands(alert):
        words = shlex.split(command)
        if words[0] == "seekwatch":
            arguments = list(takewhile(lambda word: word != "|", words[2:]))
            assert verbs[words[1]].make_context(words[1], arguments)


def chosen_outcomes(alert: str) -> set[str]:
    """The outcomes by which a runbook picks runs out."""
    return {
        outcome
        for command in commands(alert)
        for outcome in re.findall(r"--outcome (\w+)", command)
    }


@pytest.mark.parametrize("alert", [alert for alert in ALERTS if alert.startswith("SuccessRate")])
def test_a_runbook_on_success_shows_runs_of_every_outcome_that_counts_as_none(alert: str) -> None:
    success = load().success
    counted = set(Outcome) - {*success.good, *success.ignored}
    assert chosen_outcomes(alert) == counted
    assert chosen_outcomes("NoSuccesses") == counted


def test_the_runbook_on_unknown_outcomes_shows_those() -> None:
    assert chosen_outcomes("UnknownOutcomesHigh") == {Outcome.UNKNOWN}


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not on the PATH")
@every_alert
def test_its_filters_choose_the_runs_that_it_is_about(alert: str) -> None:
    lines = b"".join(
        encode_line(ScoreEntry(schema=1, scorecard=card, envelope=envelope())) + b"\n"
        for card in (DEAR, STRANGE, GOOD)
    )
    for command in commands(alert):
        _, piped, filter_ = command.partition("--json | jq ")
        if piped:
            shown = subprocess.run(
                ["sh", "-c", f"jq {filter_}"],
                input=lines,
                capture_output=True,
                check=True,
                env={**os.environ, "AXIS": "source_freshness"},
            ).stdout.decode()
            chosen = DEAR if alert == "CostPerSuccessHigh" else STRANGE
            assert shown.startswith(chosen.trace), shown


@every_alert
def test_its_alerts_and_series_exist(alert: str) -> None:
    from seekwatch.exporters.metrics import SAMPLE_NAMES

    recorded = {rule["record"] for rule in RULES if "record" in rule}
    by_pattern = re.compile(r'\{__name__=~"([^"]+)"[^}]*\}')
    for query in queries(alert):
        for pattern in by_pattern.findall(query):
            assert any(re.fullmatch(pattern, name) for name in SAMPLE_NAMES | recorded), pattern
        named = by_pattern.sub("", query)
        assert {selector.metric for selector in pack.selectors(named)} <= SAMPLE_NAMES
        assert pack.recorded_names(named) <= recorded


def test_their_queries_are_promql(prometheus_tools: PrometheusTools, tmp_path: Path) -> None:
    asked = [query for alert in ALERTS for query in queries(alert)]
    assert len(asked) > len(ALERTS)
    rules: list[dict[str, Any]] = [
        {"record": f"query:{number}", "expr": query} for number, query in enumerate(asked)
    ]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    result = prometheus_tools.run_promtool("check", "rules", path)
    assert result.returncode == 0, result.stderr
