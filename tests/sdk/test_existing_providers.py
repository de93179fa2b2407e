"""Providers that the agent set up itself: joined, never changed, whatever their state."""

import json
import logging
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import httpx
import pytest
from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import (
    ReadableSpan,
    Span,
    SpanLimits,
    SpanProcessor,
    TracerProvider,
)
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from seekwatch.sdk._export.providers import forget_meter_provider, forget_tracer_provider
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.otlp_sink import HttpSink
from tests.services.web import Answer, LocalWeb


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def theirs(memory: InMemorySpanExporter) -> Iterator[TracerProvider]:
    """The process's provider, set by the agent before us."""
    provider = TracerProvider(resource=Resource({"service.name": "theirs"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    trace.set_tracer_provider(provider)
    yield provider
    uninstrument()
    forget_tracer_provider(provider)


def ask(web: LocalWeb) -> None:
    with agent_run("q") as run:
        assert httpx.get(f"{web.url}/page").status_code == 200
        run.answer("a")


def test_our_exporter_is_added_once_and_theirs_stays(
    theirs: TracerProvider, memory: InMemorySpanExporter, sink: HttpSink, web: LocalWeb
) -> None:
    for _ in range(3):
        instrument("my-agent", endpoint=sink.url)
    ask(web)
    assert flush()
    assert sorted(span.name for span in sink.spans) == sorted(
        span.name for span in memory.get_finished_spans()
    )
    assert len(sink.spans) == 3
    assert trace.get_tracer_provider() is theirs


def test_the_service_name_of_the_variable_wins_and_the_agent_stands_on_the_spans(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch, web: LocalWeb
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "by-variable")
    provider = TracerProvider(shutdown_on_exit=False)
    instrument("my-agent", endpoint=sink.url, tracer_provider=provider)
    ask(web)
    assert flush()
    assert {span.resource["service.name"] for span in sink.spans} == {"by-variable"}
    for kind in ("AGENT", "TOOL"):
        assert sink.one(kind).attributes["gen_ai.agent.name"] == "my-agent"


def test_a_provider_that_is_set_after_us_does_not_take_our_spans_away(
    sink: HttpSink, web: LocalWeb, memory: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    instrument("my-agent", endpoint=sink.url)
    ours = trace.get_tracer_provider()
    late = TracerProvider(shutdown_on_exit=False)
    late.add_span_processor(SimpleSpanProcessor(memory))
    with caplog.at_level(logging.WARNING):
        trace.set_tracer_provider(late)
    # OpenTelemetry's own rule: the first one stays, and it says so.
    assert "Overriding of current TracerProvider is not allowed" in caplog.text
    assert trace.get_tracer_provider() is ours
    ask(web)
    assert flush()
    assert len(sink.spans) == 3
    uninstrument()
    trace.set_tracer_provider(late)
    assert trace.get_tracer_provider() is late
    forget_tracer_provider(late)


def test_a_proxy_becomes_ours_and_tracers_made_before_are_seen(sink: HttpSink) -> None:
    early = trace.get_tracer("early")
    instrument("my-agent", endpoint=sink.url)
    with early.start_as_current_span("early span"):
        pass
    assert flush()
    assert [span.name for span in sink.spans] == ["early span"]


def test_a_provider_that_was_shut_down_costs_the_spans_and_nothing_else(
    theirs: TracerProvider, sink: HttpSink, web: LocalWeb
) -> None:
    instrument("my-agent", endpoint=sink.url)
    ask(web)
    theirs.shutdown()
    assert len(sink.spans) == 3, "whoever shuts a provider down gets what was seen out"
    ask(web)
    flush()
    uninstrument()
    assert len(sink.spans) == 3


def test_a_provider_that_was_shut_down_before_us_is_joined_without_harm(
    theirs: TracerProvider, sink: HttpSink, web: LocalWeb
) -> None:
    theirs.shutdown()
    instrument("my-agent", endpoint=sink.url)
    ask(web)
    flush()
    uninstrument()


@pytest.mark.parametrize("limit", [32, 16])
def test_forty_documents_fit_into_a_small_span_limit(
    sink: HttpSink, web: LocalWeb, limit: int
) -> None:
    results = [
        {
            "url": f"https://site{number}.example/a",
            "title": f"Title {number}",
            "content": f"text {number}",
            "published_date": "2026-11-20",
            "score": number / 40,
        }
        for number in range(40)
    ]
    body = json.dumps({"query": "q", "results": results}).encode()
    web.pages["/search"] = lambda _: Answer(200, body, "application/json")
    provider = TracerProvider(
        span_limits=SpanLimits(max_span_attributes=limit), shutdown_on_exit=False
    )
    instrument("my-agent", endpoint=sink.url, tracer_provider=provider)
    httpx.get(f"{web.url}/search", params={"q": "x", "format": "json"})
    assert flush()
    found = sink.one("RETRIEVER")
    if limit >= 32:
        packed = json.loads(found.attributes["gen_ai.retrieval.documents"])
        assert [each["url"] for each in packed] == [each["url"] for each in results]
        assert found.dropped == 0
        assert found.attributes["search.query"] == "x"
    else:
        # What has no room is said by the span itself.
        assert len(found.attributes) <= limit


def test_no_exporter_of_ours_and_theirs_goes_on(
    theirs: TracerProvider,
    memory: InMemorySpanExporter,
    web: LocalWeb,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    before = theirs._active_span_processor._span_processors
    instrument("my-agent")
    ask(web)
    assert flush()
    assert len(memory.get_finished_spans()) == 3
    uninstrument()
    assert theirs._active_span_processor._span_processors == before


def test_a_sampler_of_theirs_holds(sink: HttpSink, web: LocalWeb) -> None:
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    instrument("my-agent", endpoint=sink.url, tracer_provider=provider)
    ask(web)
    assert flush()
    assert sink.spans == []


# Metrics


def bounds(reader: InMemoryMetricReader) -> list[float]:
    data: Any = reader.get_metrics_data()
    return next(
        list(metric.data.data_points[0].explicit_bounds)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "http.client.request.duration"
    )


@pytest.mark.parametrize("how", ["given", "the process's"])
def test_a_meter_provider_of_theirs_keeps_its_views(
    sink: HttpSink, web: LocalWeb, how: str
) -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    if how == "given":
        instrument("my-agent", endpoint=sink.url, meter_provider=provider)
    else:
        metrics.set_meter_provider(provider)
        instrument("my-agent", endpoint=sink.url)
    try:
        httpx.get(f"{web.url}/page")
        assert max(bounds(reader)) <= 10
        uninstrument()
        assert sink.metric_requests == []
        provider.get_meter("theirs").create_counter("still.works").add(1)
        assert "still.works" in str(reader.get_metrics_data())
    finally:
        forget_meter_provider(provider)


def test_a_meter_provider_that_we_make_reaches_beyond_five_minutes(
    sink: HttpSink, web: LocalWeb
) -> None:
    instrument("my-agent", endpoint=sink.url)
    httpx.get(f"{web.url}/page")
    uninstrument()
    assert max(sink.histogram("http.client.request.duration").explicit_bounds) >= 300


# Once more, otherwise


def test_a_second_call_says_what_it_does(sink: HttpSink, caplog: pytest.LogCaptureFixture) -> None:
    instrument("my-agent", endpoint=sink.url)
    with caplog.at_level(logging.INFO, logger="seekwatch.sdk"):
        instrument("other", endpoint="http://elsewhere:4318", capture_content=False)
    (said,) = [record for record in caplog.records if record.name == "seekwatch.sdk"]
    assert said.levelno == logging.WARNING
    assert "'my-agent'" in said.getMessage()
    assert "uninstrument()" in said.getMessage()
    for name in ("agent", "endpoint", "capture_content"):
        assert name in said.getMessage()
    caplog.clear()
    instrument("my-agent", endpoint=sink.url)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_notebook_can_go_on_otherwise(sink: HttpSink, web: LocalWeb) -> None:
    cells = [
        "from seekwatch.sdk import agent_run, flush, instrument, uninstrument",
        "instrument('first', endpoint=endpoint)",
        "instrument('first', endpoint=endpoint)",
        "with agent_run('one') as run: run.answer('a')",
        "uninstrument()",
        "instrument('second', endpoint=endpoint)",
        "with agent_run('two') as run: run.answer('a')",
        "assert flush()",
    ]
    kernel: dict[str, Any] = {"endpoint": sink.url, "__name__": "__main__"}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"<cell {number}>", "exec"), kernel)
    names = [span.attributes["gen_ai.agent.name"] for span in sink.of_kind("AGENT")]
    assert names == ["first", "second"]


class Raising(SpanProcessor):
    """A processor of the agent's that has a bug."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        raise RuntimeError("a bug in on_start")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("a bug in on_end")


@pytest.mark.parametrize("added", ["before", "after"])
@pytest.mark.parametrize("stated", [True, False], ids=["in a run", "alone"])
def test_a_processor_that_raises_breaks_no_request(
    sink: HttpSink, web: LocalWeb, added: str, stated: bool
) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    if added == "before":
        provider.add_span_processor(Raising())
    instrument("joined", endpoint=sink.url, tracer_provider=provider)
    if added == "after":
        provider.add_span_processor(Raising())
    with agent_run("why?") if stated else nullcontext():
        assert httpx.get(f"{web.url}/page").status_code == 200
    uninstrument()
    assert failures()
    reset_failures()
    with pytest.raises(RuntimeError, match="a bug in on_start"):
        provider.get_tracer("the agent's").start_span("as before")
