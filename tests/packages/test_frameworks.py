"""Real agent frameworks, each in its own environment: one scorecard a run, and nothing twice."""

from pathlib import Path

import pytest

from tests.packages.frameworks import FRAMEWORKS, Framework, run_agent
from tests.packages.observed import check_runs
from tests.packages.world import World
from tests.services.library import QUESTIONS

pytestmark = pytest.mark.nightly
each_framework = pytest.mark.parametrize("framework", FRAMEWORKS, ids=str)
WITH_INSTRUMENTOR = [framework for framework in FRAMEWORKS if framework.instrumentor]


@each_framework
def test_the_one_call_alone_sees_each_run_whole(
    world: World, sdk: Path, framework: Framework
) -> None:
    answers = run_agent(world, sdk, framework)
    assert len(answers) == len(QUESTIONS)
    check_runs(world)


@each_framework
def test_runs_that_the_agent_marks_are_seen_whole(
    world: World, sdk: Path, framework: Framework
) -> None:
    run_agent(world, sdk, framework, "--marked")
    check_runs(world)


@pytest.mark.parametrize("framework", WITH_INSTRUMENTOR, ids=str)
def test_nothing_counts_twice_beside_an_openinference_instrumentor(
    world: World, sdk: Path, framework: Framework
) -> None:
    run_agent(world, sdk, framework, "--instrumentor", str(framework.instrumentor))
    check_runs(world)
