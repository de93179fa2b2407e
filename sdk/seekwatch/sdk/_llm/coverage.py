"""Whether another instrumentation makes the span of a model call, so that it is told once.

Three signs, cheapest first: the current span is a model call's; the request comes from a client
library whose instrumentor is on; it was made inside a framework whose instrumentor is on and tells
by callbacks, without a current span. An instrumentor that is installed and off covers nothing, and
neither does one that is on for another library.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Span

from seekwatch.core import attributes
from seekwatch.sdk._deferred import DeferredSpan
from seekwatch.sdk._export.batching import held_attributes
from seekwatch.sdk._http.messages import RequestView
from seekwatch.sdk._shapes import as_mapping

from .apis import Shape, find


class Coverage(Enum):
    """How far another instrumentation tells a call."""

    NONE = "none"
    COUNTED = "counted"
    """Its span has model and usage, and by its settings no content."""
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Instrumentor:
    """An instrumentor of a client library, and the wire shapes of the calls that it wraps."""

    module: str
    name: str
    shapes: frozenset[Shape]


_CHAT: Final[frozenset[Shape]] = frozenset({"openai-chat"})
_OPENAI: Final[frozenset[Shape]] = frozenset({"openai-chat", "openai-responses"})
_ANTHROPIC: Final[frozenset[Shape]] = frozenset({"anthropic"})
_GEMINI: Final[frozenset[Shape]] = frozenset({"gemini"})
_COHERE: Final[frozenset[Shape]] = frozenset({"cohere"})
_OLLAMA: Final[frozenset[Shape]] = frozenset({"ollama"})
_BEDROCK: Final[frozenset[Shape]] = frozenset({"bedrock"})

CLIENTS: Final[dict[str, tuple[Instrumentor, ...]]] = {
    "openai/": (
        Instrumentor("openinference.instrumentation.openai", "OpenAIInstrumentor", _OPENAI),
        Instrumentor("opentelemetry.instrumentation.openai", "OpenAIInstrumentor", _OPENAI),
        Instrumentor("traceai_openai", "OpenAIInstrumentor", _OPENAI),
    ),
    "anthropic/": (
        Instrumentor(
            "openinference.instrumentation.anthropic", "AnthropicInstrumentor", _ANTHROPIC
        ),
        Instrumentor(
            "opentelemetry.instrumentation.anthropic", "AnthropicInstrumentor", _ANTHROPIC
        ),
        # The library's own span stands inside this one's and is the current one.
        Instrumentor(
            "opentelemetry.instrumentation.genai.anthropic", "AnthropicInstrumentor", _ANTHROPIC
        ),
        Instrumentor("traceai_anthropic", "AnthropicInstrumentor", _ANTHROPIC),
    ),
    "google-genai-sdk/": (
        Instrumentor(
            "openinference.instrumentation.google_genai", "GoogleGenAIInstrumentor", _GEMINI
        ),
        Instrumentor(
            "opentelemetry.instrumentation.google_generativeai",
            "GoogleGenerativeAiInstrumentor",
            _GEMINI,
        ),
        Instrumentor("traceai_google_genai", "GoogleGenAIInstrumentor", _GEMINI),
    ),
    "mistralai": (
        Instrumentor("openinference.instrumentation.mistralai", "MistralAIInstrumentor", _CHAT),
        Instrumentor("opentelemetry.instrumentation.mistralai", "MistralAiInstrumentor", _CHAT),
        Instrumentor("traceai_mistralai", "MistralAIInstrumentor", _CHAT),
    ),
    "cohere/": (
        Instrumentor("opentelemetry.instrumentation.cohere", "CohereInstrumentor", _COHERE),
        Instrumentor("openinference.instrumentation.cohere", "CohereInstrumentor", _COHERE),
        Instrumentor("traceai_cohere", "CohereInstrumentor", _COHERE),
    ),
    "groq/": (
        Instrumentor("openinference.instrumentation.groq", "GroqInstrumentor", _CHAT),
        Instrumentor("opentelemetry.instrumentation.groq", "GroqInstrumentor", _CHAT),
        Instrumentor("traceai_groq", "GroqInstrumentor", _CHAT),
    ),
    "ollama-python/": (
        Instrumentor("opentelemetry.instrumentation.ollama", "OllamaInstrumentor", _OLLAMA),
        Instrumentor("openinference.instrumentation.ollama", "OllamaInstrumentor", _OLLAMA),
        Instrumentor("traceai_ollama", "OllamaInstrumentor", _OLLAMA),
    ),
    "together/": (
        Instrumentor("opentelemetry.instrumentation.together", "TogetherAiInstrumentor", _CHAT),
        Instrumentor("openinference.instrumentation.together", "TogetherInstrumentor", _CHAT),
    ),
    "botocore": (
        Instrumentor("openinference.instrumentation.bedrock", "BedrockInstrumentor", _BEDROCK),
        Instrumentor("opentelemetry.instrumentation.bedrock", "BedrockInstrumentor", _BEDROCK),
        Instrumentor("traceai_bedrock", "BedrockInstrumentor", _BEDROCK),
    ),
}
"""By what a client library's `user-agent` holds, in lower case. Others of OpenTelemetry's
own need no entry: they hold their span current while the request is sent."""

FRAMEWORKS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "langchain_core.language_models": (
        ("openinference.instrumentation.langchain", "LangChainInstrumentor"),
        ("opentelemetry.instrumentation.langchain", "LangchainInstrumentor"),
        ("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor"),
        ("traceai_langchain", "LangChainInstrumentor"),
    ),
    "llama_index.core.llms": (
        ("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor"),
        ("opentelemetry.instrumentation.llamaindex", "LlamaIndexInstrumentor"),
        ("opentelemetry.instrumentation.genai.llama_index", "LlamaIndexInstrumentor"),
        ("traceai_llamaindex", "LlamaIndexInstrumentor"),
    ),
    "litellm": (
        ("openinference.instrumentation.litellm", "LiteLLMInstrumentor"),
        ("opentelemetry.instrumentation.litellm", "LiteLLMInstrumentor"),
        ("traceai_litellm", "LiteLLMInstrumentor"),
    ),
}
"""By the module, or the package of modules, that runs while the framework calls a model."""

_MODULES: Final = tuple(
    {each.module for every in CLIENTS.values() for each in every}
    | {module for every in FRAMEWORKS.values() for module, _ in every}
)
_LLM_OPERATIONS: Final = frozenset({"chat", "text_completion", "generate_content"})
_NATIVE: Final = "com.anthropic.sdk.python"
"""Scope of the spans that Anthropic's own library makes, without content unless told to."""
_NATIVE_MODE: Final = "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE"
_BY_MODE: Final = (
    "opentelemetry.instrumentation.genai.",
    "opentelemetry.instrumentation.google_genai",
)
"""Scopes of OpenTelemetry's own, which carry content where this variable says so."""
_MODE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS: Final = ("span_only", "span_and_event")
_NEVER: Final = (
    "opentelemetry.instrumentation.openai_v2",
    "opentelemetry.instrumentation.vertexai",
    "opentelemetry.instrumentation.botocore",
)
"""Older ones of OpenTelemetry's own, whose content is in log records, if anywhere."""
_MAX_FRAMES: Final = 120


def coverage(span: Span, request: RequestView) -> Coverage:
    """Tell how far another instrumentation tells this call already.

    Args:
        span: the current one.
        request: what is about to be sent.
    """
    told = _by_span(span)
    if told is Coverage.FULL or not _any_is_loaded():
        return told
    return Coverage.FULL if _client_is_covered(request) or _framework_is_covered() else told


def _any_is_loaded() -> bool:
    """Tell whether any of these instrumentors is there: the cheap no of most processes."""
    return not sys.modules.keys().isdisjoint(_MODULES)


def _by_span(span: Span) -> Coverage:
    described = _described(span)
    if described.get(attributes.SPAN_KIND) == attributes.KIND_LLM:
        return Coverage.FULL
    if "llm.request.type" in described:
        return Coverage.FULL
    if described.get(attributes.OPERATION_NAME) not in _LLM_OPERATIONS:
        return Coverage.NONE
    scope = str(getattr(getattr(span, "instrumentation_scope", None), "name", ""))
    return Coverage.FULL if _carries_content(scope) else Coverage.COUNTED


def _described(span: Span) -> Mapping[str, Any]:
    # By its type: to ask an abstract class for its instances costs ten times as much.
    if type(span) is DeferredSpan:
        # It shall not be made for this.
        return span.described
    if isinstance(span, ReadableSpan):
        return held_attributes(span)
    return as_mapping(getattr(span, "attributes", None))


def _carries_content(scope: str) -> bool:
    """Tell by its settings whether an instrumentation carries content."""
    if scope.startswith(_NATIVE):
        return os.environ.get(_NATIVE_MODE, "").lower() == "content"
    if scope.startswith(_BY_MODE):
        return os.environ.get(_MODE, "").strip().lower() in _ON_SPANS
    return not scope.startswith(_NEVER)


def _client_is_covered(request: RequestView) -> bool:
    """Tell by the library that sends the request whether an instrumentor of it is on."""
    agent = (request.header("user-agent") or "").lower()
    for mark, instrumentors in CLIENTS.items():
        if mark not in agent:
            continue
        found = find(request.path)
        for each in instrumentors:
            wraps = found is not None and found.api.shape in each.shapes
            if wraps and is_on(each.module, each.name) and _carries_content(each.module):
                return True
    return False


def _framework_is_covered() -> bool:
    """Look for a framework in the frames below, where its instrumentor is on."""
    active = tuple(
        package
        for package, instrumentors in FRAMEWORKS.items()
        if any(is_on(module, name) for module, name in instrumentors)
    )
    if not active:
        return False
    # There is no other way to the callers that costs as little.
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    for _ in range(_MAX_FRAMES):
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name.startswith(active):
            return True
        if frame.f_back is None:
            break
        frame = frame.f_back
    return False


def is_on(module: str, name: str) -> bool:
    """Tell whether an instrumentor is on; one that nobody imported is not.

    OpenTelemetry's base class keeps one instance and notes on that, not on the class, that it
    instruments.
    """
    loaded = sys.modules.get(module)
    if loaded is None:
        return False
    instrumentor = getattr(loaded, name, None)
    instance = getattr(instrumentor, "__dict__", {}).get("_instance")
    return bool(getattr(instance, "_is_instrumented_by_opentelemetry", False))
