import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from seekwatch.core.redaction import Redactor
from seekwatch.sdk import AgentRun, agent_run, flush, instrument, tool, uninstrument
from seekwatch.sdk._export.batching import EndedSpan
from seekwatch.sdk._export.stage import ExportStage, encoded_size
from seekwatch.sdk._guard import failures, reset_failures
from seekwatch.sdk._instrument import statistics
from tests.services.otlp_sink import HttpSink
from tests.services.web import Answer, LocalWeb

# One secret of each documented shape, and one of a pattern of the user's own.
CANARIES = {
    "openai": "sk-canary0123456789abcdefghij",
    "tavily": "tvly-canary0123456789abcd",
    "github": "ghp_" + "canary0123456789abcdefghijklmnopqrstuv",
    "gitlab": "glpat-canary0123456789abcdef",
    "aws": "AKIACANARY0123456789",
    "google": "AIza" + "canary0123456789abcdefghijklmnopqrs",
    "slack": "xoxb-canary-0123456789",
    "huggingface": "hf_canary0123456789abcdefghijklmno",
    "jwt": "eyJhbGciOiJIUzI1.eyJzdWIiOiJjYW5hcnk.canary01234567",
    "own": "CASE-31337-canary",
}
EVERYTHING = " ".join(CANARIES.values())


def wire(sink: HttpSink) -> str:
    """Everything that left the process, compressed bodies opened."""
    opened = [request.decode("latin-1") for request in sink.requests]
    for span in sink.spans:
        body = span.attributes.get("seekwatch.content.body")
        if body is not None:
            opened.append(zlib.decompress(base64.b64decode(body)).decode())
    return "\n".join(opened)


@pytest.fixture
def instrumented(sink: HttpSink) -> None:
    instrument("leaky", endpoint=sink.url, redact=[r"CASE-\d+-\w+"])


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize("secret", CANARIES.values(), ids=CANARIES)
def test_a_planted_secret_never_leaves_the_process(
    web: LocalWeb, sink: HttpSink, secret: str
) -> None:
    web.pages["/leak"] = lambda _: Answer(
        200,
        f"<p>{secret}</p>".encode(),
        headers={"ETag": f'"{secret}"', "Set-Cookie": f"session={secret}"},
    )
    web.pages["/moved"] = lambda _: Answer(302, b"", headers={"Location": f"/leak?x={secret}"})

    @tool
    def use(argument: str) -> str:
        return f"result {argument}"

    def work(run: AgentRun) -> None:
        headers = {"Authorization": f"Bearer {secret}", "If-None-Match": secret}
        httpx.get(f"{web.url}/moved?q={secret}#{secret}", headers=headers, follow_redirects=True)
        httpx.post(
            f"{web.url}/v1/chat/completions",
            json={"model": secret, "messages": [{"role": "user", "content": secret}]},
        )
        use(secret)
        run.answer(f"answer {secret}", [{"url": f"https://x.example/?k={secret}", "quote": secret}])
        span = trace.get_current_span()
        span.set_attribute("free", [secret, "x"])
        span.add_event(f"event {secret}", {"note": secret})
        span.add_link(SpanContext(1, 1, is_remote=True, trace_flags=TraceFlags(1)), {"l": secret})
        raise ValueError(f"boom {secret}")

    with pytest.raises(ValueError, match="boom"), agent_run(f"question {secret}") as run:
        work(run)
    assert flush()
    assert len(sink.spans) >= 7
    assert secret not in wire(sink)
    assert sink.one("AGENT").attributes["seekwatch.redactions"] > 3


@pytest.mark.usefixtures("instrumented")
def test_credentials_in_urls_are_masked_on_the_stock_span_too(
    web: LocalWeb, sink: HttpSink
) -> None:
    httpx.get(f"http://alice:wonder@{web.authority}/page?api_key=canaryvalue&page=2#canaryfragment")
    assert flush()
    assert len(sink.spans) == 2
    for canary in ("wonder", "canaryvalue", "canaryfragment"):
        assert canary not in wire(sink)
    assert sink.one("TOOL").attributes["url.full"] == f"{web.url}/page?api_key=****&page=2"


def test_our_spans_are_masked_for_other_exporters_too(web: LocalWeb, sink: HttpSink) -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument("leaky", endpoint=sink.url, tracer_provider=provider)
    httpx.get(f"{web.url}/page?api_key=canaryvalue")
    assert flush()
    ours = next(s for s in memory.get_finished_spans() if s.name == "execute_tool fetch")
    assert "canaryvalue" not in ours.to_json()


def test_a_users_callable_has_the_last_word(web: LocalWeb, sink: HttpSink) -> None:
    instrument("leaky", endpoint=sink.url, redact=lambda text: text.replace("snow", "rain"))
    web.pages["/snow"] = lambda _: Answer(200, b"<p>snow</p>")
    with agent_run("does it snow?"):
        httpx.get(f"{web.url}/snow")
    assert flush()
    assert "snow" not in wire(sink)
    assert sink.one("AGENT").attributes["input.value"] == "does it rain?"


def test_withheld_content_stays_and_its_hash_and_length_go(web: LocalWeb, sink: HttpSink) -> None:
    results = [{"url": "https://a.example/", "title": "canary title", "content": "canary snippet"}]
    body = json.dumps({"results": results}).encode()
    web.pages["/search"] = lambda _: Answer(200, body, "application/json")
    web.pages["/p"] = lambda _: Answer(200, b"<p>canary page</p>")
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument("discreet", endpoint=sink.url, capture_content=False, tracer_provider=provider)

    @tool
    def use(argument: str) -> str:
        return argument

    def work(run: AgentRun) -> None:
        httpx.get(f"{web.url}/search", params={"q": "canary query", "format": "json"})
        httpx.get(f"{web.url}/p")
        httpx.post(
            f"{web.url}/v1/chat/completions",
            json={"model": "m", "messages": [{"role": "user", "content": "canary prompt"}]},
        )
        use("canary argument")
        other = trace.get_tracer("other.instrumentor")
        attributes: dict[str, Any] = {
            "input.value": "canary in",
            "llm.input_messages.0.message.content": "canary message",
        }
        with other.start_as_current_span("other", attributes=attributes):
            pass
        run.answer(
            "canary answer",
            [{"url": "https://a.example/", "title": "canary t", "quote": "canary q"}],
        )
        raise ValueError("canary error")

    with pytest.raises(ValueError, match="canary"), agent_run("canary question") as run:
        work(run)
    assert flush()
    assert "canary" not in wire(sink)
    ours = [s for s in memory.get_finished_spans() if s.instrumentation_scope is not None]
    for span in ours:
        if span.instrumentation_scope and span.instrumentation_scope.name == "seekwatch.sdk":
            assert "canary" not in span.to_json()
    agent = sink.one("AGENT").attributes
    assert agent["seekwatch.content.withheld"] is True
    assert agent["seekwatch.run.question.length"] == len("canary question")
    assert agent["seekwatch.run.question.hash"].startswith("sha256:")
    assert agent["seekwatch.run.answer.length"] == len("canary answer")
    assert json.loads(agent["seekwatch.run.citations"]) == [{"url": "https://a.example/"}]
    retriever = sink.one("RETRIEVER").attributes
    assert retriever["search.query.length"] == len("canary query")
    assert json.loads(retriever["gen_ai.retrieval.documents"]) == [
        {"id": "https://a.example/", "url": "https://a.example/", "rank": 1}
    ]
    assert sink.one("LLM").attributes["gen_ai.usage.input_tokens"] == 21


class Recording(SpanExporter):
    def __init__(self, result: SpanExportResult = SpanExportResult.SUCCESS) -> None:
        self.requests: list[list[ReadableSpan]] = []
        self._result = result

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.requests.append(list(spans))
        return self._result

    def shutdown(self) -> None:
        """Nothing is open."""


def ended(*attributes: dict[str, Any], limits: Any = None) -> list[EndedSpan]:
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=limits)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    for index, each in enumerate(attributes):
        with provider.get_tracer("t").start_as_current_span(f"span {index}", attributes=each):
            pass
    return [EndedSpan(span, frozenset(), 0) for span in memory.get_finished_spans()]


def test_requests_are_split_by_bytes() -> None:
    exporter = Recording()
    stage = ExportStage(exporter, Redactor(), request_bytes=10_000)
    stage.export(ended(*({"text": "x" * 3_000} for _ in range(10))))
    assert [len(request) for request in exporter.requests] == [2, 3, 3, 2] or all(
        sum(map(encoded_size, request)) <= 10_000 for request in exporter.requests
    )
    assert sum(map(len, exporter.requests)) == 10
    assert len(exporter.requests) >= 4


def test_the_estimated_size_is_never_below_the_encoded_one() -> None:
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    values: dict[str, Any] = {
        "text": "é" * 5_000,
        "list": ["a" * 100] * 30,
        "number": 1.5,
        "flag": True,
        "many": list(range(50)),
    }
    for each in ended(values, {}):
        encoded = len(encode_spans([each.span]).SerializeToString())
        resource = len(encode_spans([ended({})[0].span]).SerializeToString())
        assert encoded - resource <= encoded_size(each.span)


def test_an_oversized_span_loses_its_body_first_and_says_so() -> None:
    exporter = Recording()
    stage = ExportStage(exporter, Redactor(), request_bytes=100_000)
    stage.export(ended({"seekwatch.content.body": "a" * 200_000, "url.full": "http://a.example/"}))
    found = dict(exporter.requests[0][0].attributes or {})
    assert "seekwatch.content.body" not in found
    assert found["seekwatch.content.omitted_reason"] == "too-large"
    assert found["url.full"] == "http://a.example/"


def test_any_other_oversized_span_is_cut_until_it_fits() -> None:
    exporter = Recording()
    stage = ExportStage(exporter, Redactor(), request_bytes=100_000)
    stage.export(ended({f"k{n}": "a" * 90_000 for n in range(5)}))
    assert encoded_size(exporter.requests[0][0]) <= 100_000


def test_one_span_that_cannot_be_prepared_does_not_take_its_neighbours_along() -> None:
    def explode(text: str) -> str:
        if text == "poison":
            raise RuntimeError("the user's callable failed")
        return text

    exporter = Recording()
    stage = ExportStage(exporter, Redactor(function=explode))
    stage.export(ended({"a": "fine"}, {"a": "poison"}, {"a": "fine too"}))
    assert [span.name for span in exporter.requests[0]] == ["span 0", "span 2"]
    assert stage.failed_spans == 1
    reset_failures()


def test_counts_of_what_was_dropped_survive_the_copy() -> None:
    from opentelemetry.sdk.trace import SpanLimits

    exporter = Recording()
    spans = ended(
        {f"k{n}": "sk-canary0123456789abcdefghij" for n in range(6)},
        limits=SpanLimits(max_span_attributes=4),
    )
    ExportStage(exporter, Redactor()).export(spans)
    copy = exporter.requests[0][0]
    assert copy is not spans[0].span
    assert copy.dropped_attributes == 2


def test_a_span_without_secrets_is_passed_on_as_it_is() -> None:
    exporter = Recording()
    spans = ended({"url.full": "http://a.example/?page=2", "text": "nothing"})
    ExportStage(exporter, Redactor()).export(spans)
    assert exporter.requests[0][0] is spans[0].span


def test_status_messages_and_names_are_masked() -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    span = provider.get_tracer("t").start_span(f"name {CANARIES['openai']}")
    span.set_status(Status(StatusCode.ERROR, f"message {CANARIES['aws']}"))
    span.end()
    exporter = Recording()
    (finished,) = memory.get_finished_spans()
    ExportStage(exporter, Redactor()).export([EndedSpan(finished, frozenset(), 0)])
    (sent,) = exporter.requests[0]
    assert sent.name == "name ****"
    assert sent.status.description == "message ****"


@pytest.mark.parametrize("redact", [lambda _: 1 / 0, lambda _: None], ids=["raises", "no text"])
def test_a_redaction_that_fails_lets_nothing_out_and_ends_every_span(
    web: LocalWeb, sink: HttpSink, redact: Any
) -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument("strict", endpoint=sink.url, redact=redact, tracer_provider=provider)
    httpx.get(f"{web.url}/page?q=canary")
    assert flush()
    assert sink.spans == []
    ours = [span for span in memory.get_finished_spans() if span.name == "execute_tool fetch"]
    assert len(ours) == 1
    assert statistics()["spans_refused"] == 2
    uninstrument()
    assert set(failures()) >= {"preparing a span for export", "preparing metrics for export"}
    assert sink.requests == []
    reset_failures()


def test_what_the_wire_has_no_form_for_is_replaced_and_logs_nothing(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    instrument("odd", endpoint=sink.url)
    half = "half \ud83d of it"
    with agent_run(half) as run:
        run.answer(half, [{"url": "https://a.example/", "quote": half}])
        span = trace.get_current_span()
        span.add_event(half, {"note": half, "count": 2**70})
        span.set_attributes({"list": [half], "big": 2**70, "least": -(2**63) + 1})
        span.set_status(Status(StatusCode.ERROR, half))
        span.update_name(half)
    answer = {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": half}}],
        "usage": {"prompt_tokens": 10**30, "completion_tokens": 3},
    }
    transport = httpx.MockTransport(
        lambda _: httpx.Response(
            200, content=json.dumps(answer), headers={"content-type": "application/json"}
        )
    )
    with httpx.Client(transport=transport) as client:
        client.post("http://m.example/v1/chat/completions", json={"model": "m", "messages": []})
    assert flush()
    whole = "half ? of it"
    # The call of the model outside of the run makes one of its own.
    agent = sink.of_kind("AGENT")[0]
    assert (agent.name, agent.message) == (whole, whole)
    assert agent.attributes["input.value"] == agent.attributes["seekwatch.run.answer"] == whole
    assert agent.attributes["list"] == [whole]
    assert agent.attributes["big"] == str(2**70)
    assert agent.attributes["least"] == -(2**63) + 1
    assert agent.events == [(whole, {"note": whole, "count": str(2**70)})]
    model = sink.one("LLM").attributes
    assert model["gen_ai.usage.output_tokens"] == 3
    assert "half \ufffd of it" in model["gen_ai.output.messages"]
    assert caplog.records == []
