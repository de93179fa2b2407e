"""Libraries that send through each other: one span a call, whatever is below it."""

import asyncio
import contextvars
import io
import json
import pickle
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3
import wrapt
from opentelemetry.instrumentation import httpx as stock
from opentelemetry.instrumentation.utils import suppress_http_instrumentation
from opentelemetry.sdk.trace import TracerProvider
from requests.adapters import HTTPAdapter
from requests.auth import HTTPDigestAuth

from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import PAGE, Answer, LocalWeb, Received


@pytest.fixture(autouse=True)
def instrumented(sink: HttpSink) -> None:
    instrument("stacker", endpoint=sink.url)


def fetches(sink: HttpSink) -> list[SunkSpan]:
    assert flush()
    return sorted(sink.of_kind("TOOL"), key=lambda span: span.start_ns)


def paths(spans: list[SunkSpan]) -> list[str]:
    return [span.attributes["url.full"].partition("//")[2].partition("/")[2] for span in spans]


class OverRequests(httpx.BaseTransport):
    """A transport of the user's own that sends through requests."""

    def __init__(self) -> None:
        self._session = requests.Session()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._session.request(
            request.method, str(request.url), data=request.read(), allow_redirects=False
        )
        return httpx.Response(answer.status_code, content=answer.content)

    def close(self) -> None:
        self._session.close()


class OverAiohttp(httpx.AsyncBaseTransport):
    """A transport that sends through aiohttp, as OpenAI's client can."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        session = aiohttp.ClientSession()
        answer = await session.get(str(request.url), allow_redirects=False)

        class Stream(httpx.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                async for chunk in answer.content.iter_any():
                    yield chunk

            async def aclose(self) -> None:
                answer.close()
                await session.close()

        return httpx.Response(answer.status, headers=answer.headers, stream=Stream())


def test_requests_below_httpx_is_no_call_of_its_own(web: LocalWeb, sink: HttpSink) -> None:
    with httpx.Client(transport=OverRequests()) as client:
        assert client.get(web.url + "/page").text == PAGE
    (span,) = fetches(sink)
    assert span.attributes["http.response.body.size"] == len(PAGE)
    assert span.attributes["http.client.request.duration"] > 0


def test_aiohttp_below_httpx_is_no_call_of_its_own(web: LocalWeb, sink: HttpSink) -> None:
    async def work() -> None:
        async with httpx.AsyncClient(transport=OverAiohttp()) as client:
            assert (await client.get(web.url + "/page")).text == PAGE
            async with client.stream("GET", web.url + "/stream") as response:
                await response.aread()

    asyncio.run(work())
    spans = fetches(sink)
    assert paths(spans) == ["page", "stream"]
    assert all("seekwatch.content.hash" in span.attributes for span in spans)


@pytest.mark.parametrize("redirects", [True, False])
def test_a_retry_of_urllib3_below_requests_is_a_hidden_attempt(
    web: LocalWeb, sink: HttpSink, redirects: bool
) -> None:
    retry = urllib3.Retry(3, status_forcelist=[503], backoff_factor=0)
    retry.respect_retry_after_header = False
    with requests.Session() as session, agent_run("q"):
        session.mount("http://", HTTPAdapter(max_retries=retry))
        response = session.get(web.url + "/flaky?key=1", timeout=5, allow_redirects=redirects)
    assert response.status_code == 200
    hidden, seen = sorted(
        fetches(sink), key=lambda span: span.attributes["http.response.status_code"], reverse=True
    )
    assert hidden.attributes["http.response.status_code"] == 503
    assert hidden.attributes["error.type"] == "503"
    assert hidden.attributes["http.response.header.retry-after"] == ["1"]
    assert seen.parent_id == hidden.parent_id
    assert "seekwatch.fetch.hops" not in seen.attributes
    assert {each.attributes["seekwatch.fetch.attempt"] for each in (hidden, seen)} == {1, 2}


def test_a_retry_of_urllib3_alone_is_a_hidden_attempt(web: LocalWeb, sink: HttpSink) -> None:
    retry = urllib3.Retry(3, status_forcelist=[503])
    retry.respect_retry_after_header = False
    with urllib3.PoolManager(retries=retry) as pools:
        assert pools.request("GET", web.url + "/flaky?key=1").status == 200
    assert sorted(each.attributes["http.response.status_code"] for each in fetches(sink)) == [
        200,
        503,
    ]


def test_each_attempt_at_a_dead_server_is_told(sink: HttpSink) -> None:
    with urllib3.PoolManager(retries=2) as pools, pytest.raises(urllib3.exceptions.MaxRetryError):
        pools.request("GET", "http://127.0.0.1:9/")
    kinds = [each.attributes["error.type"] for each in fetches(sink)]
    assert sorted(kinds) == ["MaxRetryError", "NewConnectionError", "NewConnectionError"]


def test_a_pool_that_is_used_alone_is_seen(web: LocalWeb, sink: HttpSink) -> None:
    with urllib3.connectionpool.connection_from_url(web.url) as pool:
        assert pool.request("GET", "/redirect").data == PAGE.encode()
        assert pool.urlopen("POST", "/page", b"body", {"X": "y"}).status == 200
    first, second = fetches(sink)
    assert first.attributes["url.full"] == web.url + "/redirect"
    assert len(json.loads(first.attributes["seekwatch.fetch.hops"])) == 2
    assert first.attributes["seekwatch.fetch.final_url"] == web.url + "/page"
    assert second.attributes["seekwatch.fetch.action"] == "write"


def _digest(received: Received) -> Answer:
    if "authorization" in received.headers:
        return Answer(200, PAGE.encode())
    asked = 'Digest realm="r", nonce="n", qop="auth", algorithm="MD5"'
    return Answer(401, b"who?", headers={"WWW-Authenticate": asked})


def test_an_authentication_round_is_a_hop(web: LocalWeb, sink: HttpSink) -> None:
    web.pages["/digest"] = _digest
    httpx.get(web.url + "/digest", auth=httpx.DigestAuth("u", "p"))
    requests.get(web.url + "/digest", auth=HTTPDigestAuth("u", "p"), timeout=5)
    by_httpx, by_requests = fetches(sink)
    assert by_requests.attributes["http.response.status_code"] == 200
    assert json.loads(by_requests.attributes["seekwatch.fetch.hops"]) == [
        {"url": web.url + "/digest", "status": 401}
    ]
    hops = "seekwatch.fetch.hops"
    assert by_requests.attributes[hops] == by_httpx.attributes[hops]


def test_a_token_that_a_hook_fetches_is_a_call_of_its_own(web: LocalWeb, sink: HttpSink) -> None:
    def hook(response: requests.Response, *_: object, **__: object) -> None:
        if response.url.endswith("/page"):
            session.get(web.url + "/empty", timeout=5)

    with requests.Session() as session:
        session.hooks["response"] = [hook]
        session.get(web.url + "/redirect", timeout=5)
    outer, token = fetches(sink)
    assert paths([outer, token]) == ["redirect", "empty"]
    assert token.parent_id == outer.span_id
    assert len(json.loads(outer.attributes["seekwatch.fetch.hops"])) == 2


def test_a_token_that_an_authentication_flow_fetches_is_a_call_of_its_own(
    web: LocalWeb, sink: HttpSink
) -> None:
    class Token(httpx.Auth):
        def auth_flow(
            self, request: httpx.Request
        ) -> Generator[httpx.Request, httpx.Response, None]:
            requests.get(web.url + "/empty", timeout=5)
            yield request

    httpx.get(web.url + "/page", auth=Token())
    outer, token = fetches(sink)
    assert paths([outer, token]) == ["page", "empty"]
    assert token.parent_id == outer.span_id


def test_a_token_that_a_middleware_fetches_is_a_call_of_its_own(
    web: LocalWeb, sink: HttpSink
) -> None:
    async def work() -> None:
        async with aiohttp.ClientSession() as session:

            async def middleware(
                request: aiohttp.ClientRequest, handler: Callable[..., Any]
            ) -> aiohttp.ClientResponse:
                if request.url.path == "/page":
                    async with session.get(web.url + "/empty") as token:
                        await token.read()
                answer: aiohttp.ClientResponse = await handler(request)
                return answer

            async with session.get(web.url + "/page", middlewares=[middleware]) as response:
                await response.read()

    asyncio.run(work())
    outer, token = fetches(sink)
    assert paths([outer, token]) == ["page", "empty"]
    assert token.parent_id == outer.span_id
    assert "seekwatch.fetch.hops" not in outer.attributes


def test_a_task_that_outlives_its_call_has_calls_of_its_own(web: LocalWeb, sink: HttpSink) -> None:
    later: list[asyncio.Task[None]] = []

    async def refresh() -> None:
        await asyncio.sleep(0.05)
        async with aiohttp.ClientSession() as session, session.get(web.url + "/page") as response:
            await response.read()

    async def hook(_: httpx.Response) -> None:
        later.append(asyncio.create_task(refresh()))

    async def work() -> None:
        async with httpx.AsyncClient(event_hooks={"response": [hook]}) as client:
            await client.get(web.url + "/page")
        await later[0]

    asyncio.run(work())
    assert paths(fetches(sink)) == ["page", "page"]


@pytest.mark.parametrize("library", ["requests", "urllib3"])
def test_a_stock_instrumentation_around_ours_hides_nothing(
    web: LocalWeb, sink: HttpSink, library: str
) -> None:
    # As its `Session.send` and `urlopen` do where it is switched on after us.
    tracer = TracerProvider().get_tracer(f"opentelemetry.instrumentation.{library}")
    with tracer.start_as_current_span("GET"), suppress_http_instrumentation():
        requests.get(web.url + "/page", timeout=5)
    assert len(fetches(sink)) == 1
    with suppress_http_instrumentation():
        requests.get(web.url + "/page", timeout=5)
    assert len(fetches(sink)) == 1


def test_a_wrapper_that_was_there_first_still_knows_its_instance(
    web: LocalWeb, sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    uninstrument()
    instances: list[object] = []

    def theirs(wrapped: Any, instance: object, args: Any, options: Any) -> Any:
        instances.append(instance)
        return wrapped(*args, **options)

    original = vars(urllib3.HTTPConnectionPool)["urlopen"]
    monkeypatch.setattr(
        urllib3.HTTPConnectionPool, "urlopen", wrapt.FunctionWrapper(original, theirs)
    )
    instrument("second", endpoint=sink.url)
    assert urllib3.PoolManager().request("GET", web.url + "/page").status == 200
    assert [type(each) for each in instances] == [urllib3.HTTPConnectionPool]
    assert len(fetches(sink)) == 1
    uninstrument()


def test_exports_of_others_are_not_seen(web: LocalWeb, sink: HttpSink) -> None:
    requests.post(web.url + "/v1/traces", data=b"", timeout=5)
    urllib3.request("POST", web.url + "/v1/metrics", body=b"")
    requests.post(sink.url + "/v1/logs", data=b"", timeout=5)
    assert fetches(sink) == []


def test_the_answer_of_requests_is_what_it_was(web: LocalWeb, sink: HttpSink) -> None:
    with requests.get(web.url + "/gzip", stream=True, timeout=5) as response:
        assert type(response.raw) is urllib3.response.HTTPResponse
        assert response.raw.read(5, decode_content=False)[:2] == b"\x1f\x8b"
        assert response.raw.tell() == 5
    kept = pickle.loads(pickle.dumps(requests.get(web.url + "/page", timeout=5)))
    assert kept.text == PAGE
    streamed = requests.get(web.url + "/page", stream=True, timeout=5)
    assert pickle.loads(pickle.dumps(streamed)).text == PAGE
    early, *_ = fetches(sink)
    assert early.attributes["http.response.body.size"] == 5


def test_lines_of_a_stream_are_noted_as_they_are_read(web: LocalWeb, sink: HttpSink) -> None:
    events = [b"data: 1", b"", b"data: 2", b""]
    web.pages["/events"] = lambda _: Answer(
        200, b"\n".join(events), "text/event-stream", chunks=4, chunked=True
    )
    with requests.get(web.url + "/events", stream=True, timeout=5) as response:
        assert [line for line in response.iter_lines() if line] == [b"data: 1", b"data: 2"]
    (span,) = fetches(sink)
    assert span.attributes["http.response.body.size"] == len(b"\n".join(events))
    assert "seekwatch.content.hash" in span.attributes


class FromFile(requests.adapters.BaseAdapter):
    """An adapter that answers from something that is no response of urllib3."""

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        response = requests.Response()
        response.status_code, response.url = 200, str(request.url)
        response.request, response.raw = request, io.BytesIO(PAGE.encode())
        return response

    def close(self) -> None:
        """Nothing is open."""


def test_an_adapter_of_the_users_own_is_seen(sink: HttpSink) -> None:
    with requests.Session() as session:
        session.mount("mock://", FromFile())
        assert session.get("mock://page.example/").text == PAGE
        with session.get("mock://page.example/", stream=True) as response:
            assert b"".join(response.iter_content(7)).decode() == PAGE
    read, streamed = fetches(sink)
    assert "seekwatch.content.hash" in read.attributes
    assert streamed.attributes["http.response.status_code"] == 200


class Remembering(requests.Session):
    """A session that answers by itself, as requests-cache does."""

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        response = requests.Response()
        response.status_code = 200
        response._content = PAGE.encode()
        response.url = str(request.url)
        response.request = request
        response.from_cache = True  # type: ignore[attr-defined]
        return response


def test_a_session_that_answers_from_its_own_cache_is_the_cache_adapter(sink: HttpSink) -> None:
    with Remembering() as session:
        session.get("http://cached.example/page")
    (span,) = fetches(sink)
    assert span.attributes["seekwatch.fetch.adapter"] == "cache"
    assert span.attributes["seekwatch.fetch.from_cache"] is True
    assert "seekwatch.content.hash" in span.attributes


def test_every_way_to_read_an_aiohttp_body_is_noted(web: LocalWeb, sink: HttpSink) -> None:
    async def lines(response: aiohttp.ClientResponse) -> None:
        async for _ in response.content:
            pass

    async def chunks(response: aiohttp.ClientResponse) -> None:
        async for _ in response.content.iter_chunks():
            pass

    async def exactly(response: aiohttp.ClientResponse) -> None:
        await response.content.readexactly(10)
        await response.content.read()

    async def text(response: aiohttp.ClientResponse) -> None:
        await response.text()

    async def work() -> None:
        async with aiohttp.ClientSession() as session:
            for read in (lines, chunks, exactly, text):
                async with session.get(web.url + "/stream") as response:
                    await read(response)

    asyncio.run(work())
    spans = fetches(sink)
    assert len(spans) == 4
    assert len({span.attributes["seekwatch.content.hash"] for span in spans}) == 1


def test_of_a_chunk_that_was_read_in_part_the_part_is_noted(web: LocalWeb, sink: HttpSink) -> None:
    async def work() -> None:
        async with aiohttp.ClientSession() as session, session.get(web.url + "/page") as response:
            assert await response.content.readexactly(6) == b"<html>"

    asyncio.run(work())
    (span,) = fetches(sink)
    assert span.attributes["http.response.body.size"] == 6


def test_a_read_that_is_cancelled_is_an_error(web: LocalWeb, sink: HttpSink) -> None:
    web.pages["/drip"] = lambda _: Answer(200, PAGE.encode(), chunks=3, pause=30)

    async def work() -> None:
        async with aiohttp.ClientSession() as session, session.get(web.url + "/drip") as response:
            await asyncio.wait_for(response.read(), 0.1)

    with pytest.raises(TimeoutError):
        asyncio.run(work())
    (span,) = fetches(sink)
    assert span.attributes["error.type"] == "CancelledError"


def test_concurrent_requests_of_one_aiohttp_session_do_not_mix(
    web: LocalWeb, sink: HttpSink
) -> None:
    async def one(session: aiohttp.ClientSession, number: int) -> None:
        with agent_run(f"question {number}"):
            async with session.get("/redirect", params={"n": str(number)}) as response:
                await response.text()

    async def many() -> None:
        async with aiohttp.ClientSession(web.url) as session:
            await asyncio.gather(*(one(session, number) for number in range(30)))

    asyncio.run(many())
    spans = fetches(sink)
    agents = {span.span_id: span for span in sink.of_kind("AGENT")}
    assert len(spans) == len(agents) == 30
    for span in spans:
        number = agents[span.parent_id].attributes["input.value"].removeprefix("question ")
        assert span.attributes["url.full"].endswith(f"/redirect?n={number}")
        assert len(json.loads(span.attributes["seekwatch.fetch.hops"])) == 2


class Silent(httpx.AsyncBaseTransport):
    """A transport whose answer never comes."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("the future has no result")


def test_a_call_that_is_dropped_in_another_context_ends_without_a_word(sink: HttpSink) -> None:
    async def work() -> None:
        coroutine = httpx.AsyncClient(transport=Silent()).get("http://silent.example/")
        contextvars.copy_context().run(coroutine.send, None)
        contextvars.copy_context().run(coroutine.close)

    asyncio.run(work())
    (span,) = fetches(sink)
    assert span.attributes["error.type"] == "GeneratorExit"


def test_a_session_that_was_there_before_is_seen(web: LocalWeb, sink: HttpSink) -> None:
    uninstrument()

    async def work() -> None:
        async with aiohttp.ClientSession(web.url) as session:
            instrument("later", endpoint=sink.url)
            async with session.get("/page", params={"q": "1"}) as response:
                await response.read()

    asyncio.run(work())
    (span,) = fetches(sink)
    assert span.attributes["url.full"] == web.url + "/page?q=1"


def test_a_web_socket_is_left_alone(sink: HttpSink) -> None:
    from aiohttp import web as server

    async def echo(request: server.Request) -> server.WebSocketResponse:
        socket = server.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(message.data)
        return socket

    async def work() -> str:
        app = server.Application()
        app.router.add_get("/", echo)
        runner = server.AppRunner(app)
        await runner.setup()
        site = server.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
            await socket.send_str("hello")
            heard = await socket.receive_str()
        await runner.cleanup()
        return heard

    assert asyncio.run(work()) == "hello"
    assert fetches(sink) == []


def test_uninstrument_puts_the_originals_back() -> None:
    uninstrument()
    owners: list[tuple[Any, str]] = [
        (requests.Session, "send"),
        (requests.Session, "request"),
        (requests.sessions, "dispatch_hook"),
        (urllib3.PoolManager, "urlopen"),
        (urllib3.HTTPConnectionPool, "urlopen"),
        (urllib3.HTTPConnectionPool, "_make_request"),
        (urllib3.HTTPResponse, "read"),
        (urllib3.HTTPResponse, "close"),
        (aiohttp.ClientSession, "_request"),
        (aiohttp.ClientResponse, "start"),
        (aiohttp.ClientResponse, "release"),
        (aiohttp.BaseConnector, "connect"),
        (aiohttp.StreamReader, "_wait"),
    ]
    before = [vars(owner)[name] for owner, name in owners]
    instrument("a", endpoint="http://127.0.0.1:9")
    during = [vars(owner)[name] for owner, name in owners]
    uninstrument()
    assert [vars(owner)[name] for owner, name in owners] == before
    assert not set(map(id, during)) & set(map(id, before))


def run(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout


def test_a_library_that_is_imported_later_is_wrapped_then_and_none_is_imported_by_us(
    web: LocalWeb, sink: HttpSink
) -> None:
    said = run(
        """
        import sys
        from seekwatch.sdk import instrument, flush
        instrument("late", endpoint=sys.argv[1])
        # OpenTelemetry's exporter imports requests.
        print([name for name in ("aiohttp", "playwright") if name in sys.modules])
        import aiohttp, asyncio
        async def fetch():
            async with aiohttp.ClientSession() as session:
                async with session.get(sys.argv[2]) as response:
                    await response.read()
                    print(response.status)
        asyncio.run(fetch())
        flush()
        """,
        sink.url,
        web.url + "/page",
    )
    assert said.split("\n")[:2] == ["[]", "200"]
    assert len(sink.of_kind("TOOL")) == 1


@pytest.mark.skipif(
    not hasattr(stock, "HTTPX2ClientInstrumentor"), reason="this release does not know httpx2"
)
def test_the_stock_instrumentation_of_httpx2_is_on_too(web: LocalWeb, sink: HttpSink) -> None:
    httpx2.get(web.url + "/page")
    (ours,) = fetches(sink)
    (theirs,) = [span for span in sink.spans if span.name == "GET"]
    assert theirs.parent_id == ours.span_id
    uninstrument()
    assert sink.histogram("http.client.request.duration").count == 1


def test_httpx2_under_the_name_of_httpx_is_wrapped_once(web: LocalWeb, sink: HttpSink) -> None:
    run(
        """
        import sys
        import httpx2
        httpx2.alias_httpx()
        import httpx
        from seekwatch.sdk import instrument, flush
        instrument("alias", endpoint=sys.argv[1])
        assert httpx is httpx2
        assert httpx.get(sys.argv[2]).status_code == 200
        flush()
        """,
        sink.url,
        web.url + "/page",
    )
    assert len(sink.of_kind("TOOL")) == 1
