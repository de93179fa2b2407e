import asyncio
import base64
import gc
import gzip
import hashlib
import json
import threading
import zlib
from collections.abc import Generator, Iterator
from typing import Any

import httpx
import pytest

from seekwatch.sdk import agent_run, flush, instrument
from seekwatch.sdk._stacks.httpx_streams import _SyncTee
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import BIG_PAGE_BYTES, PAGE, LocalWeb


@pytest.fixture(autouse=True)
def instrumented(sink: HttpSink) -> None:
    instrument("fetcher", endpoint=sink.url)


@pytest.fixture
def client(web: LocalWeb) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, follow_redirects=True) as opened:
        yield opened


def the_fetch(sink: HttpSink) -> SunkSpan:
    assert flush()
    return sink.one("TOOL")


def body_of(span: SunkSpan) -> str:
    assert span.attributes["seekwatch.content.encoding"] == "zlib+base64"
    packed = base64.b64decode(span.attributes["seekwatch.content.body"])
    return zlib.decompress(packed).decode()


def test_a_page_fetch_is_a_tool_span_with_its_facts(client: httpx.Client, sink: HttpSink) -> None:
    client.get("/validated", headers={"If-Modified-Since": "Sun, 01 Nov 2026 08:00:00 GMT"})
    span = the_fetch(sink)
    found = span.attributes
    assert span.name == "execute_tool fetch"
    assert found["gen_ai.agent.name"] == "fetcher"
    assert found["gen_ai.operation.name"] == "execute_tool"
    assert found["http.request.method"] == "GET"
    assert found["url.full"] == str(client.base_url.join("/validated"))
    assert found["seekwatch.fetch.final_url"] == found["url.full"] == found["retrieval.source_url"]
    assert found["http.response.status_code"] == 200
    assert found["seekwatch.fetch.adapter"] == "fetch"
    assert found["seekwatch.fetch.action"] == "read"
    assert found["seekwatch.fetch.attempt"] == 1
    assert found["http.response.body.size"] == len(PAGE)
    assert found["seekwatch.content.type"] == "text/html; charset=utf-8"
    assert found["seekwatch.content.hash"] == f"sha256:{hashlib.sha256(PAGE.encode()).hexdigest()}"
    assert found["seekwatch.fetch.retrieved_at"].endswith("Z")
    assert body_of(span) == PAGE
    assert found["http.request.header.if-modified-since"] == ["Sun, 01 Nov 2026 08:00:00 GMT"]
    for name, value in {
        "etag": '"v1"',
        "last-modified": "Sun, 01 Nov 2026 08:00:00 GMT",
        "cache-control": "max-age=60",
        "vary": "Accept-Language",
        "expires": "Sun, 01 Nov 2026 09:00:00 GMT",
        "age": "12",
    }.items():
        assert found[f"http.response.header.{name}"] == [value]
    assert "http.response.header.date" in found
    assert "error.type" not in found
    assert span.status == 0


def test_the_span_ends_when_the_caller_was_done_not_when_we_were(
    client: httpx.Client, sink: HttpSink
) -> None:
    client.get("/page")
    span = the_fetch(sink)
    stock = next(each for each in sink.spans if each.name == "GET")
    assert stock.parent_id == span.span_id
    assert span.start_ns <= stock.start_ns
    assert stock.end_ns <= span.end_ns


def test_the_span_has_the_duration_that_the_stock_metric_has(
    client: httpx.Client, sink: HttpSink
) -> None:
    client.get("/slow")
    span = the_fetch(sink)
    stock = next(each for each in sink.spans if each.name == "GET")
    duration = span.attributes["http.client.request.duration"]
    assert duration == pytest.approx((stock.end_ns - stock.start_ns) / 1e9, rel=0.1)
    assert duration >= 0.5


def test_each_redirect_hop_is_listed_and_the_last_answer_is_not(
    client: httpx.Client, sink: HttpSink
) -> None:
    client.get("/redirect")
    span = the_fetch(sink)
    base = str(client.base_url).rstrip("/")
    assert json.loads(span.attributes["seekwatch.fetch.hops"]) == [
        {"url": f"{base}/redirect", "status": 302, "location": "/hop"},
        {"url": f"{base}/hop", "status": 301, "location": "/page"},
    ]
    assert span.attributes["url.full"] == f"{base}/redirect"
    assert span.attributes["seekwatch.fetch.final_url"] == f"{base}/page"
    assert body_of(span) == PAGE


def test_a_redirect_that_is_not_followed_shows_where_it_pointed(
    client: httpx.Client, sink: HttpSink
) -> None:
    client.get("/redirect", follow_redirects=False)
    span = the_fetch(sink)
    assert span.attributes["http.response.status_code"] == 302
    assert span.attributes["http.response.header.location"] == ["/hop"]
    assert "seekwatch.fetch.hops" not in span.attributes


def test_a_redirect_loop_is_an_error_with_its_hops(client: httpx.Client, sink: HttpSink) -> None:
    with pytest.raises(httpx.TooManyRedirects):
        client.get("/loop")
    span = the_fetch(sink)
    assert span.attributes["error.type"] == "TooManyRedirects"
    assert len(json.loads(span.attributes["seekwatch.fetch.hops"])) == 20
    assert span.status == 2


def test_a_304_is_an_attempt_of_its_own_with_the_validator_sent(
    client: httpx.Client, sink: HttpSink
) -> None:
    with agent_run("q"):
        client.get("/validated")
        client.get("/validated", headers={"If-None-Match": '"v1"'})
    assert flush()
    first, second = sink.of_kind("TOOL")
    assert first.attributes["seekwatch.fetch.attempt"] == 1
    assert second.attributes["seekwatch.fetch.attempt"] == 2
    assert second.attributes["http.request.resend_count"] == 1
    assert second.attributes["http.response.status_code"] == 304
    assert second.attributes["http.request.header.if-none-match"] == ['"v1"']
    assert second.attributes["http.response.header.etag"] == ['"v1"']
    assert second.attributes["seekwatch.content.omitted_reason"] == "empty"


def test_each_retry_is_an_attempt_of_its_own(client: httpx.Client, sink: HttpSink) -> None:
    with agent_run("q"):
        client.get("/flaky?key=1")
        client.get("/flaky?key=1")
    assert flush()
    first, second = sink.of_kind("TOOL")
    assert first.attributes["http.response.status_code"] == 503
    assert first.attributes["error.type"] == "503"
    assert first.attributes["http.response.header.retry-after"] == ["1"]
    assert second.attributes["http.response.status_code"] == 200
    assert second.attributes["seekwatch.fetch.attempt"] == 2


def test_attempts_are_counted_per_trace(client: httpx.Client, sink: HttpSink) -> None:
    for _ in range(2):
        with agent_run("q"):
            client.get("/page")
    assert flush()
    assert [span.attributes["seekwatch.fetch.attempt"] for span in sink.of_kind("TOOL")] == [1, 1]


@pytest.mark.parametrize(
    ("method", "action"),
    [
        ("GET", "read"),
        ("HEAD", "read"),
        ("POST", "write"),
        ("PUT", "write"),
        ("DELETE", "destructive"),
    ],
)
def test_the_action_follows_from_the_method(
    client: httpx.Client, sink: HttpSink, method: str, action: str
) -> None:
    client.request(method, "/page")
    assert the_fetch(sink).attributes["seekwatch.fetch.action"] == action


def test_a_dead_server_is_an_error_that_reaches_the_caller_unchanged(sink: HttpSink) -> None:
    with pytest.raises(httpx.ConnectError) as raised:
        httpx.get("http://127.0.0.1:9/")
    span = the_fetch(sink)
    assert span.attributes["error.type"] == "ConnectError"
    assert "http.response.status_code" not in span.attributes
    assert span.status == 2
    assert str(raised.value) in span.message


def test_a_timeout_is_an_error_by_its_name(client: httpx.Client, sink: HttpSink) -> None:
    with pytest.raises(httpx.ReadTimeout):
        client.get("/slow", timeout=0.05)
    assert the_fetch(sink).attributes["error.type"] == "ReadTimeout"


def test_a_body_that_breaks_off_is_an_error_and_has_no_hash(
    client: httpx.Client, sink: HttpSink
) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get("/broken")
    span = the_fetch(sink)
    assert span.attributes["error.type"] == "RemoteProtocolError"
    assert "seekwatch.content.hash" not in span.attributes


@pytest.mark.parametrize("path", ["/gzip", "/deflate"])
def test_a_compressed_body_is_decoded_and_its_wire_size_kept(
    client: httpx.Client, sink: HttpSink, path: str
) -> None:
    assert client.get(path).text == PAGE
    span = the_fetch(sink)
    assert body_of(span) == PAGE
    assert span.attributes["http.response.body.size"] < len(PAGE) + 30


@pytest.mark.parametrize("path", ["/gzip", "/deflate", "/page"])
def test_a_streamed_body_is_decoded_alike(client: httpx.Client, sink: HttpSink, path: str) -> None:
    with client.stream("GET", path) as response:
        assert "".join(response.iter_text()) == PAGE
    span = the_fetch(sink)
    assert body_of(span) == PAGE
    assert span.attributes["seekwatch.content.hash"].endswith(
        hashlib.sha256(PAGE.encode()).hexdigest()
    )


def test_another_charset_is_read_as_declared(client: httpx.Client, sink: HttpSink) -> None:
    client.get("/latin")
    assert body_of(the_fetch(sink)) == "Zürich"


def test_a_big_body_is_cut_at_the_cap_but_hashed_whole(
    client: httpx.Client, sink: HttpSink
) -> None:
    content = client.get("/big").content
    span = the_fetch(sink)
    assert len(body_of(span)) == 256 * 1024
    assert span.attributes["seekwatch.content.truncated"] is True
    assert span.attributes["seekwatch.content.hash"].endswith(hashlib.sha256(content).hexdigest())


def test_of_a_big_stream_the_size_is_known_and_the_hash_is_not(
    client: httpx.Client, sink: HttpSink
) -> None:
    with client.stream("GET", "/big") as response:
        assert sum(map(len, response.iter_bytes())) == BIG_PAGE_BYTES
    span = the_fetch(sink)
    assert span.attributes["http.response.body.size"] == BIG_PAGE_BYTES
    assert "seekwatch.content.hash" not in span.attributes
    assert span.attributes["seekwatch.content.truncated"] is True


def test_a_compressed_bomb_is_not_unpacked(client: httpx.Client, sink: HttpSink) -> None:
    with client.stream("GET", "/bomb") as response:
        for _ in response.iter_raw():
            pass
    span = the_fetch(sink)
    assert span.attributes["seekwatch.content.truncated"] is True
    assert len(body_of(span)) == 256 * 1024


@pytest.mark.parametrize(("path", "reason"), [("/image", "not-text"), ("/empty", "empty")])
def test_why_there_is_no_body_is_said(
    client: httpx.Client, sink: HttpSink, path: str, reason: str
) -> None:
    client.get(path)
    span = the_fetch(sink)
    assert span.attributes["seekwatch.content.omitted_reason"] == reason
    assert "seekwatch.content.body" not in span.attributes


def test_a_stream_closed_early_keeps_what_came(client: httpx.Client, sink: HttpSink) -> None:
    with client.stream("GET", "/stream") as response:
        first = next(response.iter_raw())
    span = the_fetch(sink)
    assert span.attributes["seekwatch.content.truncated"] is True
    assert body_of(span) == first.decode()
    assert "seekwatch.content.hash" not in span.attributes


def test_a_stream_closed_unread_has_no_body(client: httpx.Client, sink: HttpSink) -> None:
    with client.stream("GET", "/stream"):
        pass
    assert the_fetch(sink).attributes["seekwatch.content.omitted_reason"] == "closed-early"


def test_a_response_that_is_dropped_unread_still_ends_its_span(
    client: httpx.Client, sink: HttpSink
) -> None:
    response = client.send(client.build_request("GET", "/stream"), stream=True)
    del response
    gc.collect()
    assert the_fetch(sink).attributes["http.response.status_code"] == 200


def test_the_caller_reads_the_same_bytes_as_without_us(
    client: httpx.Client, sink: HttpSink
) -> None:
    with client.stream("GET", "/stream") as response:
        read = response.read()
    assert read == PAGE.encode() * 100
    assert response.num_bytes_downloaded == len(read)
    assert response.elapsed.total_seconds() > 0
    the_fetch(sink)


def test_async_clients_give_the_same_span(web: LocalWeb, sink: HttpSink) -> None:
    async def fetch() -> None:
        async with httpx.AsyncClient(base_url=web.url, follow_redirects=True) as client:
            await client.get("/redirect")

    asyncio.run(fetch())
    span = the_fetch(sink)
    assert body_of(span) == PAGE
    assert len(json.loads(span.attributes["seekwatch.fetch.hops"])) == 2


def test_async_streams_closed_early_end_their_span_once(web: LocalWeb, sink: HttpSink) -> None:
    async def fetch() -> None:
        async with (
            httpx.AsyncClient(base_url=web.url) as client,
            client.stream("GET", "/stream") as response,
        ):
            async for _ in response.aiter_bytes():
                break

    asyncio.run(fetch())
    assert the_fetch(sink).attributes["seekwatch.content.truncated"] is True


def test_a_cancelled_task_ends_its_span(web: LocalWeb, sink: HttpSink) -> None:
    async def fetch() -> None:
        async with httpx.AsyncClient(base_url=web.url) as client:
            await asyncio.wait_for(client.get("/slow"), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(fetch())
    assert the_fetch(sink).attributes["error.type"] == "CancelledError"


def test_concurrent_requests_of_one_client_do_not_mix(web: LocalWeb, sink: HttpSink) -> None:
    async def one(client: httpx.AsyncClient, number: int) -> None:
        with agent_run(f"question {number}"):
            await client.get("/redirect", params={"n": number})

    async def many() -> None:
        async with httpx.AsyncClient(base_url=web.url, follow_redirects=True) as client:
            await asyncio.gather(*(one(client, number) for number in range(30)))

    asyncio.run(many())
    assert flush()
    agents = {span.span_id: span for span in sink.of_kind("AGENT")}
    assert len(agents) == 30
    for span in sink.of_kind("TOOL"):
        number = agents[span.parent_id].attributes["input.value"].removeprefix("question ")
        assert span.attributes["url.full"].endswith(f"/redirect?n={number}")
        assert len(json.loads(span.attributes["seekwatch.fetch.hops"])) == 2


def test_threads_share_a_client_without_mixing(client: httpx.Client, sink: HttpSink) -> None:
    def work(number: int) -> None:
        with agent_run(f"question {number}"):
            client.get("/page", params={"n": number})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flush()
    agents = {span.span_id: span for span in sink.of_kind("AGENT")}
    for span in sink.of_kind("TOOL"):
        number = agents[span.parent_id].attributes["input.value"].removeprefix("question ")
        assert span.attributes["url.full"].endswith(f"/page?n={number}")
    assert len(sink.of_kind("TOOL")) == 20


class Answering(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of the user's own that never touches the network, such as a cache."""

    def __init__(self, **extensions: Any) -> None:
        self._extensions = extensions

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, html=PAGE, extensions=self._extensions)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)


def test_a_custom_transport_is_seen_where_the_stock_instrumentation_sees_nothing(
    sink: HttpSink,
) -> None:
    with httpx.Client(transport=Answering()) as client:
        client.get("http://somewhere.example/")
    span = the_fetch(sink)
    assert body_of(span) == PAGE
    assert len(sink.spans) == 1, "the stock instrumentation made a span after all"


def test_a_mounted_transport_is_seen(sink: HttpSink) -> None:
    with httpx.Client(mounts={"all://mounted.example": Answering()}) as client:
        client.get("http://mounted.example/")
    assert the_fetch(sink).attributes["server.address"] == "mounted.example"


@pytest.mark.parametrize("mark", ["from_cache", "hishel_from_cache"])
def test_a_cache_that_answers_is_the_adapter(sink: HttpSink, mark: str) -> None:
    with httpx.Client(transport=Answering(**{mark: True})) as client:
        client.get("http://cached.example/")
    span = the_fetch(sink)
    assert span.attributes["seekwatch.fetch.adapter"] == "cache"
    assert span.attributes["seekwatch.fetch.from_cache"] is True


def test_a_mock_transport_is_seen_streamed_or_not(sink: HttpSink) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="mocked")

    with httpx.Client(transport=httpx.MockTransport(handler)) as client:
        client.get("http://mock.example/")
        with client.stream("GET", "http://mock.example/") as response:
            response.read()
    assert flush()
    assert [body_of(span) for span in sink.of_kind("TOOL")] == ["mocked", "mocked"]


def test_an_async_custom_transport_is_seen(sink: HttpSink) -> None:
    async def fetch() -> None:
        async with httpx.AsyncClient(transport=Answering()) as client:
            await client.get("http://somewhere.example/")

    asyncio.run(fetch())
    assert body_of(the_fetch(sink)) == PAGE


def test_a_call_inside_suppressed_instrumentation_is_not_seen(
    client: httpx.Client, sink: HttpSink
) -> None:
    from opentelemetry.instrumentation.utils import suppress_http_instrumentation

    with suppress_http_instrumentation():
        client.get("/page")
    assert flush()
    assert sink.spans == []


def test_requests_to_our_own_collector_are_not_seen(sink: HttpSink) -> None:
    httpx.post(f"{sink.url}/v1/traces", content=b"")
    assert flush()
    assert sink.of_kind("TOOL") == []


class Retrying(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport of the user's own that tries again below the client."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self._async_inner = httpx.AsyncHTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if response.status_code == 503:
            response.read()
            response = self._inner.handle_request(request)
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._async_inner.handle_async_request(request)
        if response.status_code == 503:
            await response.aread()
            response = await self._async_inner.handle_async_request(request)
        return response

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._async_inner.aclose()


def check_retry(sink: HttpSink) -> None:
    first, second = sorted(
        sink.of_kind("TOOL"), key=lambda span: span.attributes["seekwatch.fetch.attempt"]
    )
    assert first.attributes["http.response.status_code"] == 503
    assert first.attributes["http.response.header.retry-after"] == ["1"]
    assert first.attributes["error.type"] == "503"
    assert second.attributes["http.response.status_code"] == 200
    assert first.parent_id == second.parent_id == sink.one("AGENT").span_id
    stock = sorted(
        (span for span in sink.spans if span.name == "GET"), key=lambda span: span.start_ns
    )
    for ours, theirs in zip((first, second), stock, strict=True):
        assert ours.attributes["http.client.request.duration"] == pytest.approx(
            (theirs.end_ns - theirs.start_ns) / 1e9, rel=0.5, abs=0.005
        )


def test_a_retry_inside_a_transport_is_an_attempt_of_its_own(web: LocalWeb, sink: HttpSink) -> None:
    with agent_run("q"), httpx.Client(transport=Retrying()) as client:
        assert client.get(f"{web.url}/flaky?key=2").status_code == 200
    assert flush()
    check_retry(sink)


def test_an_async_retry_inside_a_transport_is_too(web: LocalWeb, sink: HttpSink) -> None:
    async def fetch() -> None:
        with agent_run("q"):
            async with httpx.AsyncClient(transport=Retrying()) as client:
                assert (await client.get(f"{web.url}/flaky?key=3")).status_code == 200

    asyncio.run(fetch())
    assert flush()
    check_retry(sink)


class Revalidating(httpx.BaseTransport):
    """A cache below the client that asks whether its copy still holds."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["If-None-Match"] = '"v1"'
        answer = self._inner.handle_request(request)
        answer.read()
        assert answer.status_code == 304
        return httpx.Response(200, html=PAGE, extensions={"from_cache": True})

    def close(self) -> None:
        self._inner.close()


def test_a_caches_revalidation_is_an_attempt_of_its_own(web: LocalWeb, sink: HttpSink) -> None:
    with agent_run("q"), httpx.Client(transport=Revalidating()) as client:
        client.get(f"{web.url}/validated")
    assert flush()
    asked, answered = sorted(
        sink.of_kind("TOOL"), key=lambda span: span.attributes["seekwatch.fetch.attempt"]
    )
    assert asked.attributes["http.response.status_code"] == 304
    assert asked.attributes["http.request.header.if-none-match"] == ['"v1"']
    assert asked.attributes["seekwatch.fetch.adapter"] == "fetch"
    assert answered.attributes["http.response.status_code"] == 200
    assert answered.attributes["seekwatch.fetch.adapter"] == "cache"


def test_a_hook_that_closes_the_response_leaves_a_span_without_a_body(
    web: LocalWeb, sink: HttpSink
) -> None:
    with httpx.Client(event_hooks={"response": [lambda response: response.close()]}) as client:
        request = client.build_request("GET", f"{web.url}/stream")
        client.send(request, stream=True).close()
    assert the_fetch(sink).attributes["seekwatch.content.omitted_reason"] == "closed-early"


def test_a_hook_that_raises_ends_the_span_with_its_error(web: LocalWeb, sink: HttpSink) -> None:
    def refuse(response: httpx.Response) -> None:
        raise PermissionError("not this page")

    with (
        httpx.Client(event_hooks={"response": [refuse]}) as client,
        pytest.raises(PermissionError),
    ):
        client.get(f"{web.url}/page")
    assert the_fetch(sink).attributes["error.type"] == "PermissionError"


def test_a_task_cancelled_in_the_middle_of_a_body_is_an_error(
    web: LocalWeb, sink: HttpSink
) -> None:
    async def fetch() -> None:
        async with (
            httpx.AsyncClient(base_url=web.url) as client,
            client.stream("GET", "/stream") as response,
        ):
            reading = asyncio.ensure_future(response.aread())
            await asyncio.sleep(0)
            reading.cancel()
            await reading

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(fetch())
    assert the_fetch(sink).attributes["error.type"] == "CancelledError"


def test_a_response_that_is_kept_does_not_keep_a_second_copy_of_its_body(
    client: httpx.Client, sink: HttpSink
) -> None:
    with client.stream("GET", "/stream") as response:
        for _ in response.iter_raw():
            pass
    the_fetch(sink)
    assert isinstance(response.stream, _SyncTee)
    assert response.stream._open is None


def test_a_login_inside_an_auth_flow_is_a_hop_of_the_call(web: LocalWeb, sink: HttpSink) -> None:
    class Login(httpx.Auth):
        def auth_flow(
            self, request: httpx.Request
        ) -> Generator[httpx.Request, httpx.Response, None]:
            yield httpx.Request("POST", f"{web.url}/page?step=login")
            yield request

    with httpx.Client(auth=Login()) as client:
        client.get(f"{web.url}/page")
    hops = json.loads(the_fetch(sink).attributes["seekwatch.fetch.hops"])
    assert hops == [{"url": f"{web.url}/page?step=login", "status": 200}]


def answering(*, status: int, content: bytes = b"") -> httpx.Client:
    response = httpx.Response(status, content=content, headers={"content-type": "text/plain"})
    return httpx.Client(transport=httpx.MockTransport(lambda _: response))


def test_a_ready_body_has_the_size_that_it_has(sink: HttpSink) -> None:
    with answering(status=200, content=b"ready") as client:
        client.get("http://example.com/page")
    assert the_fetch(sink).attributes["http.response.body.size"] == 5


@pytest.mark.parametrize(("method", "status"), [("GET", 304), ("GET", 204), ("HEAD", 200)])
def test_an_answer_that_has_no_body_by_definition_has_no_hash(
    sink: HttpSink, method: str, status: int
) -> None:
    with answering(status=status) as client:
        client.request(method, "http://example.com/page")
    assert "seekwatch.content.hash" not in the_fetch(sink).attributes


def test_a_page_that_is_empty_has_the_hash_of_nothing(client: httpx.Client, sink: HttpSink) -> None:
    client.get("/empty")
    expected = f"sha256:{hashlib.sha256(b'').hexdigest()}"
    assert the_fetch(sink).attributes["seekwatch.content.hash"] == expected


def test_a_ready_body_that_was_compressed_has_no_size(sink: HttpSink) -> None:
    headers = {"content-encoding": "gzip"}
    ready = httpx.Response(200, headers=headers, content=gzip.compress(b"ready"))
    with httpx.Client(transport=httpx.MockTransport(lambda _: ready)) as client:
        client.get("http://example.com/page")
    assert the_fetch(sink).attributes.get("http.response.body.size") is None
