"""A real Chromium, driven by the real Playwright, sync and async."""

import asyncio
import importlib
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright
from playwright.async_api import Error as AsyncError
from playwright.async_api import TimeoutError as AsyncTimeoutError
from playwright.sync_api import Page as SyncPage
from playwright.sync_api import sync_playwright

from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from seekwatch.sdk._guard import failures, reset_failures
from tests.sdk.test_http_fetch import body_of
from tests.services.chromium import FLAGS, chromium
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.unavailable import UnavailableError, unavailable
from tests.services.web import PAGE, Answer, LocalWeb

DRAWN = (
    b"<html><head><title>Drawn</title></head><body><p id=a>Loading</p>"
    b'<a id=on href="/redirect">on</a><a id=new target=_blank href="/page">new</a><script>'
    b"setTimeout(() => { a.textContent = 'Snow fell at noon.'; a.className = 'drawn' }, 60)"
    b"</script></body></html>"
)


@pytest.fixture(scope="module")
def executable() -> str:
    try:
        return chromium()
    except UnavailableError as error:
        unavailable(error)


@pytest.fixture(autouse=True)
def pages(web: LocalWeb) -> None:
    web.pages["/drawn"] = lambda _: Answer(200, DRAWN)
    web.pages["/moves"] = lambda _: Answer(200, b"<script>location.replace('/page')</script>")
    web.pages["/framed"] = lambda _: Answer(200, b'<p>Outer</p><iframe src="/page"></iframe>')


def drive(executable: str, work: Callable[[Page], Awaitable[None]]) -> None:
    """Let `work` use a page of a fresh browser."""

    async def run() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=executable, args=[*FLAGS])
            page = await browser.new_page()
            page.set_default_timeout(10_000)
            await work(page)
            await browser.close()

    asyncio.run(run())


def drive_sync(executable: str, work: Callable[[SyncPage], None]) -> None:
    """Do the same with the plain interface."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*FLAGS])
        work(browser.new_page())
        browser.close()


def loads(sink: HttpSink) -> list[SunkSpan]:
    assert flush()
    found = [span for span in sink.spans if span.name.startswith("execute_tool ")]
    return sorted(found, key=lambda span: span.start_ns)


def check_redirected(web: LocalWeb, span: SunkSpan) -> None:
    found = span.attributes
    assert span.name == "execute_tool browser"
    assert found["seekwatch.fetch.adapter"] == "browser"
    assert found["seekwatch.fetch.action"] == "read"
    assert found["http.request.method"] == "GET"
    assert found["url.full"] == f"{web.url}/redirect"
    assert found["seekwatch.fetch.final_url"] == found["retrieval.source_url"] == f"{web.url}/page"
    assert found["http.response.status_code"] == 200
    assert found["http.response.header.content-type"] == ["text/html; charset=utf-8"]
    assert json.loads(found["seekwatch.fetch.hops"]) == [
        {"url": f"{web.url}/redirect", "status": 302, "location": "/hop"},
        {"url": f"{web.url}/hop", "status": 301, "location": "/page"},
    ]
    assert found["http.client.request.duration"] == pytest.approx(
        (span.end_ns - span.start_ns) / 1e9
    )
    assert body_of(span) == PAGE


def test_a_page_load_is_a_tool_span_with_its_facts(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        with agent_run("q"):
            response = await page.goto(f"{web.url}/redirect")
            assert response is not None
            assert response.status == 200
            assert await page.content() == PAGE

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    (load,) = loads(sink)
    check_redirected(web, load)
    assert load.parent_id == sink.one("AGENT").span_id


def test_the_plain_interface_tells_the_same(web: LocalWeb, sink: HttpSink, executable: str) -> None:
    def work(page: SyncPage) -> None:
        with agent_run("q"):
            page.goto(f"{web.url}/redirect")
            assert page.content() == PAGE

    instrument("browser", endpoint=sink.url)
    drive_sync(executable, work)
    (load,) = loads(sink)
    check_redirected(web, load)
    assert load.parent_id == sink.one("AGENT").span_id


def test_the_page_is_told_as_the_agent_saw_it_not_as_it_loaded(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        await page.goto(f"{web.url}/drawn")
        await page.wait_for_selector(".drawn")
        assert "at noon" in await page.inner_text("body")

    def plain(page: SyncPage) -> None:
        page.goto(f"{web.url}/drawn")
        page.wait_for_selector(".drawn")
        assert "at noon" in page.locator("p").inner_text()
        page.goto(f"{web.url}/page")

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    drive_sync(executable, plain)
    first, second, _ = loads(sink)
    assert "Snow fell at noon." in body_of(first)
    assert "Snow fell at noon." in body_of(second)


def test_what_a_click_or_a_script_loads_is_seen_too(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        with agent_run("q"):
            await page.goto(f"{web.url}/drawn")
            await page.click("#on")
            await page.wait_for_url("**/page")
            assert await page.content() == PAGE
            await page.goto(f"{web.url}/moves", wait_until="commit")
            await page.wait_for_url("**/page")
            await page.inner_text("body")

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    drawn, clicked, _, moved = loads(sink)
    assert drawn.attributes["url.full"] == f"{web.url}/drawn"
    check_redirected(web, clicked)
    assert clicked.parent_id == drawn.parent_id == sink.one("AGENT").span_id
    assert moved.attributes["url.full"] == f"{web.url}/page"
    assert body_of(moved) == PAGE


def test_back_forward_and_reload_are_loads_and_a_move_within_the_page_is_none(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        await page.goto(f"{web.url}/page")
        await page.goto(f"{web.url}/page#part")
        await page.goto("about:blank")
        await page.goto(f"{web.url}/drawn")
        await page.reload()
        await page.go_back()
        await page.go_forward()
        await page.set_content("<p>mine</p>")
        await page.content()

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    found = [span.attributes["url.full"].removeprefix(web.url) for span in loads(sink)]
    assert found == ["/page", "/drawn", "/drawn", "/drawn"]


def test_an_iframe_is_no_page_of_its_own(web: LocalWeb, sink: HttpSink, executable: str) -> None:
    async def work(page: Page) -> None:
        await page.goto(f"{web.url}/framed")
        inner = page.frames[1]
        await inner.goto(f"{web.url}/page")
        assert await inner.content() == PAGE
        assert "Outer" in await page.content()

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    (load,) = loads(sink)
    assert "Outer" in body_of(load)


def test_a_load_that_fails_is_an_error_by_its_own_name(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        await page.goto(f"{web.url}/gone")
        with pytest.raises(AsyncError, match=r"^Page\.goto: net::ERR_CONNECTION_REFUSED at"):
            await page.goto("http://127.0.0.1:4/?token=hunter2hunter2")
        with pytest.raises(AsyncTimeoutError, match=r"^Page\.goto: Timeout 50ms exceeded"):
            await page.goto(f"{web.url}/stuck", timeout=50)

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    gone, refused, late = loads(sink)
    assert refused.attributes["error.type"] == "net::ERR_CONNECTION_REFUSED"
    assert "hunter2" not in str(refused)
    assert "Call log" not in str(refused)
    assert late.attributes["error.type"] == "TimeoutError"
    assert "http.response.status_code" not in late.attributes
    assert gone.attributes["error.type"] == "410"
    assert refused.status == late.status == gone.status == 2


def test_a_request_without_a_page_is_a_plain_fetch(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        response = await page.request.get(f"{web.url}/page", params={"a": "1"})
        assert await response.text() == PAGE
        with pytest.raises(AsyncError):
            await page.context.request.post("http://127.0.0.1:4/", form={"a": "b"})

    def plain(page: SyncPage) -> None:
        assert page.request.fetch(f"{web.url}/page").ok

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    drive_sync(executable, plain)
    got, failed, fetched = loads(sink)
    assert got.name == "execute_tool fetch"
    assert got.attributes["url.full"] == f"{web.url}/page?a=1"
    assert got.attributes["seekwatch.fetch.adapter"] == "fetch"
    assert body_of(got) == body_of(fetched) == PAGE
    assert failed.attributes["http.request.method"] == "POST"
    assert failed.attributes["error.type"] == "Error"


def test_pages_and_popups_belong_to_the_run_that_opened_them(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def one(browser: Browser, question: str) -> None:
        with agent_run(question):
            page = await browser.new_page()
            await page.goto(f"{web.url}/drawn?{question}")
            async with page.expect_popup() as popup:
                await page.click("#new")
            opened = await popup.value
            await opened.wait_for_load_state()
            await opened.reload()
            await page.close()

    async def work(page: Page) -> None:
        browser = page.context.browser
        assert browser is not None
        await asyncio.gather(one(browser, "a"), one(browser, "b"))

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    assert flush()
    runs = {
        span.attributes["seekwatch.run.question"]: span.span_id
        for span in sink.spans
        if span.name.startswith("invoke_agent")
    }
    found = [span for span in loads(sink) if "drawn" in span.attributes["url.full"]]
    assert {(span.attributes["url.full"][-1], span.parent_id) for span in found} == {
        ("a", runs["a"]),
        ("b", runs["b"]),
    }
    parents = [span.parent_id for span in loads(sink) if "drawn" not in span.attributes["url.full"]]
    assert set(parents) == set(runs.values())


@pytest.mark.parametrize("options", [{"capture_pages": False}, {"capture_content": False}])
def test_no_look_is_taken_where_pages_are_not_captured(
    web: LocalWeb, sink: HttpSink, executable: str, options: dict[str, Any]
) -> None:
    async def work(page: Page) -> None:
        await page.goto(f"{web.url}/page")
        await page.inner_text("body")

    instrument("browser", endpoint=sink.url, **options)
    drive(executable, work)
    (load,) = loads(sink)
    assert load.attributes["seekwatch.content.omitted_reason"] == "capture-off"
    assert "seekwatch.content.hash" not in load.attributes
    assert "Snow" not in str(load)


def test_a_page_that_is_kept_open_is_told_when_its_run_ends(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    async def work(page: Page) -> None:
        with agent_run("q"):
            await page.goto(f"{web.url}/page")
        deadline = time.monotonic() + 20
        while not any("browser" in span.name for span in sink.spans):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
            await asyncio.to_thread(flush)

    instrument("browser", endpoint=sink.url)
    drive(executable, work)
    assert len(loads(sink)) == 1


def test_uninstrument_leaves_the_classes_as_they_were(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    before = {name: vars(Page)[name] for name in ("goto", "content", "close", "click")}
    instrument("browser", endpoint=sink.url)
    assert vars(Page)["goto"] is not before["goto"]
    assert asyncio.iscoroutinefunction(Page.goto)
    uninstrument()
    assert {name: vars(Page)[name] for name in before} == before


POINTS = [
    "tabs:page_of",
    "tabs:HttpCall",
    "tabs:tab_of",
    "tabs:opened",
    "visits:Visit._look",
    "visits:Visit.ask",
    "visits:Visit.tell",
    "visits:Ended",
    "playwright:begin_load",
    "playwright:used",
    "playwright:tabs_of",
    "api_requests:begin",
    "api_requests:ApiResponse",
    "views:chain",
]


async def everything(page: Page, web: LocalWeb) -> list[object]:
    seen: list[object] = []
    await page.goto(f"{web.url}/drawn")
    await page.click("#on")
    await page.wait_for_url("**/page")
    seen.append(await page.inner_text("body"))
    await page.reload()
    seen.append(await page.content())
    seen.append(await (await page.request.get(f"{web.url}/page")).text())
    with pytest.raises(AsyncError, match=r"^Page\.goto: net::ERR_UNSAFE_PORT"):
        await page.goto("http://127.0.0.1:9/")
    await page.close()
    return seen


def test_the_agent_sees_the_same_whatever_fails_in_us(
    web: LocalWeb, sink: HttpSink, executable: str
) -> None:
    reached: dict[str, bool] = {}

    async def work(page: Page) -> None:
        browser = page.context.browser
        assert browser is not None
        for point in POINTS:
            with pytest.MonkeyPatch.context() as patch:
                break_at(patch, point)
                opened = await browser.new_page()
                opened.set_default_timeout(10_000)
                seen = await everything(opened, web)
                assert seen == ["Snow fell in the valley.", PAGE, PAGE], point
                await asyncio.to_thread(flush)
            reached[point] = bool(failures())
            reset_failures()

    instrument("faulty", endpoint=sink.url)
    drive(executable, work)
    assert [point for point, failed in reached.items() if not failed] == []


def break_at(patch: pytest.MonkeyPatch, point: str) -> None:
    """Let a function of ours raise whenever it is called."""
    module, _, inside = point.partition(":")
    owner: Any = importlib.import_module(f"seekwatch.sdk._browsers.{module}")
    *path, name = inside.split(".")
    for part in path:
        owner = getattr(owner, part)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(point)

    patch.setattr(owner, name, fail)
