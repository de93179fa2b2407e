"""Searches by the client libraries that agents use, against their real addresses."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
from ddgs import ddgs
from ddgs.exceptions import DDGSException
from tavily import AsyncTavilyClient, TavilyClient  # pyright: ignore[reportMissingTypeStubs]

from seekwatch.sdk import flush, instrument, uninstrument
from tests.services.internet import Internet
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import PAGE, Answer, LocalWeb

QUERY = "winter fair 2026"
HOSTS = (
    "api.tavily.com",
    "serpapi.com",
    "s.jina.ai",
    "lite.duckduckgo.com",
    "api.linkup.so",
    "api.parallel.ai",
    "kagi.com",
    "www.searchapi.io",
    "api.valyu.ai",
    "app.scrapingbee.com",
    "api.firecrawl.dev",
)


@pytest.fixture(autouse=True)
def agent(
    web: LocalWeb, sink: HttpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    with Internet(dict.fromkeys(HOSTS, web.authority), tmp_path) as internet:
        for name, value in internet.variables.items():
            monkeypatch.setenv(name, value)
        instrument("searcher", endpoint=sink.url)
        yield


def says(web: LocalWeb, path: str, answer: object) -> None:
    body = answer if isinstance(answer, str) else json.dumps(answer)
    kind = "text/html" if isinstance(answer, str) else "application/json"
    web.pages[path] = lambda _: Answer(body=body.encode(), content_type=kind)


def searched(sink: HttpSink) -> SunkSpan:
    assert flush()
    return sink.one("RETRIEVER")


def found(span: SunkSpan) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json.loads(span.attributes["gen_ai.retrieval.documents"])
    return documents


def tavily_answer(**more: Any) -> dict[str, Any]:
    result = {"url": "https://a.example/", "title": "A", "content": "c", "score": 0.9, **more}
    return {"query": QUERY, "results": [result], "response_time": 1}


def test_tavilys_client_is_seen_by_its_wire_call(web: LocalWeb, sink: HttpSink) -> None:
    says(web, "/search", tavily_answer(published_date="2026-11-20"))
    client: Any
    with TavilyClient("tvly-k") as client:
        client.search(QUERY, max_results=3)
    span = searched(sink)
    assert span.attributes["seekwatch.search.provider"] == "tavily"
    assert span.attributes["search.query"] == QUERY
    assert span.attributes["gen_ai.retrieval.top_k"] == 3
    assert found(span)[0]["published_date"] == "2026-11-20"
    assert "seekwatch.search.missing" not in span.attributes


def test_a_provider_without_dates_is_said_to_have_none(web: LocalWeb, sink: HttpSink) -> None:
    async def search() -> None:
        client: Any = AsyncTavilyClient("tvly-k")
        await client.search(QUERY)
        await client.close()

    says(web, "/search", tavily_answer())
    asyncio.run(search())
    span = searched(sink)
    assert span.attributes["seekwatch.search.missing"] == ["dates"]
    assert "published_date" not in found(span)[0]


def test_results_without_addresses_are_said_to_have_none(web: LocalWeb, sink: HttpSink) -> None:
    says(web, "/search", {"results": [{"title": "A", "published_date": "2026-11-20"}]})
    client: Any
    with TavilyClient("tvly-k") as client:
        client.search(QUERY)
    assert searched(sink).attributes["seekwatch.search.missing"] == ["urls"]


def test_serpapis_client_is_seen_by_its_wire_call(web: LocalWeb, sink: HttpSink) -> None:
    # As `google-search-results` sends it; that package brings a `tests` of its own.
    hit = {"position": 1, "title": "A", "link": "https://a.example/", "date": "3 days ago"}
    says(web, "/search", {"organic_results": [hit]})
    asked = {"q": QUERY, "api_key": "k", "num": "2", "source": "python", "engine": "google"}
    requests.get("https://serpapi.com/search", {**asked, "output": "json"}, timeout=10)
    span = searched(sink)
    assert span.attributes["seekwatch.search.provider"] == "serpapi"
    assert span.attributes["search.query"] == QUERY
    assert found(span)[0]["recency_days"] == pytest.approx(3, abs=0.1)


class Engine:
    """What ddgs asks, in the place of the engines of the web: those answer nobody here."""

    name = provider = "local"
    priority = 1

    def __init__(self, **_: object) -> None:
        pass

    def search(self, query: str, **_: object) -> list[Any]:
        from ddgs.results import NewsResult, TextResult

        if query == "nothing":
            return []
        if query == "news":
            return [NewsResult(title="A", url="https://a.example/", date="2026-11-20", body="b")]
        return [TextResult(title=query, href="https://a.example/", body="winter fair")]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = {kind: {"local": Engine} for kind in ("text", "news")}
    monkeypatch.setattr(ddgs, "ENGINES", engines)


@pytest.mark.usefixtures("engines")
def test_ddgs_is_seen_by_its_methods(sink: HttpSink) -> None:
    results = ddgs.DDGS().text(QUERY, max_results=4)
    assert [result["href"] for result in results] == ["https://a.example/"]
    span = searched(sink)
    assert span.name == "retrieval ddgs"
    assert span.attributes["search.query"] == QUERY
    assert span.attributes["gen_ai.retrieval.top_k"] == 4
    assert span.attributes["seekwatch.search.missing"] == ["dates"]
    (document,) = found(span)
    assert (document["url"], document["content"]) == ("https://a.example/", "winter fair")


@pytest.mark.usefixtures("engines")
def test_news_by_ddgs_have_dates(sink: HttpSink) -> None:
    ddgs.DDGS().news("news")
    span = searched(sink)
    assert found(span)[0]["published_date"].startswith("2026-11-20")
    assert "seekwatch.search.missing" not in span.attributes


@pytest.mark.usefixtures("engines")
def test_a_search_by_ddgs_that_fails_is_an_error(sink: HttpSink) -> None:
    with pytest.raises(DDGSException, match="No results"):
        ddgs.DDGS().text("nothing")
    span = searched(sink)
    assert span.attributes["error.type"] == "DDGSException"
    assert span.status == 2


def test_uninstrument_leaves_ddgs_as_it_was() -> None:
    wrapped = vars(ddgs.DDGS)["text"]
    uninstrument()
    assert vars(ddgs.DDGS)["text"] is wrapped.__wrapped__


def test_a_page_of_results_for_people_is_a_search_that_was_not_read(
    web: LocalWeb, sink: HttpSink
) -> None:
    says(web, "/lite/", PAGE)
    requests.get("https://lite.duckduckgo.com/lite/", params={"q": QUERY}, timeout=10)
    span = searched(sink)
    assert span.attributes["search.query"] == QUERY
    assert span.attributes["seekwatch.search.unread_reason"] == "html"


def test_words_in_the_path_are_the_query(web: LocalWeb, sink: HttpSink) -> None:
    says(web, "/winter%20fair%202026", {"data": [{"url": "https://a.example/", "title": "A"}]})
    httpx.get(f"https://s.jina.ai/{QUERY.replace(' ', '%20')}")
    assert searched(sink).attributes["search.query"] == QUERY


def test_an_answer_that_was_closed_early_says_so(web: LocalWeb, sink: HttpSink) -> None:
    big = json.dumps({"results": [{"url": f"https://a.example/{n}"} for n in range(9999)]})
    web.pages["/search"] = lambda _: Answer(body=big.encode(), chunks=20, pause=0.01)
    with httpx.stream("POST", "https://api.tavily.com/search", json={"query": QUERY}) as response:
        next(response.iter_bytes())
    assert searched(sink).attributes["seekwatch.search.unread_reason"] == "closed-early"


HIT = {"url": "https://a.example/", "title": "A"}
CALLS: list[tuple[str, str, str, dict[str, Any], object]] = [
    (
        "linkup",
        "POST",
        "https://api.linkup.so/v1/search",
        {"json": {"q": QUERY, "depth": "standard", "outputType": "searchResults"}},
        {"results": [{"type": "text", "name": "A", "url": HIT["url"], "content": "c"}]},
    ),
    (
        "parallel",
        "POST",
        "https://api.parallel.ai/v1beta/search",
        {"json": {"objective": QUERY, "search_queries": ["x"]}},
        {"results": [{**HIT, "publish_date": "2026-11-20", "excerpts": ["c"]}]},
    ),
    (
        "kagi",
        "GET",
        "https://kagi.com/api/v0/search",
        {"params": {"q": QUERY}},
        {"data": [{"t": 0, **HIT, "snippet": "c"}, {"t": 1, "list": ["related"]}]},
    ),
    (
        "kagi",
        "POST",
        "https://kagi.com/api/v1/search",
        {"json": {"query": QUERY, "limit": 2}},
        {
            "data": {
                "search": [{**HIT, "snippet": "c", "time": "2026-11-20"}],
                "related_search": [HIT],
            }
        },
    ),
    (
        "scrapingbee",
        "GET",
        "https://app.scrapingbee.com/api/v1/store/google",
        {"params": {"search": QUERY, "nb_results": 2}},
        {"organic_results": [{**HIT, "description": "c", "date": "2 days ago"}]},
    ),
    (
        "searchapi",
        "GET",
        "https://www.searchapi.io/api/v1/search",
        {"params": {"engine": "google", "q": QUERY}},
        {"organic_results": [{"title": "A", "link": HIT["url"], "snippet": "c"}]},
    ),
    (
        "valyu",
        "POST",
        "https://api.valyu.ai/v1/deepsearch",
        {"json": {"query": QUERY, "max_num_results": 2}},
        {"success": True, "results": [{**HIT, "content": "c", "relevance_score": 0.5}]},
    ),
    (
        "firecrawl",
        "POST",
        "https://api.firecrawl.dev/v2/search",
        {"json": {"query": QUERY, "limit": 2}},
        {"success": True, "data": {"web": [{**HIT, "description": "c"}]}},
    ),
]


@pytest.mark.parametrize("call", CALLS, ids=[call[0] for call in CALLS])
def test_newer_search_apis_are_read_in_their_documented_shapes(
    web: LocalWeb, sink: HttpSink, call: tuple[str, str, str, dict[str, Any], object]
) -> None:
    name, method, url, asked, answer = call
    says(web, httpx.URL(url).path, answer)
    httpx.request(method, url, **asked)
    span = searched(sink)
    assert span.attributes["seekwatch.search.provider"] == name
    assert span.attributes["search.query"] == QUERY
    (document,) = found(span)
    assert (document["url"], document["title"]) == (HIT["url"], "A")
    assert document["content"] == "c"
