"""Calls to APIs that fetch pages, at their real addresses, answered in their documented shapes."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import httpx
import pytest

from seekwatch.sdk import flush, instrument
from seekwatch.sdk._fetch.apis import BUILT_IN, FetchApi, FetchApiIndex
from tests.sdk.test_http_fetch import body_of
from tests.services.internet import Internet
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import PAGE, Answer, LocalWeb

ASKED = "https://news.example/a"
FINAL = "https://news.example/b"
MARKDOWN = "# A page\n\nSnow fell in the valley."


class Case(NamedTuple):
    """A call and what its span says."""

    name: str
    url: str
    asked: dict[str, Any] | None
    answer: object
    adapter: str
    body: str = MARKDOWN
    status: int | None = None
    final: str | None = None
    """Where the API says that the page came from in the end."""
    method: str = "POST"
    headers: Mapping[str, str] = MappingProxyType({})


HTML = {"rawHtml": PAGE, "html": "<p>less</p>", "markdown": MARKDOWN}
CASES = [
    Case(
        "firecrawl",
        "https://api.firecrawl.dev/v2/scrape",
        {"url": ASKED, "formats": ["markdown"]},
        {
            "success": True,
            "data": {
                "markdown": MARKDOWN,
                "metadata": {"sourceURL": ASKED, "url": FINAL, "statusCode": 200},
            },
        },
        "crawl",
        status=200,
        final=FINAL,
    ),
    Case(
        "firecrawl",
        "https://api.firecrawl.dev/v1/scrape",
        {"url": ASKED},
        {
            "success": True,
            "data": {**HTML, "metadata": {"sourceURL": ASKED, "statusCode": 404}},
        },
        "crawl",
        body=PAGE,
        status=404,
        final=ASKED,
    ),
    Case(
        "jina-reader",
        f"https://r.jina.ai/{ASKED}?x=1",
        None,
        {"code": 200, "status": 20000, "data": {"url": f"{ASKED}?x=1", "content": MARKDOWN}},
        "fetch",
        final=f"{ASKED}?x=1",
        method="GET",
    ),
    Case(
        "jina-reader",
        "https://r.jina.ai/",
        {"url": ASKED},
        MARKDOWN,
        "fetch",
    ),
    Case(
        "scrapingbee",
        f"https://app.scrapingbee.com/api/v1/?api_key=k&url={ASKED}",
        None,
        PAGE,
        "stealth",
        body=PAGE,
        status=200,
        final=FINAL,
        method="GET",
        headers={"Spb-Initial-Status-Code": "200", "Spb-Resolved-Url": FINAL},
    ),
    Case(
        "scrapingbee",
        f"https://app.scrapingbee.com/api/v1/?api_key=k&url={ASKED}&json_response=true",
        None,
        {"body": PAGE, "initial-status-code": 404, "resolved-url": FINAL, "type": "html"},
        "stealth",
        body=PAGE,
        status=404,
        final=FINAL,
        method="GET",
    ),
    Case(
        "scraperapi",
        f"https://api.scraperapi.com/?api_key=k&url={ASKED}",
        None,
        PAGE,
        "stealth",
        body=PAGE,
        status=200,
        final=FINAL,
        method="GET",
        headers={"Sa-Final-Url": FINAL},
    ),
    Case(
        "scraperapi",
        f"https://api.scraperapi.com/?api_key=k&url={ASKED}",
        None,
        PAGE,
        "stealth",
        body=PAGE,
        status=404,
        final=FINAL,
        method="GET",
        headers={"Sa-Final-Url": FINAL, "Sa-Statuscode": "404"},
    ),
    Case(
        "crawlbase",
        f"https://api.crawlbase.com/?token=k&url={ASKED}",
        None,
        PAGE,
        "stealth",
        body=PAGE,
        status=200,
        method="GET",
        headers={"original_status": "200", "pc_status": "200", "url": ASKED},
        final=ASKED,
    ),
    Case(
        "zyte",
        "https://api.zyte.com/v1/extract",
        {"url": ASKED, "httpResponseBody": True},
        {
            "url": FINAL,
            "statusCode": 200,
            "httpResponseBody": base64.b64encode(PAGE.encode()).decode(),
        },
        "stealth",
        body=PAGE,
        status=200,
        final=FINAL,
    ),
    Case(
        "brightdata",
        "https://api.brightdata.com/request",
        {"zone": "web_unlocker1", "url": ASKED, "format": "raw"},
        PAGE,
        "stealth",
        body=PAGE,
    ),
    Case(
        "browserless",
        "https://production-sfo.browserless.io/content?token=k",
        {"url": ASKED},
        PAGE,
        "browser",
        body=PAGE,
    ),
    Case(
        "browserless",
        "https://production-sfo.browserless.io/chromium/unblock?token=k",
        {"url": ASKED, "content": True},
        {"content": PAGE, "cookies": []},
        "stealth",
        body=PAGE,
    ),
    Case(
        "cloudflare-browser-rendering",
        "https://api.cloudflare.com/client/v4/accounts/a/browser-rendering/markdown",
        {"url": ASKED},
        {"success": True, "result": MARKDOWN},
        "browser",
    ),
    Case(
        "crawl4ai",
        "https://crawl.example:11235/crawl",
        {"urls": [ASKED]},
        {
            "success": True,
            "results": [
                {
                    "url": ASKED,
                    "redirected_url": FINAL,
                    "status_code": 200,
                    "success": True,
                    "html": PAGE,
                    "markdown": {"raw_markdown": MARKDOWN},
                }
            ],
        },
        "crawl",
        body=PAGE,
        status=200,
        final=FINAL,
    ),
    Case(
        "crawl4ai",
        "https://crawl.example:11235/md",
        {"url": ASKED, "f": "raw"},
        {"url": ASKED, "filter": "raw", "query": None, "markdown": MARKDOWN, "success": True},
        "crawl",
        final=ASKED,
    ),
    Case(
        "tavily",
        "https://api.tavily.com/extract",
        {"urls": ASKED},
        {"results": [{"url": ASKED, "raw_content": MARKDOWN}], "failed_results": []},
        "fetch",
        final=ASKED,
    ),
    Case(
        "exa",
        "https://api.exa.ai/contents",
        {"ids": [ASKED], "text": True},
        {"requestId": "r", "results": [{"id": ASKED, "url": ASKED, "text": MARKDOWN}]},
        "fetch",
        final=ASKED,
    ),
    Case(
        "linkup",
        "https://api.linkup.so/v1/fetch",
        {"url": ASKED},
        {"markdown": MARKDOWN},
        "fetch",
    ),
    Case(
        "you",
        "https://ydc-index.io/v1/contents",
        {"urls": [ASKED], "formats": ["markdown"]},
        [{"url": ASKED, "title": "A page", "markdown": MARKDOWN}],
        "fetch",
        final=ASKED,
    ),
    Case(
        "parallel",
        "https://api.parallel.ai/v1beta/extract",
        {"urls": [ASKED], "full_content": True},
        {"results": [{"url": ASKED, "full_content": MARKDOWN, "excerpts": ["x"]}]},
        "fetch",
        final=ASKED,
    ),
    Case(
        "diffbot",
        f"https://api.diffbot.com/v3/article?token=k&url={ASKED}",
        None,
        {"objects": [{"pageUrl": ASKED, "resolvedPageUrl": FINAL, "html": PAGE, "text": "x"}]},
        "fetch",
        body=PAGE,
        final=FINAL,
        method="GET",
    ),
    Case(
        "spider",
        "https://api.spider.cloud/scrape",
        {"url": ASKED, "return_format": "markdown"},
        [{"content": MARKDOWN, "status": 200, "url": ASKED, "error": None}],
        "crawl",
        status=200,
        final=ASKED,
    ),
    Case(
        "scrapegraph",
        "https://api.scrapegraphai.com/v1/markdownify",
        {"website_url": ASKED},
        {"request_id": "r", "status": "completed", "website_url": ASKED, "result": MARKDOWN},
        "crawl",
        final=ASKED,
    ),
    Case(
        "steel",
        "https://api.steel.dev/v1/scrape",
        {"url": ASKED},
        {"content": {"html": PAGE}, "metadata": {"statusCode": 200, "urlSource": ASKED}},
        "browser",
        body=PAGE,
        status=200,
        final=ASKED,
    ),
]
HOSTS = sorted({httpx.URL(case.url).host for case in CASES})


@pytest.fixture
def agent(
    web: LocalWeb, sink: HttpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    with Internet(dict.fromkeys(HOSTS, web.authority), tmp_path) as internet:
        for name, value in internet.variables.items():
            monkeypatch.setenv(name, value)
        instrument("reader", endpoint=sink.url)
        with httpx.Client() as client:
            yield client


def answers(web: LocalWeb, url: str, answer: object, **more: Any) -> None:
    is_text = isinstance(answer, str)
    kind = "text/html; charset=utf-8" if answer == PAGE else "text/plain; charset=utf-8"
    body = str(answer) if is_text else json.dumps(answer)
    path = httpx.URL(url).path
    web.pages[path] = lambda _: Answer(
        body=body.encode(), content_type=kind if is_text else "application/json", **more
    )


def fetches(sink: HttpSink) -> list[SunkSpan]:
    assert flush()
    return [span for span in sink.spans if span.name.startswith("execute_tool ")]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case.name}" for n, case in enumerate(CASES)])
def test_the_span_tells_of_the_page_and_names_the_api(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client, case: Case
) -> None:
    answers(web, case.url, case.answer, headers=dict(case.headers))
    agent.request(case.method, case.url, json=case.asked)
    (span,) = fetches(sink)
    found = span.attributes
    asked = f"{ASKED}?x=1" if "x=1" in case.url else ASKED
    assert span.name == f"execute_tool {case.adapter}"
    assert found["seekwatch.fetch.api"] == case.name
    assert found["seekwatch.fetch.adapter"] == case.adapter
    assert found["seekwatch.fetch.action"] == "read"
    assert found["http.request.method"] == "GET"
    assert found["url.full"] == asked
    assert found.get("seekwatch.fetch.final_url") == case.final
    assert found["retrieval.source_url"] == (case.final or asked)
    assert found["server.address"] == httpx.URL(case.url).host
    assert found.get("http.response.status_code") == case.status
    assert found.get("error.type") == ("404" if case.status == 404 else None)
    assert body_of(span) == case.body
    wanted = "text/html" if case.body == PAGE else "text/markdown"
    if case.name != "zyte" and not isinstance(case.answer, str):
        assert found["seekwatch.content.type"] == f"{wanted}; charset=utf-8"
    # What the API says of its own answer is not said of the page.
    assert not [name for name in found if name.startswith("http.response.header.")]


def test_each_page_of_one_answer_is_a_span_of_its_own(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    urls = [f"https://news.example/{n}" for n in range(3)]
    answers(
        web,
        "https://api.tavily.com/extract",
        {
            "results": [{"url": url, "raw_content": f"text of {url}"} for url in urls[1::-1]],
            "failed_results": [{"url": urls[2], "error": "timeout"}],
        },
    )
    agent.post("https://api.tavily.com/extract", json={"urls": urls})
    spans = {span.attributes["url.full"]: span for span in fetches(sink)}
    assert list(spans) == [urls[1], urls[0], urls[2]]
    assert [body_of(spans[url]) for url in urls[:2]] == [f"text of {url}" for url in urls[:2]]
    assert spans[urls[2]].attributes["error.type"] == "fetch-failed"
    assert [spans[url].status for url in urls] == [0, 0, 2]
    assert len({(span.start_ns, span.end_ns, span.parent_id) for span in spans.values()}) == 1


def test_a_page_that_was_asked_for_by_an_id_has_the_address_that_the_api_tells(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    answers(web, "https://api.exa.ai/contents", {"results": [{"url": ASKED, "text": MARKDOWN}]})
    agent.post("https://api.exa.ai/contents", json={"ids": ["8U71IlQ5DUTdsherhhYA9Q"]})
    (span,) = fetches(sink)
    assert span.attributes["url.full"] == ASKED


def test_a_page_out_of_the_apis_cache_says_so(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    metadata = {"sourceURL": ASKED, "statusCode": 200, "cacheState": "hit"}
    answers(
        web,
        "https://api.firecrawl.dev/v2/scrape",
        {"data": {"markdown": MARKDOWN, "metadata": metadata}},
    )
    agent.post("https://api.firecrawl.dev/v2/scrape", json={"url": ASKED})
    (span,) = fetches(sink)
    assert span.attributes["seekwatch.fetch.from_cache"] is True
    assert span.attributes["seekwatch.fetch.adapter"] == "cache"


def test_a_crawl_brings_its_pages_when_it_is_completed(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    url = "https://api.firecrawl.dev/v2/crawl/1"
    pages = [{"markdown": MARKDOWN, "metadata": {"sourceURL": f"{ASKED}{n}"}} for n in range(2)]
    answers(web, url, {"status": "scraping", "data": pages[:1]})
    agent.get(url)
    answers(web, url, {"status": "completed", "data": pages})
    agent.get(url)
    waited, *told = fetches(sink)
    assert waited.attributes["url.full"] == url
    assert "seekwatch.content.body" not in waited.attributes
    assert [span.attributes["url.full"] for span in told] == [f"{ASKED}0", f"{ASKED}1"]


@pytest.mark.parametrize("status", [402, 403, 404, 500])
def test_the_refusal_of_an_api_is_not_the_pages(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client, status: int
) -> None:
    """Else a wrong key would be a page that denied access, and a wrong path a dead link."""
    answers(web, "https://api.zyte.com/v1/extract", {"title": "no"}, status=status)
    agent.post("https://api.zyte.com/v1/extract", json={"url": ASKED})
    (span,) = fetches(sink)
    assert span.attributes["url.full"] == ASKED
    assert "http.response.status_code" not in span.attributes
    assert span.attributes["error.type"] == str(status)
    assert span.status == 2
    assert "seekwatch.content.body" not in span.attributes


def test_an_api_that_cannot_be_reached_is_a_failed_fetch_of_the_page(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    web.pages["/v1/extract"] = lambda _: Answer(body=b"{}", cut=1)
    with pytest.raises(httpx.RemoteProtocolError):
        agent.post("https://api.zyte.com/v1/extract", json={"url": ASKED})
    (span,) = fetches(sink)
    assert span.attributes["url.full"] == ASKED
    assert span.attributes["error.type"] == "RemoteProtocolError"


def test_an_answer_of_an_unknown_shape_brings_no_page(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    answers(web, "https://api.linkup.so/v1/fetch", {"something": "else"})
    agent.post("https://api.linkup.so/v1/fetch", json={"url": ASKED})
    (span,) = fetches(sink)
    assert span.attributes["url.full"] == ASKED
    assert span.attributes["seekwatch.content.omitted_reason"] == "unknown-shape"


@pytest.mark.parametrize(("status", "told"), [(404, 404), (403, None), (500, None)])
def test_of_the_statuses_that_an_api_passes_on_only_the_pages_own_are_told(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client, status: int, told: int | None
) -> None:
    url = f"https://api.scraperapi.com/?api_key=k&url={ASKED}"
    answers(web, url, PAGE, status=status)
    agent.get(url)
    (span,) = fetches(sink)
    assert span.attributes.get("http.response.status_code") == told
    assert ("seekwatch.content.body" in span.attributes) is (told is not None)


@pytest.mark.parametrize("status", ["\u00b2", "9999999999999999999", "-1", "two", [200], 1e999])
def test_a_status_that_is_none_is_not_told(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client, status: object
) -> None:
    metadata = {"sourceURL": ASKED, "statusCode": status}
    answer = {"data": {"markdown": MARKDOWN, "metadata": metadata}}
    answers(web, "https://api.firecrawl.dev/v2/scrape", answer)
    agent.post("https://api.firecrawl.dev/v2/scrape", json={"url": ASKED})
    (span,) = fetches(sink)
    assert "http.response.status_code" not in span.attributes
    assert body_of(span) == MARKDOWN


def test_an_answer_that_is_nested_too_deeply_brings_no_page(
    web: LocalWeb, sink: HttpSink, agent: httpx.Client
) -> None:
    deep = b'{"data": ' + b"[" * 100_000
    web.pages["/v2/scrape"] = lambda _: Answer(body=deep, content_type="application/json")
    agent.post("https://api.firecrawl.dev/v2/scrape", json={"url": ASKED})
    (span,) = fetches(sink)
    assert span.attributes["url.full"] == ASKED
    assert span.attributes["seekwatch.content.omitted_reason"] == "unknown-shape"
    assert "seekwatch.content.body" not in span.attributes


def test_other_calls_are_left_alone() -> None:
    index = FetchApiIndex()
    assert index.find("POST", "api.firecrawl.dev", None, "/v2/crawl") is None
    assert index.find("GET", "api.firecrawl.dev", None, "/v2/scrape") is None
    assert index.find("POST", "localhost", 8000, "/crawl") is None
    assert index.find("GET", "news.example", None, "/content") is None
    found = index.find("POST", "localhost", 11235, "/crawl")
    assert found is not None
    assert found.name == "crawl4ai"


def test_a_wrong_entry_is_refused_with_its_name_and_value() -> None:
    with pytest.raises(ValueError, match=r"'mine'.*'url'.*param:"):
        FetchApi(name="mine", hosts=("a",), target=("url",))
    with pytest.raises(ValueError, match=r"'mine'.*'content'.*html"):
        FetchApi(name="mine", hosts=("a",), body=("content",))


def test_every_built_in_entry_is_tried_here() -> None:
    assert {case.name for case in CASES} == {api.name for api in BUILT_IN}
