"""The frameworks that are run, and how the agent of each is started in its environment."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.packages.environments import environment
from tests.packages.world import World
from tests.services.cache import cache_directory
from tests.services.documents import ROOT
from tests.services.library import QUESTIONS

HERE: Final = Path(__file__).parent
PAGE: Final = ROOT / "docs" / "frameworks.md"
NOTHING: Final[Mapping[str, str]] = {}
_TIMEOUT_SECONDS: Final = 200


@dataclass(frozen=True)
class Framework:
    """An agent and the environment that runs it."""

    environment: str
    agent: str
    """A heading of the page, or a file in `agents/`."""
    instrumentor: str | None = None
    """`module:Class` of OpenInference's instrumentor, in the environment `…-openinference`."""

    @property
    def source(self) -> str:
        """Return the agent's code."""
        return source_of(self.agent)

    @property
    def on_page(self) -> bool:
        """Whether the agent is one of the page's."""
        return not self.agent.endswith(".py")

    def __str__(self) -> str:
        return self.agent.removesuffix(".py").replace(" ", "-").lower()


def _instrumentor(library: str, name: str) -> str:
    return f"openinference.instrumentation.{library}:{name}Instrumentor"


_OPENAI: Final = _instrumentor("openai", "OpenAI")
_ANTHROPIC: Final = _instrumentor("anthropic", "Anthropic")
_LANGCHAIN: Final = _instrumentor("langchain", "LangChain")
_AGENTS: Final = _instrumentor("openai_agents", "OpenAIAgents")

FRAMEWORKS: Final = (
    Framework("openai", "OpenAI SDK", _OPENAI),
    Framework("openai", "openai_responses_streamed.py", _OPENAI),
    Framework("openai-httpx", "openai_httpx.py"),
    Framework("anthropic", "Anthropic SDK", _ANTHROPIC),
    Framework("anthropic", "anthropic_streamed.py", _ANTHROPIC),
    Framework("google-genai", "google_genai.py"),
    Framework("langchain", "LangChain", _LANGCHAIN),
    Framework("langchain", "langchain_streamed.py", _LANGCHAIN),
    Framework("llamaindex", "LlamaIndex", _instrumentor("llama_index", "LlamaIndex")),
    Framework("openai-agents", "OpenAI Agents SDK", _AGENTS),
    Framework("openai-agents", "openai_agents_streamed.py", _AGENTS),
    Framework("pydantic-ai", "Pydantic AI"),
    Framework("smolagents", "smolagents", _instrumentor("smolagents", "Smolagents")),
    Framework("playwright", "Playwright"),
    Framework("litellm", "litellm_tools.py", _instrumentor("litellm", "LiteLLM")),
    Framework("litellm", "litellm_anthropic.py", _instrumentor("litellm", "LiteLLM")),
    Framework("exa", "exa_sync.py"),
    Framework("exa", "exa_async.py"),
    Framework("serpapi", "serpapi_google.py"),
    Framework("ddgs", "ddgs_news.py"),
    Framework("duckduckgo-search", "duckduckgo_search_news.py"),
    Framework("firecrawl", "firecrawl_pages.py"),
    Framework("scrapingbee", "scrapingbee_pages.py"),
    Framework("crawl4ai", "crawl4ai_pages.py"),
)


def source_of(agent: str) -> str:
    """Return the code of an agent: of a heading of the page, or of a file in `agents/`."""
    if not agent.endswith(".py"):
        return block_under(agent)
    return (HERE / "agents" / agent).read_text("utf-8")


def block_under(heading: str) -> str:
    """Return the code under a heading of the page."""
    _, _, section = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")
    if not section:
        raise LookupError(f"{PAGE.name} has no heading {heading!r}")
    return section.partition("\n## ")[0].partition("```python\n")[2].partition("```")[0]


def write_agent(world: World, source: str) -> Path:
    """Write an agent as `agent.py` into a folder of its own, and return the folder."""
    folder = world.folder / "agent"
    folder.mkdir()
    (folder / "agent.py").write_text(source, "utf-8")
    return folder


def run_agent(
    world: World,
    sdk: Path,
    framework: Framework,
    *options: str,
    beside: str = "",
    variables: Mapping[str, str] = NOTHING,
) -> list[str]:
    """Ask an agent all questions; return its answers.

    Args:
        world: what it meets.
        sdk: where our SDK is installed.
        framework: the agent.
        options: of `drive`.
        beside: ending of the environment with an instrumentor in it.
        variables: what its process is given beside the world's.

    Raises:
        AssertionError: it failed, or our SDK had something to say on its standard error.
    """
    folder = write_agent(world, framework.source)
    place = environment(framework.environment + beside, sdk)
    result = subprocess.run(
        [str(place.python), str(HERE / "drive.py"), "--agent", str(folder), *options, *QUESTIONS],
        cwd=folder,
        env=place.variables({**world.variables, **variables}),
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_SECONDS,
    )
    check_said(result.stderr)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    answers: list[str] = json.loads(result.stdout.splitlines()[-1])
    return answers


def check_said(errors: str) -> None:
    """Assert that nothing of ours is among what a process said on its standard error."""
    # The environments lie in a folder of this name.
    for line in errors.replace(str(cache_directory()), "").splitlines():
        # A traceback of the agent's own may lead through our wrappers; a server may log at DEBUG.
        ours = "seekwatch" in line and not line.lstrip().startswith(("File ", "DEBUG:"))
        if ours or "different Context" in line:
            raise AssertionError(f"{line}\n\n{errors}")
