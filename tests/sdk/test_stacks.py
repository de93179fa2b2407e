"""The same spans from every HTTP library, by the same tests; httpx's are the reference.

What a library cannot know is listed in `UNKNOWN`, and nowhere else.
"""

import base64
import hashlib
import json
import threading
import zlib
from typing import Any

import brotli
import httpx
import pytest

from seekwatch.sdk import agent_run, flush, instrument
from tests.services.http_stacks import STACKS, Got, HttpxStack, Stack
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import PAGE, Answer, LocalWeb

STOCK_SCOPE = "opentelemetry.instrumentation.httpx"
TIMES = ("http.client.request.duration", "seekwatch.fetch.retrieved_at")
HEADERS = ("http.response.header.date",)
UNKNOWN: dict[tuple[str, str], set[str]] = {
    # aiohttp decodes before anyone sees the bytes: of a compressed body the wire size is not known.
    **{
        ("aiohttp", name): {"http.response.body.size"}
        for name in ("gzip", "deflate", "brotli", "chunked-gzip", "/gzip", "/chunked-gzip")
    },
    # aiohttp always streams, and of a long stream no more than 2 MiB are held.
    ("aiohttp", "big"): {"seekwatch.content.hash"},
}
KINDS = ("RETRIEVER", "TOOL", "LLM")


class InRuns:
    """A stack each of whose calls is in a run of its own, so that none is a second attempt."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.name = stack.name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.stack, name)
        if isinstance(found, type):
            return found

        def call(*args: Any, **options: Any) -> Any:
            with agent_run("q"):
                return found(*args, **options)

        return call


REFERENCE: Any = InRuns(HttpxStack(httpx))


@pytest.fixture(params=STACKS, ids=lambda stack: stack.name)
def stack(request: pytest.FixtureRequest) -> Any:
    found: Any = InRuns(request.param)
    return found


@pytest.fixture(autouse=True)
def instrumented(sink: HttpSink) -> None:
    instrument("fetcher", endpoint=sink.url)


def told(sink: HttpSink) -> list[SunkSpan]:
    """Our own spans so far, outermost first; they are taken out of the sink."""
    assert flush()
    spans = [each for each in sink.spans if each.attributes.get("openinference.span.kind") in KINDS]
    sink.spans.clear()
    return sorted(spans, key=lambda span: KINDS.index(str(span.openinference_kind)))


def plain(span: SunkSpan, unknown: set[str] | None = None) -> dict[str, Any]:
    """What a span says, without what differs from call to call."""
    left_out = {*TIMES, *HEADERS, *(unknown or ())}
    said = {key: value for key, value in span.attributes.items() if key not in left_out}
    return {"name": span.name, "status": span.status, "attributes": said}


def body_of(span: SunkSpan) -> str:
    packed = base64.b64decode(span.attributes["seekwatch.content.body"])
    return zlib.decompress(packed).decode()


def same(sink: HttpSink, ours: list[SunkSpan], unknown: set[str] | None, **call: Any) -> Got:
    """Make the reference's call; its spans have to be the same, one by one."""
    got: Got = REFERENCE.fetch(**call)
    wanted = told(sink)
    assert [plain(each, unknown) for each in ours] == [plain(each, unknown) for each in wanted]
    sent = [each for each in ours if each.openinference_kind != "RETRIEVER"]
    assert all("http.client.request.duration" in each.attributes for each in sent)
    return got


CALLS: dict[str, dict[str, Any]] = {
    "page": {"url": "/page"},
    "query": {"url": "/page?q=a%20b&lang=de", "params": None},
    "params": {"url": "/page", "params": {"q": "snow in the valley"}},
    "validators": {"url": "/validated", "headers": {"If-None-Match": '"v1"'}},
    "redirect": {"url": "/redirect"},
    "redirect-unfollowed": {"url": "/redirect", "follow": False},
    "head": {"url": "/page", "method": "HEAD"},
    "post": {"url": "/page", "method": "POST", "json": {"a": 1}},
    "put": {"url": "/page", "method": "PUT", "json": {"a": 1}},
    "delete": {"url": "/page", "method": "DELETE"},
    "missing": {"url": "/nowhere"},
    "gone": {"url": "/gone"},
    "later": {"url": "/later"},
    "empty": {"url": "/empty"},
    "image": {"url": "/image"},
    "latin": {"url": "/latin"},
    "big": {"url": "/big"},
    "gzip": {"url": "/gzip"},
    "deflate": {"url": "/deflate"},
    "brotli": {"url": "/brotli"},
    "chunked": {"url": "/chunked"},
    "chunked-gzip": {"url": "/chunked-gzip"},
    "secret": {"url": "/page?api_key=sk-abcdefghijklmnop1234567890abcdef"},
}


@pytest.fixture
def more_web(web: LocalWeb) -> LocalWeb:
    web.pages["/brotli"] = lambda _: Answer(
        200, brotli.compress(PAGE.encode()), headers={"Content-Encoding": "br"}
    )
    web.pages["/later"] = lambda _: Answer(503, b"<p>Later.</p>", headers={"Retry-After": "1"})
    return web


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_span_that_httpx_gives(
    more_web: LocalWeb, sink: HttpSink, stack: Any, name: str
) -> None:
    call = {**CALLS[name], "url": more_web.url + CALLS[name]["url"]}
    got = stack.fetch(**call)
    ours = told(sink)
    assert len(ours) == 1
    assert got == same(sink, ours, UNKNOWN.get((stack.name, name)), **call)
    assert "sk-abcdef" not in str(ours[0].attributes)


def test_a_page_is_carried_with_its_hash(web: LocalWeb, sink: HttpSink, stack: Any) -> None:
    stack.fetch(web.url + "/page")
    (span,) = told(sink)
    assert body_of(span) == PAGE
    assert span.attributes["http.response.body.size"] == len(PAGE)
    assert span.attributes["seekwatch.content.hash"].endswith(
        hashlib.sha256(PAGE.encode()).hexdigest()
    )


def test_hops_are_listed_once(web: LocalWeb, sink: HttpSink, stack: Any) -> None:
    stack.fetch(web.url + "/redirect")
    (span,) = told(sink)
    assert json.loads(span.attributes["seekwatch.fetch.hops"]) == [
        {"url": f"{web.url}/redirect", "status": 302, "location": "/hop"},
        {"url": f"{web.url}/hop", "status": 301, "location": "/page"},
    ]
    assert span.attributes["seekwatch.fetch.final_url"] == f"{web.url}/page"


SEARCHES: dict[str, dict[str, Any]] = {
    "get": {"url": "/brave/res/v1/web/search", "params": {"q": "snow 2026", "count": "5"}},
    "json": {
        "url": "/tavily/search",
        "method": "POST",
        "json": {"query": "snow 2026", "max_results": 5},
    },
    "form": {"url": "/searxng/search", "method": "POST", "form": {"q": "snow", "format": "json"}},
    "failing": {"url": "/search/failing", "params": {"q": "snow"}},
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_gives_the_two_spans_that_httpx_gives(
    web: LocalWeb, sink: HttpSink, stack: Any, name: str
) -> None:
    from seekwatch.sdk import SearchApi, uninstrument

    uninstrument()
    host = web.url.removeprefix("http://")
    entries = {
        "get": ("/brave/res/v1/web/search", ("GET",), "param:q", ("web", "results")),
        "json": ("/tavily/search", ("POST",), "json:query", ("results",)),
        "form": ("/searxng/search", ("POST",), "form:q", ("results",)),
        "failing": ("/search/failing", ("GET",), "param:q", ("results",)),
    }
    path, methods, query, results = entries[name]
    api = SearchApi(
        name=f"engine-{name}",
        hosts=(host,),
        paths=(path,),
        methods=methods,
        query=(query,),
        results=(".".join(results),),
    )
    instrument("fetcher", endpoint=sink.url, search_apis=[api])
    call = {**SEARCHES[name], "url": web.url + SEARCHES[name]["url"]}
    got = stack.fetch(**call)
    ours = told(sink)
    assert [each.attributes["openinference.span.kind"] for each in ours] == ["RETRIEVER", "TOOL"]
    assert ours[1].parent_id == ours[0].span_id
    assert ours[0].attributes["input.value"].startswith("snow")
    assert got == same(sink, ours, None, **call)


def test_a_model_call_gives_the_span_that_httpx_gives(
    web: LocalWeb, sink: HttpSink, stack: Any
) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Did it snow?"}]}
    call = {"url": web.url + "/v1/chat/completions", "method": "POST", "json": asked}
    got = stack.fetch(**call)
    ours = told(sink)
    assert [each.attributes["openinference.span.kind"] for each in ours] == ["LLM"]
    assert ours[0].attributes["gen_ai.usage.input_tokens"] == 21
    assert got == same(sink, ours, None, **call)


@pytest.mark.parametrize(
    "path", ["/stream", "/page", "/gzip", "/empty", "/chunked", "/chunked-gzip"]
)
def test_a_stream_that_is_read_gives_the_span_that_httpx_gives(
    web: LocalWeb, sink: HttpSink, stack: Any, path: str
) -> None:
    read = stack.stream(web.url + path)
    ours = told(sink)
    assert read == REFERENCE.stream(web.url + path)
    unknown = UNKNOWN.get((stack.name, path))
    assert [plain(each, unknown) for each in ours] == [plain(each, unknown) for each in told(sink)]


@pytest.mark.parametrize("path", ["/stream", "/chunked"])
def test_a_stream_closed_early_keeps_what_was_read(
    web: LocalWeb, sink: HttpSink, stack: Any, path: str
) -> None:
    first = stack.peek(web.url + path)
    (span,) = told(sink)
    assert span.attributes["seekwatch.content.truncated"] is True
    assert body_of(span).startswith(first.decode())
    assert "seekwatch.content.hash" not in span.attributes
    assert len(body_of(span)) < len(PAGE) * 100
    assert "error.type" not in span.attributes


def test_a_stream_closed_unread_has_no_body(web: LocalWeb, sink: HttpSink, stack: Any) -> None:
    assert stack.ignore(web.url + "/stream") == 200
    (span,) = told(sink)
    assert span.attributes["seekwatch.content.omitted_reason"] == "closed-early"
    assert span.status == 0


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_response_that_is_dropped_still_ends_its_span(
    web: LocalWeb, sink: HttpSink, stack: Any
) -> None:
    stack.drop(web.url + "/stream")
    (span,) = told(sink)
    assert span.attributes["http.response.status_code"] == 200


def test_a_dead_server_is_an_error_that_reaches_the_caller_unchanged(
    sink: HttpSink, stack: Any
) -> None:
    with pytest.raises(stack.refused) as raised:
        stack.fetch("http://127.0.0.1:9/")
    (span,) = told(sink)
    assert span.attributes["error.type"] == type(raised.value).__qualname__
    assert "http.response.status_code" not in span.attributes
    assert "http.client.request.duration" in span.attributes
    assert span.status == 2


def test_a_timeout_is_an_error_by_its_name(web: LocalWeb, sink: HttpSink, stack: Any) -> None:
    with pytest.raises(stack.timed_out) as raised:
        stack.fetch(web.url + "/stuck", timeout=0.05)
    (span,) = told(sink)
    assert span.attributes["error.type"] == type(raised.value).__qualname__


def test_a_body_that_breaks_off_is_an_error_and_has_no_hash(
    web: LocalWeb, sink: HttpSink, stack: Any
) -> None:
    with pytest.raises(stack.broken):
        stack.fetch(web.url + "/broken")
    (span,) = told(sink)
    assert span.status == 2
    assert "seekwatch.content.hash" not in span.attributes


@pytest.mark.parametrize("path", ["/broken", "/chunked-broken"])
def test_a_stream_that_breaks_off_is_an_error_and_keeps_what_came(
    web: LocalWeb, sink: HttpSink, stack: Any, path: str
) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the library raises of a stream
        stack.stream(web.url + path)
    (span,) = told(sink)
    assert span.status == 2
    assert "error.type" in span.attributes
    assert "seekwatch.content.hash" not in span.attributes


def test_a_redirect_loop_is_an_error_with_its_hops(
    web: LocalWeb, sink: HttpSink, stack: Any
) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - each has a name of its own for it
        stack.fetch(web.url + "/loop")
    (span,) = told(sink)
    assert span.status == 2
    assert len(json.loads(span.attributes["seekwatch.fetch.hops"])) >= 19


def test_calls_of_threads_do_not_mix(web: LocalWeb, sink: HttpSink, stack: Any) -> None:
    def work(number: int) -> None:
        with agent_run(f"question {number}"):
            stack.stack.fetch(f"{web.url}/redirect?n={number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flush()
    agents = {span.span_id: span for span in sink.of_kind("AGENT")}
    fetches = sink.of_kind("TOOL")
    assert len(fetches) == len(agents) == 10
    for span in fetches:
        number = agents[span.parent_id].attributes["input.value"].removeprefix("question ")
        assert span.attributes["url.full"].endswith(f"/redirect?n={number}")
        assert len(json.loads(span.attributes["seekwatch.fetch.hops"])) == 2
