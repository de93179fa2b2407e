"""Real agent frameworks, each in its own environment: one scorecard a run, and nothing twice."""

from pathlib import Path

import pytest

from tests.packages.frameworks import FRAMEWORKS, Framework, run_agent
from tests.packages.observed import check_runs
from tests.packages.world import World
from tests.services.library import QUESTIONS

WITH_INSTRUMENTOR = [framework for framework in FRAMEWORKS if framework.instrumentor]


def frameworks(*in_ci: str) -> pytest.MarkDecorator:
    """Run a test for each framework: in CI those named, at night all."""
    cases = [
        pytest.param(framework, marks=() if framework.agent in in_ci else pytest.mark.nightly)
        for framework in FRAMEWORKS
    ]
    return pytest.mark.parametrize("framework", cases, ids=str)


@frameworks("OpenAI SDK")
def test_the_one_call_alone_sees_each_run_whole(
    world: World, sdk: Path, framework: Framework
) -> None:
    answers = run_agent(world, sdk, framework)
    assert len(answers) == len(QUESTIONS)
    check_runs(world)


@frameworks("LangChain")
def test_runs_that_the_agent_marks_are_seen_whole(
    world: World, sdk: Path, framework: Framework
) -> None:
    run_agent(world, sdk, framework, "--marked")
    check_runs(world)


@pytest.mark.nightly
@pytest.mark.parametrize("framework", WITH_INSTRUMENTOR, ids=str)
@pytest.mark.parametrize("by", ["found", "turned-on-by-the-agent"])
def test_nothing_counts_twice_beside_an_openinference_instrumentor(
    world: World, sdk: Path, framework: Framework, by: str
) -> None:
    turned_on = [] if by == "found" else ["--instrumentor", str(framework.instrumentor)]
    run_agent(world, sdk, framework, *turned_on, beside="-openinference")
    check_runs(world)
