"""From the bytes of a model's answer, through the SDK's span, to what the monitor scores."""

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seekwatch.core.model import Episode
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.policy import LanePolicy, ModelPrice, PricePolicy
from seekwatch.core.records import Signal
from seekwatch.core.redaction import Redactor
from seekwatch.processors.normalise import normalise
from seekwatch.processors.runs.cost import cost
from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from tests.services import model_wires as wires
from tests.services.span_zoo import cut_of

SSE = "text/event-stream"
AWS = "application/vnd.amazon.eventstream"
HOSTED = {
    "openai": (
        "https://api.openai.com/v1/responses",
        wires.sse(wires.responses_events(tool=False)),
        SSE,
    ),
    "anthropic": (
        "https://api.anthropic.com/v1/messages",
        wires.sse(wires.anthropic_events(tool=False)),
        SSE,
    ),
    "gemini": (
        "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent",
        wires.GEMINI_ANSWER,
        SSE,
    ),
    "cohere": ("https://api.cohere.com/v1/chat", wires.COHERE_1_STREAM, "application/x-ndjson"),
    "mistral": ("https://api.mistral.ai/v1/conversations", wires.MISTRAL_STREAM, SSE),
    "bedrock": (
        "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a.b-v1:0/invoke-with-response-stream",
        wires.aws_chunks(wires.anthropic_events(tool=False)),
        AWS,
    ),
}


@pytest.fixture
def provider() -> Iterator[TracerProvider]:
    made = TracerProvider()
    yield made
    made.shutdown()


@pytest.fixture
def spans(
    monkeypatch: pytest.MonkeyPatch, provider: TracerProvider
) -> Iterator[InMemorySpanExporter]:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument("finder", tracer_provider=provider)
    yield exporter
    uninstrument()


def call(url: str, answer: bytes, content_type: str, headers: dict[str, str] | None = None) -> None:
    """Ask a model that answers in pieces of 100 bytes, and read it to its end."""

    def answered(_: httpx.Request) -> httpx.Response:
        pieces = (answer[at : at + 100] for at in range(0, len(answer), 100))
        return httpx.Response(
            200, headers={"content-type": content_type, **(headers or {})}, content=pieces
        )

    with (
        httpx.Client(transport=httpx.MockTransport(answered)) as client,
        client.stream("POST", url, json={"model": "model", "messages": []}) as response,
    ):
        for _ in response.iter_bytes():
            pass


def episode(exporter: InMemorySpanExporter) -> Episode:
    flush()
    finished = exporter.get_finished_spans()
    context = finished[0].get_span_context()
    assert context is not None
    request = encode_spans(finished).SerializeToString()
    cut = cut_of(f"{context.trace_id:032x}", raw_items(request, Signal.TRACES))
    found = normalise(cut, Redactor(), LanePolicy())
    assert found is not None
    return found


@pytest.mark.parametrize("name", HOSTED)
def test_a_hosted_search_is_a_search_with_citations(spans: InMemorySpanExporter, name: str) -> None:
    with agent_run("When did the bridge open?") as run:
        call(*HOSTED[name])
        run.answer(wires.TEXT)
    found = episode(spans)

    (search,) = found.searches
    assert (search.query, search.provider) == (wires.QUERY, "hosted")
    (generation,) = found.generations
    assert (generation.input_tokens, generation.output_tokens) == (100, 40)
    assert generation.time_to_first_token is not None
    assert found.answer is not None
    (cited,) = found.answer.citations
    assert (cited.url, cited.title) == (wires.URL, wires.TITLE)
    assert found.answer.claims[0].citations == (0,), "the place in the text is known"
    assert found.fetches == (), "a model call is no page fetch"
    if name == "mistral":
        assert (search.results, search.unread_reason) == (None, "not-told")
        return
    assert search.results is not None
    assert search.results[0].url == wires.URL
    if name in ("openai", "gemini"):
        assert search.results[0].published is None, "nothing is guessed"
        return
    assert search.results[0].published is not None
    published = datetime.fromtimestamp(search.results[0].published.at / 1e9, UTC)
    assert published == datetime(2025, 4, 30, tzinfo=UTC)


def test_a_gateways_cost_model_and_fallback_reach_the_episode(
    spans: InMemorySpanExporter,
) -> None:
    headers = {
        "x-prism-cost": "0.25",
        "x-prism-model-used": "spare",
        "x-prism-fallback-used": "true",
    }
    with agent_run("q"):
        call("https://gateway.example/v1/chat/completions", wires.CHAT_STREAM, SSE, headers)
    (generation,) = episode(spans).generations
    assert (generation.model, generation.cost, generation.fallback) == ("spare", 0.25, True)


def test_without_a_cost_the_model_that_the_gateway_used_is_priced(
    spans: InMemorySpanExporter,
) -> None:
    with agent_run("q"):
        call(
            "https://gateway.example/v1/chat/completions",
            wires.CHAT_STREAM,
            SSE,
            {"x-kong-llm-model": "openai/spare"},
        )
    prices = PricePolicy(models={"spare": ModelPrice(input=1e4, output=1e4, cached_input=0)})
    assert cost(episode(spans), prices).total == pytest.approx((40 + 40) * 1e-2)


def test_a_stream_without_usage_has_an_unknown_cost(spans: InMemorySpanExporter) -> None:
    stream = wires.sse(wires.CHAT_CHUNKS, done=True)
    with agent_run("q"):
        call("https://api.openai.com/v1/chat/completions", stream, SSE)
    found = episode(spans)
    assert found.generations[0].input_tokens is None
    assert cost(found, PricePolicy()).total is None


def test_a_native_span_that_counts_without_content_is_completed_and_not_doubled(
    spans: InMemorySpanExporter, provider: TracerProvider
) -> None:
    tracer = provider.get_tracer("com.anthropic.sdk.python")
    known = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model"}
    with agent_run("When did the bridge open?") as run:
        with tracer.start_as_current_span("anthropic.messages.create", attributes=known) as span:
            call(*HOSTED["anthropic"], headers={"x-litellm-response-cost": "0.5"})
            span.set_attribute("gen_ai.usage.input_tokens", 100)
            span.set_attribute("gen_ai.usage.output_tokens", 40)
        run.answer(wires.TEXT)
    found = episode(spans)
    (generation,) = found.generations
    assert (generation.input_tokens, generation.output_tokens) == (100, 40)
    assert generation.time_to_first_token is not None
    assert [search.query for search in found.searches] == [wires.QUERY]
    assert found.answer is not None
    assert [cited.url for cited in found.answer.citations] == [wires.URL]
