"""Real agent frameworks, each in its own environment: one scorecard a run, and nothing twice."""

from pathlib import Path

import pytest

from seekwatch.core.model import Adapter
from tests.packages.frameworks import FRAMEWORKS, Framework, run_agent
from tests.packages.observed import check_runs, scored
from tests.packages.world import World
from tests.services.library import QUESTIONS, TOPICS

WITH_INSTRUMENTOR = [framework for framework in FRAMEWORKS if framework.instrumentor]
ON_OPENAI = [each for each in FRAMEWORKS if each.environment in ("langchain", "openai-agents")]


def frameworks(*in_ci: str) -> pytest.MarkDecorator:
    """Run a test for each framework: in CI those named, at night all."""
    cases = [
        pytest.param(framework, marks=() if framework.agent in in_ci else pytest.mark.nightly)
        for framework in FRAMEWORKS
    ]
    return pytest.mark.parametrize("framework", cases, ids=str)


@frameworks("OpenAI SDK", "LangChain")
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


@pytest.mark.nightly
@pytest.mark.parametrize("framework", ON_OPENAI, ids=str)
def test_nothing_counts_twice_beside_instrumentors_of_the_framework_and_of_its_client(
    world: World, sdk: Path, framework: Framework
) -> None:
    """Both tell each model call: the one by the framework's callbacks, the other around it."""
    run_agent(world, sdk, framework, beside="-two-openinference")
    check_runs(world)


@pytest.mark.nightly
def test_a_model_at_an_address_of_one_s_own_is_seen_like_its_maker_s(
    world: World, sdk: Path
) -> None:
    [openai] = [framework for framework in FRAMEWORKS if framework.agent == "OpenAI SDK"]
    run_agent(world, sdk, openai, variables={"OPENAI_BASE_URL": f"{world.model.url}/v1"})
    assert "api.openai.com" not in world.internet.reached
    check_runs(world)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("agent", "adapter"),
    [
        ("Playwright", Adapter.BROWSER),
        ("crawl4ai_pages.py", Adapter.BROWSER),
        ("firecrawl_pages.py", Adapter.CRAWL),
        ("scrapingbee_pages.py", Adapter.STEALTH),
    ],
)
def test_pages_that_are_fetched_for_the_agent_are_fetches_of_its_run(
    world: World, sdk: Path, agent: str, adapter: Adapter
) -> None:
    [fetching] = [framework for framework in FRAMEWORKS if framework.agent == agent]
    run_agent(world, sdk, fetching)
    runs = scored(world.sink)
    assert len(runs) == len(TOPICS)
    for run in runs:
        [topic] = [topic for topic in TOPICS if topic.question == run.episode.question]
        loaded = [each for each in run.episode.fetches if each.adapter is adapter]
        assert [each.url for each in loaded] == [each.url for each in topic.documents]
        for fetch, document in zip(loaded, topic.documents, strict=True):
            assert fetch.status == 200
            assert fetch.page is not None
            assert document.sentence in str(fetch.page.text)
            assert fetch.page.published is not None
