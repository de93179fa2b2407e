"""The libraries whose instrumentors are switched on, as data: what an agent is made of.

Model clients, agent frameworks, web servers and task queues make the roots and the model calls of
runs. Instrumentors of anything else (databases, caches, brokers) stay as the user left them: nobody
who adds a monitor for answers asked for a span per query.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final


class Kind(Enum):
    """What a library is to an agent."""

    FRAMEWORK = "framework"
    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Library:
    """One library and where its instrumentors are found."""

    name: str
    """As most entry points name it."""
    kind: Kind
    module: str
    """Its instrumentor is switched on when this module is imported: never before, so that nothing
    is imported which the agent does not use."""
    first_call: str | None = None
    """Attribute of `module`: the instrumentor is switched on before its first call instead."""
    aliases: tuple[str, ...] = ()
    """Other names of its entry points; dashes, underscores and dots make no difference."""
    trace_ai: str | None = None
    """Module of traceAI's instrumentor, which registers no entry point."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What its instrumentor is switched on with, beside the providers."""


def _framework(name: str, module: str, *aliases: str, trace_ai: str | None = None) -> Library:
    return Library(name, Kind.FRAMEWORK, module, aliases=aliases, trace_ai=trace_ai)


def _client(name: str, module: str, *aliases: str, trace_ai: str | None = None) -> Library:
    return Library(name, Kind.CLIENT, module, aliases=aliases, trace_ai=trace_ai)


_FRAMEWORKS: Final = (
    _framework("ag2", "autogen", "autogen", trace_ai="traceai_autogen"),
    _framework("agno", "agno.agent", trace_ai="traceai_agno"),
    _framework("autogen_agentchat", "autogen_agentchat.agents"),
    _framework("beeai", "beeai_framework", trace_ai="traceai_beeai"),
    _framework("claude_agent_sdk", "claude_agent_sdk", trace_ai="traceai_claude_agent_sdk"),
    _framework("crewai", "crewai", trace_ai="traceai_crewai"),
    _framework("dspy", "dspy", trace_ai="traceai_dspy"),
    _framework("google_adk", "google.adk.runners", trace_ai="traceai_google_adk"),
    _framework("haystack", "haystack", trace_ai="traceai_haystack"),
    _framework("instructor", "instructor", trace_ai="traceai_instructor"),
    _framework("langchain", "langchain_core.callbacks.manager", trace_ai="traceai_langchain"),
    _framework("llama_index", "llama_index.core", trace_ai="traceai_llamaindex"),
    _framework("mcp", "mcp", trace_ai="traceai_mcp"),
    _framework("openai_agents", "agents", trace_ai="traceai_openai_agents"),
    _framework("qwen_agent", "qwen_agent"),
    _framework("smolagents", "smolagents", trace_ai="traceai_smolagents"),
)
_CLIENTS: Final = (
    _client("anthropic", "anthropic", trace_ai="traceai_anthropic"),
    _client("bedrock", "botocore.client", trace_ai="traceai_bedrock"),
    _client("cohere", "cohere", trace_ai="traceai_cohere"),
    _client("google_genai", "google.genai", trace_ai="traceai_google_genai"),
    _client("google_generativeai", "google.generativeai"),
    _client("groq", "groq", trace_ai="traceai_groq"),
    _client("litellm", "litellm", trace_ai="traceai_litellm"),
    _client("mistralai", "mistralai", trace_ai="traceai_mistralai"),
    _client("ollama", "ollama", trace_ai="traceai_ollama"),
    _client("openai", "openai", trace_ai="traceai_openai"),
    _client("portkey", "portkey_ai", "portkey_ai", trace_ai="traceai_portkey"),
    _client("replicate", "replicate"),
    _client("together", "together", trace_ai="traceai_together"),
    _client("vertexai", "vertexai", trace_ai="traceai_vertexai"),
    _client("watsonx", "ibm_watsonx_ai", "watsonxai"),
    _client("writer", "writerai", "writerai"),
)
_SERVERS: Final = (
    Library("aiohttp_server", Kind.SERVER, "aiohttp.web"),
    Library("celery", Kind.SERVER, "celery.app.base"),
    # Its instrumentor writes into Django's settings, and makes empty ones where there are none yet:
    # before a handler loads its middleware they are there for certain.
    Library("django", Kind.SERVER, "django.core.handlers.base", "BaseHandler.load_middleware"),
    # A span for each piece that is sent would drown the run in its own answer.
    Library("fastapi", Kind.SERVER, "fastapi", options={"exclude_spans": ["receive", "send"]}),
    Library("flask", Kind.SERVER, "flask"),
    Library("starlette", Kind.SERVER, "starlette.applications"),
)
_LAMBDA_HANDLERS: Final = ("ORIG_HANDLER", "_HANDLER")


def libraries(environment: Mapping[str, str] = os.environ) -> tuple[Library, ...]:
    """Return every library that concerns us in this process."""
    return (*_FRAMEWORKS, *_CLIENTS, *_SERVERS, *_lambda_handler(environment))


def _lambda_handler(environment: Mapping[str, str]) -> tuple[Library, ...]:
    # In AWS Lambda what is instrumented is the function's own handler, named by its runtime.
    if "AWS_LAMBDA_FUNCTION_NAME" not in environment:
        return ()
    handler = next((environment[name] for name in _LAMBDA_HANDLERS if environment.get(name)), "")
    module = handler.rpartition(".")[0].replace("/", ".")
    return (Library("aws_lambda", Kind.SERVER, module),) if module else ()


def by_entry_point(known: tuple[Library, ...]) -> dict[str, Library]:
    """Return the libraries under every name that an entry point may have, squeezed."""
    return {
        squeezed(name): library for library in known for name in (library.name, *library.aliases)
    }


def squeezed(name: str) -> str:
    """Return a name without what writers of names disagree about."""
    return re.sub(r"[-_.\s]", "", name).lower()
