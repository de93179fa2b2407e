"""What objectives.yaml can change for one agent, and the demo's clock, under the real promtool."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from rules import generate
from rules.objectives import DEFAULT_PATH, load
from rules.profiles import apply_profile
from tests.rules import promtool
from tests.rules.promtool import Case, Firing
from tests.rules.series import axis_traffic, per_agent, runs
from tests.services.prometheus_tools import PrometheusTools

AXIS = "citation_validity"
ALERT = "CitationValidityBurnFast"


def written(folder: Path, changes: Mapping[str, Any]) -> Path:
    """Rules from the project's own objectives with some sections changed."""
    document = yaml.safe_load(DEFAULT_PATH.read_text("utf-8"))
    for key, change in changes.items():
        section = document
        *parents, last = key.split("/")
        for parent in parents:
            section = section[parent]
        section[last] = change
    path = folder / "objectives.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    rules = folder / "rules"
    assert generate.main(["--objectives", str(path), "--output", str(rules)]) == 0
    return rules


def citation(agent: str, bad: float) -> dict[str, str]:
    return axis_traffic(agent, AXIS, [(10 - bad, 40)], [(bad, 40)])


def fast(agent: str, share: str, line: str, goal: str, team: str = "agents") -> Firing:
    return Firing(
        severity="page",
        component=AXIS,
        axis=AXIS,
        agent=agent,
        team=team,
        board="citations",
        summary=f"{agent} cites sources that do not hold, suddenly and in most runs",
        description=(
            f"Of the scored runs of {agent}, {share} in the last 1h (n = 400, the line is {line}) "
            f"had citations that do not hold. Objective: {goal} valid citations."
        ),
        traces=f"seekwatch tail --agent '{agent}' --axis citation_validity --worst 3",
    )


def test_an_agent_can_have_its_own_objective_factor_and_team(
    prometheus_tools: PrometheusTools, tmp_path: Path
) -> None:
    rules = written(
        tmp_path,
        {
            f"axes/{AXIS}/agents": {
                "strict": {"objective": 0.95},
                "lenient.v2": {"factors": {"fast": 7.5}},
            },
            "teams/agents": {"strict": "search"},
        },
    )
    case = Case(
        sentence="three agents at three lines",
        alert=ALERT,
        series={**citation("strict", 3), **citation("lenient.v2", 6), **citation("shop", 6)},
        expect={
            "40m": [
                fast("shop", "60%", "50%", "90%"),
                fast("strict", "30%", "25%", "95%", team="search"),
            ]
        },
    )
    promtool.run(case, prometheus_tools, tmp_path, rules)


def test_an_agent_can_need_more_samples(prometheus_tools: PrometheusTools, tmp_path: Path) -> None:
    rules = written(
        tmp_path, {f"axes/{AXIS}/agents": {"rare": {"minimum_samples": {"fast": 1000}}}}
    )
    case = Case(
        sentence="an agent with a higher minimum is silent at 400 runs",
        alert=ALERT,
        series=citation("rare", 9),
        expect={"40m": []},
    )
    promtool.run(case, prometheus_tools, tmp_path, rules)


def test_an_agent_can_have_its_own_minimum_of_runs_and_cost_factor(
    prometheus_tools: PrometheusTools, tmp_path: Path
) -> None:
    rules = written(tmp_path, {"no_successes/agents": {"rare": 500}, "cost/agents": {"rare": 5}})
    no_successes = Case(
        sentence="an agent with a higher minimum is silent at 40 failed runs",
        alert="NoSuccesses",
        series=runs("rare", "error", (1, 40)),
        expect={"40m": []},
    )
    dearer = Case(
        sentence="an agent with a higher factor is silent at three times its cost",
        alert="CostPerSuccessHigh",
        series={
            **per_agent("seekwatch_run_cost_usd_total", "rare", (0.1, 288), (0.3, 96)),
            **per_agent(
                "seekwatch_priced_runs_total", "rare", (1, 384), extra=',outcome="success"'
            ),
        },
        expect={"32h": []},
        interval="5m",
    )
    assert promtool.findings([no_successes, dearer], prometheus_tools, tmp_path, rules) == ["", ""]


@pytest.mark.parametrize("agents", [0, 1, 50])
def test_rules_load_whatever_the_number_of_agents_that_differ(
    agents: int, prometheus_tools: PrometheusTools, tmp_path: Path
) -> None:
    names = [f'agent {number} "x" (v1.{number})' for number in range(agents)]
    overrides = {name: {"objective": 0.95} for name in names}
    rules = written(tmp_path, {f"axes/{AXIS}/agents": overrides})
    files = [*(rules / "recording").glob("*.yaml"), *(rules / "alerts").glob("*.yaml")]
    result = prometheus_tools.run_promtool("check", "rules", "--lint=all", "--lint-fatal", *files)
    assert result.returncode == 0, result.stderr


class TestDemo:
    @pytest.fixture
    def rules(self, tmp_path: Path) -> Path:
        from rules.builders.files import rule_files

        folder = tmp_path / "demo"
        generate.write(rule_files(apply_profile(load(), "demo")), folder, everything=True)
        return folder

    def test_it_fires_within_half_a_minute_of_the_fall(
        self, rules: Path, prometheus_tools: PrometheusTools, tmp_path: Path
    ) -> None:
        firing = Firing(
            severity="page",
            component=AXIS,
            axis=AXIS,
            agent="shop",
            board="citations",
            runbooks="rules/runbooks/",
            summary="shop cites sources that do not hold, suddenly and in most runs",
            description=(
                "Of the scored runs of shop, 80% in the last 20s (n = 60, the line is 50%) had "
                "citations that do not hold. Objective: 90% valid citations."
            ),
            traces="seekwatch tail --agent 'shop' --axis citation_validity --worst 3",
        )
        case = Case(
            sentence="three runs a second, from the second minute on four of five bad",
            alert=ALERT,
            series=axis_traffic("shop", AXIS, [(2.85, 60), (0.6, 60)], [(0.15, 60), (2.4, 60)]),
            expect={"60s": [], "90s": [firing]},
            interval="1s",
        )
        promtool.run(case, prometheus_tools, tmp_path, rules)

    def test_it_is_silent_at_a_healthy_share(
        self, rules: Path, prometheus_tools: PrometheusTools, tmp_path: Path
    ) -> None:
        case = Case(
            sentence="three runs a second, one of twenty bad",
            alert=ALERT,
            series=axis_traffic("shop", AXIS, [(2.85, 120)], [(0.15, 120)]),
            expect={"30s": [], "60s": [], "120s": []},
            interval="1s",
        )
        promtool.run(case, prometheus_tools, tmp_path, rules)
