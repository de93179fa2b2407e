"""The real SDK writes spans, the normaliser reads them: both sides of `core/attributes.py`."""

from collections.abc import Iterator

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seekwatch.core.model import Action, Adapter, Episode, Lane, StopReason
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.policy import LanePolicy
from seekwatch.core.records import Signal
from seekwatch.core.redaction import Redactor
from seekwatch.processors.normalise import normalise
from seekwatch.sdk import agent_run, flush, instrument, retriever, tool, uninstrument
from tests.services.span_zoo import cut_of

PAGE = "https://news.example/story"
RESULT = {
    "url": PAGE,
    "title": "T",
    "content": "words",
    "published_date": "2026-01-02",
    "score": 0.9,
}
MODEL_ANSWER = {
    "id": "x",
    "object": "chat.completion",
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": f"In 1932 [1]({PAGE})."},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5},
}


def _web(request: httpx.Request) -> httpx.Response:
    if request.url.host == "api.tavily.com":
        return httpx.Response(200, json={"results": [RESULT]})
    if request.url.host == "api.openai.com":
        return httpx.Response(200, json=MODEL_ANSWER)
    if request.url.path == "/old":
        return httpx.Response(301, headers={"location": PAGE})
    if request.url.path == "/gone":
        return httpx.Response(410)
    return httpx.Response(
        200,
        html="<html lang=en><title>The bridge</title><p>It opened in <b>19</b>32.</p></html>",
        headers={"etag": '"e"', "last-modified": "Sat, 14 Mar 2026 10:00:00 GMT"},
    )


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument("finder", tracer_provider=provider)
    yield exporter
    uninstrument()
    provider.shutdown()


@pytest.fixture
def web() -> Iterator[httpx.Client]:
    transport = httpx.MockTransport(_web)
    with httpx.Client(transport=transport, follow_redirects=True) as client:
        yield client


def _episode(exporter: InMemorySpanExporter) -> Episode:
    flush()
    finished = exporter.get_finished_spans()
    request = encode_spans(finished).SerializeToString()
    context = finished[0].get_span_context()
    assert context is not None
    cut = cut_of(f"{context.trace_id:032x}", raw_items(request, Signal.TRACES))
    episode = normalise(cut, Redactor(), LanePolicy())
    assert episode is not None
    return episode


def test_a_run_over_httpx_is_recovered_whole(
    spans: InMemorySpanExporter, web: httpx.Client
) -> None:
    with agent_run("When did the bridge open?") as run:
        run.limits(deadline=30, attempts=3)
        run.context(lane="canary", case="c1", principal="ann")
        web.post("https://api.tavily.com/search", json={"query": "bridge opening"})
        web.get("https://news.example/old")
        web.get("https://news.example/gone")
        web.post(
            "https://api.openai.com/v1/chat/completions",
            json={"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "When?"}]},
        )
        run.answer(f"In 1932 [1]({PAGE}).", [PAGE])
    episode = _episode(spans)

    assert episode.question == "When did the bridge open?"
    assert (episode.context.agent, episode.context.lane) == ("finder", Lane.CANARY)
    assert episode.context.case == "c1"
    assert episode.context.principal not in (None, "ann")
    assert (episode.limits.deadline, episode.limits.attempts) == (30, 3)
    assert episode.stop_reason is StopReason.ANSWERED
    assert episode.dialects == ("seekwatch",)
    assert episode.completeness.complete

    (search,) = episode.searches
    assert (search.query, search.provider) == ("bridge opening", "tavily")
    assert search.results is not None
    (found,) = search.results
    assert (found.url, found.title, found.score) == (PAGE, "T", 0.9)
    assert found.published is not None

    wire, moved, gone = episode.fetches
    assert (wire.adapter, wire.action) == (Adapter.SEARCH, Action.READ)
    assert (moved.url, moved.final_url) == ("https://news.example/old", PAGE)
    assert [(hop.status, hop.location) for hop in moved.hops] == [(301, PAGE)]
    assert moved.page is not None
    assert (moved.page.title, moved.page.text) == ("The bridge", "It opened in 1932.")
    assert moved.validators is not None
    assert moved.validators.etag == '"e"'
    assert gone.status == 410

    (generation,) = episode.generations
    assert (generation.input_tokens, generation.output_tokens) == (10, 5)
    assert episode.answer is not None
    assert episode.answer.span == generation.span
    assert [citation.url for citation in episode.answer.citations] == [PAGE]
    assert episode.answer.claims[0].citations == (0,)


def test_decorated_functions_around_the_calls_are_not_counted_again(
    spans: InMemorySpanExporter, web: httpx.Client
) -> None:
    @retriever
    def find(query: str) -> list[dict[str, object]]:
        answer = web.post("https://api.tavily.com/search", json={"query": query + " date"})
        results: list[dict[str, object]] = answer.json()["results"]
        return results

    @tool
    def read_page(url: str) -> str:
        return web.get(url).text

    with agent_run("When did the bridge open?") as run:
        find("bridge opening")
        read_page(PAGE)
        run.answer("In 1932.")
    episode = _episode(spans)

    (search,) = episode.searches
    assert search.query == "bridge opening date", "what was sent"
    pages = [fetch for fetch in episode.fetches if fetch.adapter is not Adapter.SEARCH]
    assert [(fetch.url, fetch.status) for fetch in pages] == [(PAGE, 200)]


def test_decorated_functions_alone_tell_what_they_did(spans: InMemorySpanExporter) -> None:
    @retriever
    def find(query: str) -> list[dict[str, object]]:
        return [RESULT]

    @tool
    def read_page(url: str) -> str:
        return "It opened in 1932."

    with agent_run("When did the bridge open?") as run:
        find("bridge opening")
        read_page(PAGE)
        run.answer("In 1932.")
    episode = _episode(spans)

    (search,) = episode.searches
    assert (search.query, search.provider) == ("bridge opening", "find")
    assert search.results is not None
    assert search.results[0].url == PAGE
    (fetch,) = episode.fetches
    assert (fetch.url, fetch.adapter) == (PAGE, Adapter.FETCH)
    assert fetch.page is not None
    assert fetch.page.text == "It opened in 1932."


def test_an_unmarked_run_whose_prompt_holds_its_results_is_asked_what_the_person_asked(
    spans: InMemorySpanExporter, web: httpx.Client
) -> None:
    asked = "When did the bridge open?"
    for prompt in (
        f"Rewrite the following question as a web search. Only the query.\n\n{asked}",
        f"Use the context.\n\nContext:\n[1] T ({PAGE}): words\n\nQuestion: {asked}\nAnswer:",
    ):
        web.post(
            "https://api.openai.com/v1/chat/completions",
            json={"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]},
        )
        web.post("https://api.tavily.com/search", json={"query": "bridge opening"})
    episode = _episode(spans)
    assert episode.question == asked
    assert episode.answer is not None
