"""What the SDK costs an agent, as ratios to bare OpenTelemetry in the same run.

`python -m benchmarks.sdk` measures in one process, in turns and in pairs:

* each span of ours against a bare OpenTelemetry span with the same attributes and bytes;
* an httpx request that we capture, beyond the stock httpx instrumentation, against the bare spans
  that it adds, and as a whole against the stock one;
* a request that adds no span of ours against the stock one.

Each twice: CPU time of the agent's own thread, and of the whole process with the background
threads. Every side exports through a batch processor to an exporter that encodes and throws away.
A request is answered below httpx's own transport, without a network, so that its cost is steady
and small: against a real request every ratio is better.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpcore
import httpx
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from benchmarks.rows import Row, argument_parser, interleaved, median_row, ratios, report
from seekwatch.sdk import SearchApi, agent_run, flush, instrument, tool, uninstrument
from seekwatch.sdk._export import exporters

_PAGE: Final = b"<p>Snow fell in the valley, and the winter fair opened at ten.</p>\n" * 400
_RESULT: Final = (
    b'{"url": "https://site.example/article", "title": "A result", "score": 0.5, "content": "'
    + b"Snow fell in the valley. " * 12
    + b'", "published_date": "2026-11-20"}'
)
_RESULTS: Final = b'{"results": [' + b", ".join([_RESULT] * 10) + b"]}"
_CHAT: Final = (
    b'{"id": "x", "model": "m", "choices": [{"message": {"role": "assistant", "content": "It '
    b'snowed."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}'
)
_ANSWER: Final = "It snowed in the valley [1], and the fair opened at ten [2]. " * 10
_CITATIONS: Final = [{"url": f"https://site{n}.example/", "quote": "It snowed."} for n in range(2)]

_SEARCH: Final = SearchApi(
    name="local",
    hosts=("search.example",),
    query=("json:query",),
    results=("results",),
)


class Encoding(SpanExporter):
    """Does all that an OTLP exporter does but the network."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Encode and forget."""
        encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing is open."""


class AnsweringPool(httpcore.ConnectionPool):
    """Answers below httpx's own transport, which the stock instrumentation wraps."""

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Answer by the path's last word."""
        body, kind = {
            b"/search": (_RESULTS, b"application/json"),
            b"/chat/completions": (_CHAT, b"application/json"),
        }.get(request.url.target, (_PAGE, b"text/html"))
        headers = [(b"content-type", kind), (b"etag", b'"v1"'), (b"cache-control", b"max-age=60")]
        return httpcore.Response(200, headers=headers, content=body)


def answering_client() -> httpx.Client:
    """Return a client whose requests end inside this process."""
    transport = httpx.HTTPTransport()
    transport._pool = AnsweringPool()
    return httpx.Client(transport=transport)


@dataclass(frozen=True)
class Cost:
    """CPU seconds of one batch."""

    caller: float
    process: float


def timed(work: Callable[[], None], settle: Callable[[], object], count: int) -> Cost:
    """Do `work` `count` times, then wait until everything is exported."""
    process, caller = time.process_time(), time.thread_time()
    for _ in range(count):
        work()
    caller = time.thread_time() - caller
    settle()
    return Cost(caller, time.process_time() - process)


@contextmanager
def ours() -> Iterator[None]:
    """Instrument as an agent does; metrics are the same on both sides and left out."""
    provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=512))
    instrument(
        "benchmark",
        search_apis=[_SEARCH],
        tracer_provider=provider,
        meter_provider=NoOpMeterProvider(),
    )
    try:
        yield
    finally:
        uninstrument()


@contextmanager
def bare() -> Iterator[TracerProvider]:
    """Bare OpenTelemetry with its own batch processor."""
    provider = TracerProvider(
        span_limits=SpanLimits(max_span_attributes=512), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(Encoding()))
    try:
        yield provider
    finally:
        provider.shutdown()


@contextmanager
def stock() -> Iterator[TracerProvider]:
    """The stock httpx instrumentation on bare OpenTelemetry."""
    with bare() as provider:
        instrumentor = HTTPXClientInstrumentor()
        instrumentor.instrument(tracer_provider=provider, meter_provider=NoOpMeterProvider())
        try:
            yield provider
        finally:
            instrumentor.uninstrument()


def spans_of(work: Callable[[], None]) -> list[ReadableSpan]:
    """Return the spans of ours that `work` makes, innermost first."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=512))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument(
        "benchmark",
        search_apis=[_SEARCH],
        tracer_provider=provider,
        meter_provider=NoOpMeterProvider(),
    )
    work()
    flush()
    uninstrument()
    return [
        span
        for span in memory.get_finished_spans()
        if span.instrumentation_scope is not None
        and span.instrumentation_scope.name == "seekwatch.sdk"
    ]


def like(spans: Sequence[ReadableSpan], provider: TracerProvider) -> Callable[[], None]:
    """Return what makes bare spans with the same names, attributes and nesting."""
    tracer = provider.get_tracer("bare")
    told = [(span.name, dict(span.attributes or {})) for span in reversed(spans)]

    def make(index: int = 0) -> None:
        if index == len(told):
            return
        name, attributes = told[index]
        with tracer.start_as_current_span(name) as span:
            make(index + 1)
            span.set_attributes(attributes)

    return make


@tool
def _tool(url: str, limit: int) -> dict[str, object]:
    return {"title": "A page", "words": 120, "url": url, "limit": limit}


def _run() -> None:
    with agent_run("Did it snow in the valley this winter?") as run:
        run.answer(_ANSWER, _CITATIONS)


def _call_tool() -> None:
    _tool("https://site.example/article", 3)


def measure(rounds: int, count: int) -> list[Row]:
    """Measure everything and return the rows."""
    client = answering_client()
    works: dict[str, tuple[Callable[[], None], bool]] = {
        "agent run": (_run, False),
        "tool": (_call_tool, False),
        "page fetch": (lambda: void(client.get("http://page.example/")), True),
        "search": (
            lambda: void(client.post("http://search.example/search", json={"query": "snow"})),
            True,
        ),
        "model call": (
            lambda: void(
                client.post(
                    "http://model.example/chat/completions",
                    json={"model": "m", "messages": [{"role": "user", "content": "snow?"}]},
                )
            ),
            True,
        ),
    }
    rows: list[Row] = []
    for name, (work, is_request) in works.items():
        rows += _compare(name, work, is_request=is_request, rounds=rounds, count=count)
    return rows + _unseen(client, rounds, count)


def encoding_exporters(endpoint: str | None) -> list[SpanExporter]:
    """Stand in for the SDK's choice of exporters."""
    return [Encoding()]


def void(_: object) -> None:
    """Drop a result."""


def _compare(
    name: str, work: Callable[[], None], *, is_request: bool, rounds: int, count: int
) -> list[Row]:
    spans = spans_of(work)
    costs: dict[str, list[Cost]] = {"ours": [], "bare": [], "stock": []}

    def of_ours() -> float:
        with ours():
            costs["ours"].append(timed(work, flush, count))
        return 0.0

    def of_bare() -> float:
        with bare() as provider:
            costs["bare"].append(timed(like(spans, provider), provider.force_flush, count))
        return 0.0

    def of_stock() -> float:
        with stock() as provider:
            costs["stock"].append(timed(work, provider.force_flush, count))
        return 0.0

    subjects = {"ours": of_ours, "bare": of_bare}
    if is_request:
        subjects["stock"] = of_stock
    interleaved(subjects, rounds=rounds)
    kept = {key: values[1:] for key, values in costs.items()}
    rows: list[Row] = []
    for side in ("caller", "process"):
        cost = {key: [getattr(each, side) for each in values] for key, values in kept.items()}
        added = cost["ours"]
        if is_request:
            added = [a - b for a, b in zip(cost["ours"], cost["stock"], strict=True)]
            rows.append(
                _ratio(f"{name}: whole request / stock, {side}", cost["ours"], cost["stock"])
            )
        rows.append(_ratio(f"{name}: {len(spans)} span(s) / bare, {side}", added, cost["bare"]))
    return rows


def _unseen(client: httpx.Client, rounds: int, count: int) -> list[Row]:
    """Compare a request to a path that is nobody's page: it goes through our patch unseen."""
    costs: dict[str, list[Cost]] = {"ours": [], "stock": []}

    def work() -> None:
        client.post("http://model.example/v1/embeddings", content=b"{}")

    def of_ours() -> float:
        with ours():
            costs["ours"].append(timed(work, flush, count))
        return 0.0

    def of_stock() -> float:
        with stock() as provider:
            costs["stock"].append(timed(work, provider.force_flush, count))
        return 0.0

    interleaved({"ours": of_ours, "stock": of_stock}, rounds=rounds)
    return [
        _ratio(
            f"request without a span of ours / stock, {side}",
            [getattr(each, side) for each in costs["ours"][1:]],
            [getattr(each, side) for each in costs["stock"][1:]],
        )
        for side in ("caller", "process")
    ]


def _ratio(name: str, above: Sequence[float], below: Sequence[float]) -> Row:
    return median_row(name, ratios(above, below), unit="ratio", better="lower")


def main() -> int:
    """Measure and report."""
    parser = argument_parser("CPU cost of the SDK beside bare OpenTelemetry")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each (default 15)")
    parser.add_argument("--count", type=int, default=300, help="calls in a sample (default 300)")
    arguments = parser.parse_args()
    exporters.span_exporters = encoding_exporters
    return report(measure(arguments.rounds, arguments.count), arguments)


if __name__ == "__main__":
    sys.exit(main())
