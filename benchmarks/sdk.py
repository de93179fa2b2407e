"""What the SDK costs an agent, as ratios to bare OpenTelemetry in the same run.

`python -m benchmarks.sdk` measures in one process, in turns and in pairs:

* each span of ours against a bare OpenTelemetry span with the same attributes and bytes;
* an httpx request that we capture, beyond the stock httpx instrumentation, against the bare spans
  that it adds, made around the same stock request, and as a whole against the stock one;
* a request that adds no span of ours against the stock one;
* the same where we join a provider that the agent has made: its other processors get the stock
  spans as we leave them, so their URLs are cleaned at once.

Each twice: CPU time of the agent's own thread, which has the goals, and of the whole process with
the background threads, which read, mask, hash and compress. Every side exports through a batch
processor to an exporter that encodes and throws away, works beneath a span of its own kind, and
the stock instrumentation follows the convention that ours turns on. A request is answered below
httpx's own transport, without a network, so that its cost is steady and small: against a real
request every ratio is better.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
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

from benchmarks.bare_spans import Pieces, around, like
from benchmarks.rows import Row, argument_parser, interleaved, median_row, ratios, report
from seekwatch.core import attributes
from seekwatch.sdk import SearchApi, agent_run, flush, instrument, tool, uninstrument
from seekwatch.sdk._export import exporters

SPAN_GOAL: Final = 1.3
"""For every span of ours, in bare ones with the same attributes."""
UNSEEN_GOAL: Final = 1.1
"""For a request without a span of ours, in requests with the stock instrumentation."""

WARM_UP: Final = 10

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

_AROUND: Final = "What is measured here?"

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
    for _ in range(WARM_UP):
        # Threads are started by what comes first.
        work()
    process, caller = time.process_time(), time.thread_time()
    for _ in range(count):
        work()
    caller = time.thread_time() - caller
    settle()
    return Cost(caller, time.process_time() - process)


@contextmanager
def ours(*, joined: bool = False) -> Generator[None]:
    """Instrument as an agent does; metrics are the same on both sides and left out.

    Args:
        joined: the agent has made the provider.
    """
    limits = SpanLimits(max_span_attributes=512)
    instrument(
        "benchmark",
        search_apis=[_SEARCH],
        tracer_provider=TracerProvider(span_limits=limits) if joined else None,
        meter_provider=NoOpMeterProvider(),
    )
    try:
        yield
    finally:
        uninstrument()


@contextmanager
def bare() -> Generator[TracerProvider]:
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
def stock() -> Generator[TracerProvider]:
    """The stock httpx instrumentation on bare OpenTelemetry."""
    with bare() as provider:
        instrumentor = HTTPXClientInstrumentor()
        instrumentor.instrument(tracer_provider=provider, meter_provider=NoOpMeterProvider())
        try:
            yield provider
        finally:
            instrumentor.uninstrument()


def spans_of(work: Callable[[], None]) -> list[ReadableSpan]:
    """Return the spans of ours that `work` makes, innermost first, without the run around it."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=512))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument(
        "benchmark",
        search_apis=[_SEARCH],
        tracer_provider=provider,
        meter_provider=NoOpMeterProvider(),
    )
    with agent_run(_AROUND):
        work()
    flush()
    uninstrument()
    return [
        span
        for span in memory.get_finished_spans()
        if span.instrumentation_scope is not None
        and span.instrumentation_scope.name == "seekwatch.sdk"
        and (span.attributes or {}).get(attributes.QUESTION) != _AROUND
    ]


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
    spans: dict[str, Callable[[], None]] = {"agent run": _run, "tool": _call_tool}
    requests: dict[str, Callable[[], None]] = {
        "page fetch": lambda: void(client.get("http://page.example/")),
        "search": lambda: void(client.post("http://search.example/search", json={"query": "snow"})),
        "model call": lambda: void(
            client.post(
                "http://model.example/chat/completions",
                json={"model": "m", "messages": [{"role": "user", "content": "snow?"}]},
            )
        ),
        # The path of a model API that is no generation, so nobody's page: unseen by us.
        "unseen": lambda: void(client.post("http://model.example/v1/embeddings", content=b"{}")),
    }
    rows: list[Row] = []
    for name, work in spans.items():
        rows += _span_rows(name, work, rounds, count)
    for name, work in requests.items():
        rows += _request_rows(name, work, rounds, count)
    return rows


def encoding_exporters(endpoint: str | None) -> list[SpanExporter]:
    """Stand in for the SDK's choice of exporters."""
    return [Encoding()]


def void(_: object) -> None:
    """Drop a result."""


class Sides:
    """The same work on each side, and what it has cost there."""

    def __init__(self, work: Callable[[], None], count: int) -> None:
        self._work = work
        self._count = count
        self._spans = spans_of(work)
        self.span_count = len(self._spans)
        self._costs: dict[str, list[Cost]] = {}

    def measure(self, rounds: int, sides: Sequence[str]) -> None:
        """Measure the named sides in turns."""
        subjects: dict[str, Callable[[], Cost]] = {
            "ours": self._ours,
            "joined": lambda: self._ours(joined=True),
            "bare": self._bare,
            "stock": self._stock,
            "around": self._around,
        }

        def subject(name: str) -> Callable[[], float]:
            def once() -> float:
                self._costs.setdefault(name, []).append(subjects[name]())
                return 0.0

            return once

        interleaved({name: subject(name) for name in sides}, rounds=rounds)

    def costs(self, side: str, of: str) -> list[float]:
        """Return what each kept round has cost; the first round warmed up."""
        return [getattr(cost, of) for cost in self._costs[side][1:]]

    def _ours(self, *, joined: bool = False) -> Cost:
        # What opens a run of its own has none around it: neither side would start a root then.
        around = nullcontext() if self._work is _run else agent_run(_AROUND)
        with ours(joined=joined), around:
            return timed(self._work, flush, self._count)

    def _bare(self) -> Cost:
        with bare() as provider:
            make = like(self._spans, provider)
            around = provider.get_tracer("bare").start_as_current_span("around")
            with nullcontext() if self._work is _run else around:
                return timed(make, provider.force_flush, self._count)

    def _stock(self) -> Cost:
        with stock() as provider, provider.get_tracer("bare").start_as_current_span("around"):
            return timed(self._work, provider.force_flush, self._count)

    def _around(self) -> Cost:
        with stock() as provider, provider.get_tracer("bare").start_as_current_span("around"):
            pieces = Pieces()
            make = around(self._spans, provider, self._work, pieces)
            whole = timed(make, provider.force_flush, self._count)
            return Cost(pieces.seconds(self._count), whole.process)


def _span_rows(name: str, work: Callable[[], None], rounds: int, count: int) -> list[Row]:
    sides = Sides(work, count)
    sides.measure(rounds, ("ours", "bare"))
    return [
        _ratio(
            f"{name}: {sides.span_count} span(s) / bare, {of}",
            sides.costs("ours", of),
            sides.costs("bare", of),
            SPAN_GOAL if of == "caller" else None,
        )
        for of in ("caller", "process")
    ]


def _request_rows(name: str, work: Callable[[], None], rounds: int, count: int) -> list[Row]:
    sides = Sides(work, count)
    count_ours = sides.span_count
    sides.measure(rounds, ("ours", "joined", "stock", *(("bare", "around") if count_ours else ())))
    rows: list[Row] = []
    for side, label in (("ours", name), ("joined", f"{name} (joined provider)")):
        for of in ("caller", "process"):
            whole, below = sides.costs(side, of), sides.costs("stock", of)
            # The goals are those of the one call; joining costs more on purpose.
            has_goal = of == "caller" and side == "ours"
            goal = UNSEEN_GOAL if has_goal and not count_ours else None
            rows.append(_ratio(f"{label}: whole request / stock, {of}", whole, below, goal))
            if count_ours:
                added = [a - b for a, b in zip(whole, below, strict=True)]
                what = f"{label}: beyond stock / {count_ours} bare span(s), {of}"
                goal = SPAN_GOAL if has_goal else None
                bare_spans = sides.costs("around" if of == "caller" else "bare", of)
                rows.append(_ratio(what, added, bare_spans, goal))
    return rows


def _ratio(
    name: str, above: Sequence[float], below: Sequence[float], goal: float | None = None
) -> Row:
    return median_row(name, ratios(above, below), unit="ratio", better="lower", goal=goal)


def main() -> int:
    """Measure and report."""
    parser = argument_parser("CPU cost of the SDK beside bare OpenTelemetry")
    parser.add_argument("--rounds", type=int, default=60, help="samples of each (default 60)")
    parser.add_argument("--count", type=int, default=100, help="calls in a sample (default 100)")
    arguments = parser.parse_args()
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "http"
    exporters.span_exporters = encoding_exporters
    return report(measure(arguments.rounds, arguments.count), arguments)


if __name__ == "__main__":
    sys.exit(main())
