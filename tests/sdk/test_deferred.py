"""Spans of HTTP calls are made late, and nobody can tell."""

from typing import Any

import httpx
import pytest
import wrapt
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
)
from opentelemetry.trace import SpanKind, get_current_span, set_span_in_context, use_span

from seekwatch.sdk import agent_run, flush, instrument
from tests.services.otlp_sink import HttpSink


class Starts(SpanProcessor):
    """Notes what is known when a span starts."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[str, int | None, int | None]] = {}

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        parent = get_current_span(parent_context)
        self.seen[span.name] = (
            str(getattr(parent, "name", "")),
            span.start_time,
            None if span.parent is None else span.parent.span_id,
        )


class Counting(Sampler):
    """Samples everything, adds an attribute and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: object = None,
        links: object = None,
        trace_state: object = None,
    ) -> SamplingResult:
        self.asked.append(name)
        return SamplingResult(Decision.RECORD_AND_SAMPLE, {"sampler.said": "yes"})

    def get_description(self) -> str:
        return "counting"


@pytest.fixture(autouse=True)
def collector(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url)


@pytest.fixture
def memory() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def instrumented(memory: InMemorySpanExporter, sampler: Sampler | None = None) -> TracerProvider:
    provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument("agent", tracer_provider=provider)
    return provider


def fetch(transport: httpx.BaseTransport | None = None) -> None:
    answering = transport or httpx.MockTransport(lambda _: httpx.Response(200, text="page"))
    with httpx.Client(transport=answering) as client:
        client.get("http://page.example/")


def named(memory: InMemorySpanExporter, name: str) -> ReadableSpan:
    flush()
    [span] = [each for each in memory.get_finished_spans() if each.name == name]
    return span


def test_what_starts_beneath_has_the_call_as_its_parent(memory: InMemorySpanExporter) -> None:
    provider = instrumented(memory)

    def answer(_: httpx.Request) -> httpx.Response:
        with provider.get_tracer("user").start_as_current_span("beneath"):
            return httpx.Response(200, text="page")

    with agent_run("question"):
        fetch(httpx.MockTransport(answer))
    call, beneath = named(memory, "execute_tool fetch"), named(memory, "beneath")
    assert beneath.parent is not None
    assert call.context is not None
    assert beneath.parent.span_id == call.context.span_id
    assert beneath.parent.trace_id == call.context.trace_id
    assert beneath.parent.trace_flags == call.context.trace_flags


def test_a_hook_of_the_user_can_say_more_on_the_current_span(memory: InMemorySpanExporter) -> None:
    instrumented(memory)

    def answer(_: httpx.Request) -> httpx.Response:
        current = get_current_span()
        assert current.is_recording()
        current.set_attribute("user.key", 7)
        current.add_event("user.event")
        return httpx.Response(200, text="page")

    with agent_run("question"):
        fetch(httpx.MockTransport(answer))
    call = named(memory, "execute_tool fetch")
    assert (call.attributes or {})["user.key"] == 7
    assert [event.name for event in call.events] == ["user.event"]


def test_a_processor_sees_the_start_with_its_time_and_its_parent(
    memory: InMemorySpanExporter,
) -> None:
    provider = instrumented(memory)
    starts = Starts()
    provider.add_span_processor(starts)
    with agent_run("question"):
        fetch()
    call, run = named(memory, "execute_tool fetch"), named(memory, "invoke_agent agent")
    parent_name, start_time, parent_id = starts.seen["execute_tool fetch"]
    assert parent_name == run.name
    assert start_time == call.start_time
    assert run.context is not None
    assert parent_id == run.context.span_id
    assert run.start_time is not None
    assert call.start_time is not None
    assert run.start_time <= call.start_time


def test_the_parent_is_the_span_that_was_current_when_the_call_began(
    memory: InMemorySpanExporter,
) -> None:
    tracer = instrumented(memory).get_tracer("framework")
    outer = tracer.start_span("workflow")
    inner = tracer.start_span("tool", set_span_in_context(outer))
    stand_in: Any = wrapt.ObjectProxy(inner)
    with use_span(stand_in):
        fetch()
        # What LlamaIndex's instrumentor does when its span is over.
        stand_in.__wrapped__ = outer
    inner.end()
    outer.end()
    flush()
    [call] = [span for span in memory.get_finished_spans() if span.name == "execute_tool fetch"]
    assert call.parent is not None
    assert call.parent.span_id == inner.get_span_context().span_id


def test_a_sampler_is_asked_once_and_its_attributes_stand(memory: InMemorySpanExporter) -> None:
    sampler = Counting()
    instrumented(memory, sampler)
    with agent_run("question"):
        fetch()
    call = named(memory, "execute_tool fetch")
    assert sampler.asked.count("execute_tool fetch") == 1
    assert (call.attributes or {})["sampler.said"] == "yes"


def test_a_call_beneath_an_unsampled_run_is_no_span(memory: InMemorySpanExporter) -> None:
    instrumented(memory, ParentBased(ALWAYS_OFF))
    seen: list[bool] = []

    def answer(_: httpx.Request) -> httpx.Response:
        current = get_current_span()
        seen.append(current.is_recording() or current.get_span_context().trace_flags.sampled)
        return httpx.Response(200, text="page")

    with agent_run("question"):
        fetch(httpx.MockTransport(answer))
    flush()
    assert seen == [False]
    assert memory.get_finished_spans() == ()


def test_a_call_that_raises_is_told_with_its_error(memory: InMemorySpanExporter) -> None:
    instrumented(memory)

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with agent_run("question"), pytest.raises(httpx.ConnectError):
        fetch(httpx.MockTransport(refuse))
    call = named(memory, "execute_tool fetch")
    assert (call.attributes or {})["error.type"] == "ConnectError"
