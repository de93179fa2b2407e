"""Instrumentors of HTTP libraries beside ours, in either order: a context's calls are one run."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import aiohttp
import httpx
import pytest
import requests
import urllib3
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind, Tracer
from opentelemetry.trace import TracerProvider as AnyTracerProvider

from seekwatch.core.model import Episode
from seekwatch.processors.testing import episode_of
from seekwatch.sdk import SearchApi, flush, instrument, uninstrument
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.stock_http import STOCK
from tests.services.web import LocalWeb

Asked = tuple[str, Any]
"""A path, and the JSON that is sent to it; None where a page is got."""

WORK: Final[tuple[Asked, ...]] = (
    ("/tavily/search", {"query": "snow in Tampere"}),
    ("/page", None),
    (
        "/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": "Did it snow?"}]},
    ),
)
ORDERS: Final = {
    "as it comes": WORK,
    "a model first": (WORK[2], *WORK),
    "a page first": (WORK[1], *WORK),
    "a search by GET": (("/searxng/search?q=snow+in+Tampere", None), *WORK[1:]),
}
_JSON: Final = {"content-type": "application/json"}


def by_requests(base: str, work: tuple[Asked, ...]) -> None:
    with requests.Session() as session:
        for path, body in work:
            session.request("GET" if body is None else "POST", base + path, json=body, timeout=5)


def by_managers(base: str, work: tuple[Asked, ...]) -> None:
    with urllib3.PoolManager() as pools:
        _by_pools(pools, base, work)


def by_pools(base: str, work: tuple[Asked, ...]) -> None:
    with urllib3.connection_from_url(base) as pool:
        _by_pools(pool, "", work)


def _by_pools(pools: Any, base: str, work: tuple[Asked, ...]) -> None:
    for path, body in work:
        if body is None:
            pools.request("GET", base + path)
        else:
            pools.request("POST", base + path, body=json.dumps(body).encode(), headers=_JSON)


def by_httpx(base: str, work: tuple[Asked, ...]) -> None:
    with httpx.Client() as client:
        for path, body in work:
            client.request("GET" if body is None else "POST", base + path, json=body)


def by_async_httpx(base: str, work: tuple[Asked, ...]) -> None:
    async def all_of_it() -> None:
        async with httpx.AsyncClient() as client:
            for path, body in work:
                await client.request("GET" if body is None else "POST", base + path, json=body)

    asyncio.run(all_of_it())


def by_aiohttp(base: str, work: tuple[Asked, ...]) -> None:
    async def all_of_it() -> None:
        async with aiohttp.ClientSession() as session:
            for path, body in work:
                method = "GET" if body is None else "POST"
                async with session.request(method, base + path, json=body) as answer:
                    await answer.read()

    asyncio.run(all_of_it())


AGENTS: Final[dict[str, tuple[str, Callable[[str, tuple[Asked, ...]], None]]]] = {
    "requests": ("requests", by_requests),
    "urllib3's managers": ("urllib3", by_managers),
    "urllib3's pools": ("urllib3", by_pools),
    "httpx": ("httpx", by_httpx),
    "httpx-async": ("httpx", by_async_httpx),
    "aiohttp": ("aiohttp", by_aiohttp),
}


@pytest.fixture
def switched() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(sink: HttpSink, web: LocalWeb, provider: AnyTracerProvider | None = None) -> None:
    api = SearchApi(
        name="local",
        hosts=(web.authority,),
        paths=("/tavily/search", "/searxng/search"),
        query=("json:query", "param:q"),
        results=("results",),
        url=("url",),
    )
    instrument("searcher", endpoint=sink.url, search_apis=[api], tracer_provider=provider)


def told(sink: HttpSink) -> list[SunkSpan]:
    assert flush()
    return sink.spans


def scored(sink: HttpSink) -> Episode:
    """What the monitor makes of all that came."""
    request = ExportTraceServiceRequest()
    for body in sink.requests:
        request.MergeFromString(body)
    return episode_of(request.SerializeToString())


@pytest.mark.parametrize("work", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("order", ["before", "after", "both"])
@pytest.mark.parametrize(("library", "agent"), AGENTS.values(), ids=AGENTS)
def test_a_run_is_one_trace_whoever_came_first(
    web: LocalWeb,
    sink: HttpSink,
    switched: ExitStack,
    library: str,
    agent: Callable[[str, tuple[Asked, ...]], None],
    order: str,
    work: tuple[Asked, ...],
) -> None:
    if order == "before":
        switched.callback(STOCK[library]())
    start(sink, web)
    if order != "before":
        switched.callback(STOCK[library]())
    if order == "both" and library in ("requests", "urllib3"):
        # What is below requests too, as `opentelemetry-instrument` switches on whatever is there.
        switched.callback(STOCK["urllib3" if library == "requests" else "requests"]())
    agent(web.url, work)
    spans = told(sink)
    assert len({span.trace_id for span in spans}) == 1, [(s.name, s.trace_id) for s in spans]
    (root,) = [span for span in spans if not span.parent_id]
    assert root.attributes["seekwatch.run.root"] == "implicit"
    episode = scored(sink)
    assert len(episode.searches) == 1
    pages = [fetch for fetch in episode.fetches if fetch.url.endswith("/page")]
    assert len(pages) == sum(path == "/page" for path, _ in work)
    assert len(episode.fetches) == len(pages) + 1, [fetch.url for fetch in episode.fetches]
    assert len(episode.generations) == sum("chat" in path for path, _ in work)


@pytest.fixture
def around(sink: HttpSink, web: LocalWeb, switched: ExitStack) -> None:
    """Requests, with its instrumentor around ours."""
    start(sink, web)
    switched.callback(STOCK["requests"]())


@pytest.mark.usefixtures("around")
def test_a_request_that_we_do_not_tell_opens_no_run(web: LocalWeb, sink: HttpSink) -> None:
    requests.post(web.url + "/v1/embeddings", json={"input": "snow"}, timeout=5)
    (alone,) = told(sink)
    assert (alone.scope, alone.parent_id) == ("opentelemetry.instrumentation.requests", "")


@pytest.mark.usefixtures("around")
def test_a_request_below_a_span_of_the_application_stays_there(
    web: LocalWeb, sink: HttpSink
) -> None:
    with trace.get_tracer("shop").start_as_current_span("GET /question", kind=SpanKind.SERVER):
        by_requests(web.url, WORK)
    spans = told(sink)
    assert len({span.trace_id for span in spans}) == 1
    assert not [span for span in spans if span.attributes.get("seekwatch.run.root")]


@pytest.mark.usefixtures("around")
def test_fetches_alone_are_no_run_of_the_agent(web: LocalWeb, sink: HttpSink) -> None:
    requests.get(web.url + "/page", timeout=5)
    uninstrument()
    (root,) = [span for span in sink.spans if not span.parent_id]
    assert (root.name, root.openinference_kind) == ("fetches", "CHAIN")
    assert len({span.trace_id for span in sink.spans}) == 1


class Proxy(AnyTracerProvider):
    """A provider before another, as Logfire's is."""

    def __init__(self) -> None:
        self.provider = TracerProvider()

    def get_tracer(self, *args: Any, **options: Any) -> Tracer:
        return self.provider.get_tracer(*args, **options)

    def add_span_processor(self, processor: SpanProcessor) -> None:
        self.provider.add_span_processor(processor)


def test_a_provider_that_stands_before_another_is_joined_whole_and_left_whole(
    web: LocalWeb, sink: HttpSink
) -> None:
    proxy = Proxy()
    start(sink, web, proxy)
    tracer = proxy.get_tracer("opentelemetry.instrumentation.requests")
    described = {"http.method": "GET", "http.url": web.url + "/page"}
    for _ in range(2):
        tracer.start_span("GET", kind=SpanKind.CLIENT, attributes=described).end()
    uninstrument()
    assert sorted(span.name for span in sink.spans) == ["GET", "GET", "fetches"]
    assert len({span.trace_id for span in sink.spans}) == 1
    assert proxy.provider._active_span_processor._span_processors == ()  # pyright: ignore[reportPrivateUsage]


def test_a_tracer_of_another_provider_is_left_alone(web: LocalWeb, sink: HttpSink) -> None:
    start(sink, web, TracerProvider())
    tracer = TracerProvider().get_tracer("opentelemetry.instrumentation.requests")
    described = {"http.method": "GET", "http.url": web.url + "/page"}
    span: Any = tracer.start_span("GET", kind=SpanKind.CLIENT, attributes=described)
    assert span.parent is None


@pytest.mark.parametrize("scope", ["opentelemetry.instrumentation.urllib", "theirs"])
@pytest.mark.parametrize("described", [{"http.method": "GET", "http.url": "https://a.example/"}])
def test_a_request_of_a_library_that_is_not_watched_opens_no_run(
    web: LocalWeb, sink: HttpSink, scope: str, described: dict[str, str]
) -> None:
    start(sink, web)
    tracer = trace.get_tracer(scope)
    span: Any = tracer.start_span("GET", kind=SpanKind.CLIENT, attributes=described)
    assert span.parent is None


@pytest.mark.parametrize(
    "described",
    [
        {},
        {"http.method": "GET"},
        {"http.method": "GET", "http.url": 7},
        {"http.method": "GET", "http.url": "http://[broken"},
        {"http.method": "GET", "url.full": "http://a.example:99999/"},
    ],
)
def test_whatever_such_a_span_says_it_begins(
    web: LocalWeb, sink: HttpSink, described: dict[str, Any]
) -> None:
    start(sink, web)
    tracer = trace.get_tracer("opentelemetry.instrumentation.requests")
    tracer.start_span("GET", kind=SpanKind.CLIENT, attributes=described).end()
    assert len(told(sink)) == 1
