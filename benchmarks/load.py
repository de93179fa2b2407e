"""The load of every measurement: the same traces, byte for byte, on every machine.

One trace is one run of a search agent as one export request: 1 AGENT, 2 LLM, 2 RETRIEVER of five
results each, 2 TOOL page fetches and the 4 spans of the stock httpx instrumentation below them: 11
spans, one resource, two scopes, about 24 KB. It comes in two dialects, that of our SDK and
OpenInference's, so that a shortcut for one of them shows.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from benchmarks.load_text import Story, story
from seekwatch.core import attributes as names
from seekwatch.core.otlp.building import AttributeMap, AttributeValue, key_values
from seekwatch.core.testing import TraceBuilder, result, span, span_id

SPANS_PER_TRACE: Final = 11
DIALECTS: Final = ("seekwatch", "openinference")

_AGENTS: Final = 5
_SECOND: Final = 1_000_000_000
_SHARED: Final = {
    "session.id": "session-1",
    "user.id": "user-1",
    "metadata": '{"thread": 7, "step": 3}',
    "tag.tags": ["production", "search"],
    "input.mime_type": "text/plain",
    "output.mime_type": "text/plain",
}
"""What an OpenInference tracer puts on every span from its context."""
_CLIENT: Final = 3
"""OTLP span kind of a request that is made."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run: its id (32 hex characters), which is the log's key, and its one export request."""

    trace: str
    request: bytes


def traces(count: int, *, dialect: str, seed: str, page_bytes: int = 2_500) -> list[Trace]:
    """Return `count` runs.

    Args:
        count: how many.
        dialect: of `DIALECTS`.
        seed: ids and texts depend on it alone; ids of two seeds never meet.
        page_bytes: HTML of a fetched page, before compression.
    """
    build = {"seekwatch": _own_run, "openinference": _openinference_run}[dialect]
    made: list[Trace] = []
    for number in range(count):
        name = f"{dialect}/{seed}/{number}"
        told = story(random.Random(name), page_bytes=page_bytes)
        builder = TraceBuilder(f"agent-{number % _AGENTS}", seed=name, service="research")
        spans = build(builder, told)
        made.append(Trace(builder.trace, _encoded(builder, spans)))
    return made


def _own_run(builder: TraceBuilder, told: Story) -> list[Span]:
    """Return a run as our SDK tells it."""
    builder.agent(told.question)
    _think(builder, told.plan)
    requests: list[Span] = []
    for search in told.searches:
        builder.search(search.query, [result(**document) for document in search.documents])
        # The SDK's own span of the wire call makes way for the stock instrumentation's.
        requests.append(_http("POST", "https://api.tavily.com/search", _last(builder), builder))
    for page in told.pages:
        headers = {"etag": '"v1"', "cache-control": "max-age=60", "last-modified": page.modified}
        builder.fetch(page.url, html=page.html, headers=headers)
        requests.append(_http("GET", page.url, _last(builder), builder))
    _think(builder, told.answer)
    builder.answer(told.answer, [{"url": url} for url in told.cited])
    children = [made for made in builder.spans() if made.name != "POST search"]
    return [*children, *requests]


def _think(builder: TraceBuilder, text: str) -> None:
    builder.generation(input_tokens=900, output_tokens=len(text) // 4, text=text)


def _last(builder: TraceBuilder) -> Span:
    return builder.spans(root=False)[-1]


def _openinference_run(builder: TraceBuilder, told: Story) -> list[Span]:
    """Return the same run as OpenInference instrumentors tell it."""
    tell = _Teller(builder)
    tell.child("plan", "LLM", _model_call(told.question, told.plan))
    requests: list[Span] = []
    for search in told.searches:
        documents = _flat_documents(search.documents)
        searched = tell.child("web search", "RETRIEVER", {"input.value": search.query, **documents})
        requests.append(_http("POST", "https://api.tavily.com/search", searched, builder))
    for page in told.pages:
        attributes: AttributeMap = {
            "tool.name": "fetch_page",
            "input.value": json.dumps({"url": page.url}),
            "input.mime_type": "application/json",
            "output.value": page.text,
        }
        requests.append(
            _http("GET", page.url, tell.child("fetch_page", "TOOL", attributes), builder)
        )
    cited = "\n".join(f"[{n}] {url}" for n, url in enumerate(told.cited, start=1))
    answer = f"{told.answer}\n\nSources:\n{cited}"
    tell.child("answer", "LLM", _model_call(told.question, answer))
    return [
        *tell.spans,
        tell.root({"input.value": told.question, "output.value": answer}),
        *requests,
    ]


class _Teller:
    """Puts spans one after the other below one root."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._root_id = span_id(f"{builder.seed}/root")
        self._start = builder.clock.nanoseconds()
        self.spans: list[Span] = []

    def child(self, name: str, kind: str, attributes: AttributeMap) -> Span:
        """Add a span of 300 ms."""
        start = self._builder.clock.nanoseconds()
        self._builder.wait(0.301)
        made = span(
            name,
            {names.SPAN_KIND: kind, **_SHARED, **attributes},
            trace=self._builder.trace,
            span=span_id(f"{self._builder.seed}/{len(self.spans)}"),
            parent=self._root_id,
            start=start,
            end=start + 300_000_000,
        )
        self.spans.append(made)
        return made

    def root(self, attributes: AttributeMap) -> Span:
        """Return the AGENT span around them all."""
        return span(
            "agent",
            {names.SPAN_KIND: "AGENT", "agent.name": self._builder.name, **_SHARED, **attributes},
            trace=self._builder.trace,
            span=self._root_id,
            start=self._start,
            end=self._builder.clock.nanoseconds(),
        )


def _model_call(question: str, told: str) -> dict[str, AttributeValue | None]:
    return {
        "llm.model_name": "gpt-4o-mini",
        "llm.provider": "openai",
        "llm.system": "openai",
        "llm.invocation_parameters": '{"temperature": 0}',
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Answer from the sources and cite each of them.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": question,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": told,
        "llm.token_count.prompt": 900,
        "llm.token_count.completion": len(told) // 4,
        "llm.token_count.total": 900 + len(told) // 4,
        "input.value": question,
        "output.value": told,
    }


def _flat_documents(documents: Sequence[dict[str, Any]]) -> dict[str, AttributeValue | None]:
    flat: dict[str, AttributeValue | None] = {}
    for index, document in enumerate(documents):
        prefix = f"retrieval.documents.{index}.document."
        about = {key: document[key] for key in ("url", "title", "published")}
        flat[prefix + "id"] = f"doc-{index}"
        # The instrumentor of a framework that reads whole pages: twice our SDK's snippet, which
        # is sent in two forms.
        flat[prefix + "content"] = document["content"] * 2
        flat[prefix + "score"] = document["score"]
        flat[prefix + "metadata"] = json.dumps(about, ensure_ascii=False)
    return flat


def _http(method: str, url: str, above: Span, builder: TraceBuilder) -> Span:
    """Return the stock httpx span below a span."""
    return span(
        method,
        {
            names.HTTP_METHOD: method,
            names.URL_FULL: url,
            names.HTTP_STATUS: 200,
            names.SERVER_ADDRESS: url.split("/")[2],
            names.SERVER_PORT: 443,
            "network.protocol.version": "1.1",
        },
        trace=builder.trace,
        span=span_id(f"http/{above.span_id.hex()}"),
        parent=above.span_id.hex(),
        start=above.start_time_unix_nano + 1_000_000,
        end=above.end_time_unix_nano - 1_000_000,
        kind=_CLIENT,
    )


def _encoded(builder: TraceBuilder, spans: Sequence[Span]) -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(key_values(builder.resource))
    stock = [made for made in spans if made.kind == cast("Any", _CLIENT)]
    own = [made for made in spans if made.kind != cast("Any", _CLIENT)]
    for scope, members in (("seekwatch.sdk", own), ("opentelemetry.instrumentation.httpx", stock)):
        scoped = group.scope_spans.add()
        scoped.scope.name = scope
        scoped.scope.version = "0.1.0"
        scoped.spans.extend(members)
    return request.SerializeToString()
