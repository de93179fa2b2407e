"""A model call that another instrumentation tells is told once; one that nobody tells is told."""

import sys
import types

import pytest
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]
    BaseInstrumentor,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import INVALID_SPAN

from seekwatch.sdk._llm.coverage import (
    CLIENTS,
    FRAMEWORKS,
    Coverage,
    coverage,
    is_on,
)
from tests.services.model_requests import Call

OPENAI = Call(
    "https://api.openai.com/v1/chat/completions", sent={"user-agent": "OpenAI/Python 3.57.0"}
)
RAW = Call("https://api.openai.com/v1/chat/completions", sent={"user-agent": "python-httpx/0.28"})


class _Instrumentor(BaseInstrumentor):  # type: ignore[misc]
    def instrumentation_dependencies(self) -> list[str]:
        return []

    def _instrument(self, **_: object) -> None: ...

    def _uninstrument(self, **_: object) -> None: ...


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> type:
    """An imported instrumentor under the name given as the parameter."""
    module, name = request.param
    kind = type(name, (_Instrumentor,), {"_instance": None})
    monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
    setattr(sys.modules[module], name, kind)
    return kind


OPENINFERENCE = ("openinference.instrumentation.openai", "OpenAIInstrumentor")


@pytest.mark.parametrize("installed", [OPENINFERENCE], indirect=True)
def test_an_instrumentor_covers_the_calls_of_its_library_while_it_is_on(installed: type) -> None:
    instrumentor = installed()
    assert coverage(INVALID_SPAN, OPENAI) is Coverage.NONE, "installed, and off"
    instrumentor.instrument()
    assert coverage(INVALID_SPAN, OPENAI) is Coverage.FULL
    assert coverage(INVALID_SPAN, RAW) is Coverage.NONE, "not by the library"
    instrumentor.uninstrument()
    assert coverage(INVALID_SPAN, OPENAI) is Coverage.NONE


@pytest.mark.parametrize(
    "installed",
    [("openinference.instrumentation.mistralai", "MistralAIInstrumentor")],
    indirect=True,
)
def test_an_instrumentor_covers_only_what_it_wraps(installed: type) -> None:
    sent = {"user-agent": "speakeasy-sdk/python 3.7.0 2.935.1 1.0.0 mistralai"}
    installed().instrument()
    chat = Call("https://api.mistral.ai/v1/chat/completions", sent=sent)
    conversation = Call("https://api.mistral.ai/v1/conversations", sent=sent)
    assert coverage(INVALID_SPAN, chat) is Coverage.FULL
    assert coverage(INVALID_SPAN, conversation) is Coverage.NONE
    installed().uninstrument()


@pytest.mark.parametrize(
    "installed",
    [("openinference.instrumentation.anthropic", "AnthropicInstrumentor")],
    indirect=True,
)
def test_an_instrumentor_with_content_makes_up_for_a_native_span_without(installed: type) -> None:
    call = Call("https://api.anthropic.com/v1/messages", sent={"user-agent": "Anthropic/Python 2"})
    tracer = TracerProvider().get_tracer("com.anthropic.sdk.python")
    span = tracer.start_span("s", attributes={"gen_ai.operation.name": "chat"})
    assert coverage(span, call) is Coverage.COUNTED
    installed().instrument()
    assert coverage(span, call) is Coverage.FULL
    installed().uninstrument()
    span.end()


@pytest.mark.parametrize(
    "installed",
    [("openinference.instrumentation.langchain", "LangChainInstrumentor")],
    indirect=True,
)
def test_a_framework_that_tells_by_callbacks_covers_what_it_calls(installed: type) -> None:
    code = "def ask(question, *given):\n    return question(*given)\n"
    models = types.ModuleType("langchain_core.language_models.chat_models")
    tools = types.ModuleType("langchain_core.tools.base")
    for module in (models, tools):
        exec(code, module.__dict__)
    assert models.ask(coverage, INVALID_SPAN, RAW) is Coverage.NONE, "its instrumentor is off"
    installed().instrument()
    assert models.ask(coverage, INVALID_SPAN, RAW) is Coverage.FULL
    assert tools.ask(coverage, INVALID_SPAN, RAW) is Coverage.NONE, "a tool's own call"
    assert coverage(INVALID_SPAN, RAW) is Coverage.NONE
    installed().uninstrument()


@pytest.mark.parametrize(
    ("scope", "attributes", "environment", "covered"),
    [
        ("x", {"openinference.span.kind": "LLM"}, {}, Coverage.FULL),
        ("x", {"llm.request.type": "chat"}, {}, Coverage.FULL),
        ("x", {"gen_ai.operation.name": "chat"}, {}, Coverage.FULL),
        ("x", {"gen_ai.operation.name": "generate_content"}, {}, Coverage.FULL),
        ("x", {"gen_ai.operation.name": "invoke_agent"}, {}, Coverage.NONE),
        ("x", {"openinference.span.kind": "TOOL"}, {}, Coverage.NONE),
        ("com.anthropic.sdk.python", {"gen_ai.operation.name": "chat"}, {}, Coverage.COUNTED),
        (
            "com.anthropic.sdk.python.bedrock",
            {"gen_ai.operation.name": "chat"},
            {"ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content"},
            Coverage.FULL,
        ),
        (
            "opentelemetry.instrumentation.genai.openai",
            {"gen_ai.operation.name": "chat"},
            {},
            Coverage.COUNTED,
        ),
        (
            "opentelemetry.instrumentation.genai.openai",
            {"gen_ai.operation.name": "chat"},
            {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"},
            Coverage.FULL,
        ),
        (
            "opentelemetry.instrumentation.botocore.bedrock-runtime",
            {"gen_ai.operation.name": "chat"},
            {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
            Coverage.COUNTED,
        ),
    ],
)
def test_the_current_span_covers_a_call_as_far_as_it_tells_it(
    scope: str,
    attributes: dict[str, str],
    environment: dict[str, str],
    covered: Coverage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    span = TracerProvider().get_tracer(scope).start_span("s", attributes=attributes)
    assert coverage(span, RAW) is covered
    span.end()


def test_no_instrumentor_is_imported_or_made_by_looking() -> None:
    before = set(sys.modules)
    assert not is_on("openinference.instrumentation.nothing", "X")
    coverage(INVALID_SPAN, OPENAI)
    assert set(sys.modules) == before


def test_every_client_and_framework_has_its_instrumentors() -> None:
    assert all(CLIENTS.values())
    assert all(FRAMEWORKS.values())
    assert all(mark == mark.lower() for mark in CLIENTS)
