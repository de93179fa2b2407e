"""All that an agent's process meets: models, search APIs, pages, and where its spans go."""

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.services.internet import Internet
from tests.services.library import SITES
from tests.services.model_server import ModelServer
from tests.services.otlp_sink import HttpSink
from tests.services.search_server import APIS, SearchServer

MODEL_HOSTS: Final = (
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
)
_KEYS: Final = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "TAVILY_API_KEY",
    "BRAVE_API_KEY",
    "EXA_API_KEY",
    "FIRECRAWL_API_KEY",
    "SCRAPINGBEE_API_KEY",
    "SERPAPI_API_KEY",
)


@dataclass
class World:
    """A context manager that starts all of it."""

    folder: Path

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            self.model = stack.enter_context(ModelServer())
            self.search = stack.enter_context(SearchServer())
            self.sink = stack.enter_context(HttpSink())
            hosts = dict.fromkeys(MODEL_HOSTS, self.model.authority)
            hosts |= dict.fromkeys((*APIS, *SITES), self.search.authority)
            self.internet = stack.enter_context(Internet(hosts, self.folder))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def variables(self) -> dict[str, str]:
        """What the agent's process is started with."""
        return {
            **self.internet.variables,
            **dict.fromkeys(_KEYS, "not-a-key"),
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.sink.url,
            "OTEL_METRICS_EXPORTER": "none",
            "CHROMIUM": shutil.which("chromium") or "",
            "LOCAL_TAVILY": self.search.base("tavily"),
        }
