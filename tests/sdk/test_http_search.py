import asyncio
import dataclasses
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import SpanLimits, TracerProvider

from seekwatch.sdk import SearchApi, agent_run, flush, instrument
from seekwatch.sdk._runtime import current
from seekwatch.sdk._search.apis import BUILT_IN
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import Answer, LocalWeb

QUERY = "winter fair 2026 opening hours"

# What each provider's client sends: name, method, path on the local web, where the query goes.
CALLS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("tavily", "POST", "/tavily/search", {"json": {"query": QUERY, "max_results": 2}}),
    ("brave", "GET", "/brave/res/v1/web/search", {"params": {"q": QUERY, "count": "2"}}),
    ("exa", "POST", "/exa/search", {"json": {"query": QUERY, "numResults": 2}}),
    (
        "serpapi",
        "GET",
        "/serpapi/search.json",
        {"params": {"q": QUERY, "num": "2", "api_key": "x"}},
    ),
    ("serper", "POST", "/serper/search", {"json": {"q": QUERY, "num": 2}}),
    ("bing", "GET", "/bing/v7.0/search", {"params": {"q": QUERY, "count": "2"}}),
    ("google-cse", "GET", "/google/customsearch/v1", {"params": {"q": QUERY, "num": "2"}}),
    ("perplexity", "POST", "/perplexity/search", {"json": {"query": QUERY, "max_results": 2}}),
    ("searxng", "GET", "/searxng/search", {"params": {"q": QUERY, "format": "json"}}),
    ("searxng", "POST", "/searxng/search", {"data": {"q": QUERY, "format": "json"}}),
    ("you", "GET", "/you/v1/search", {"params": {"query": QUERY, "count": "2"}}),
    ("jina", "POST", "/jina/", {"json": {"q": QUERY, "num": 2}}),
]


def local(name: str, web: LocalWeb, path: str) -> list[SearchApi]:
    """Return the built-in entries of a provider, served by the local web."""
    return [
        dataclasses.replace(api, hosts=(web.authority,), paths=(path,))
        for api in BUILT_IN
        if api.name == name
    ]


def spans(sink: HttpSink) -> tuple[SunkSpan, SunkSpan]:
    assert flush()
    return sink.one("RETRIEVER"), sink.one("TOOL")


def documents(span: SunkSpan) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(span.attributes["gen_ai.retrieval.documents"])
    return found


@pytest.mark.parametrize(
    ("name", "method", "path", "options"), CALLS, ids=[f"{c[0]}-{c[1]}" for c in CALLS]
)
def test_each_providers_call_is_a_retriever_span_over_a_tool_span(
    web: LocalWeb,
    sink: HttpSink,
    name: str,
    method: str,
    path: str,
    options: dict[str, Any],
) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=local(name, web, path))
    httpx.request(method, web.url + path, **options)
    retriever, wire = spans(sink)
    assert wire.parent_id == retriever.span_id
    found = retriever.attributes
    assert retriever.name == f"retrieval {name}"
    assert found["gen_ai.operation.name"] == "retrieval"
    assert found["search.query"] == found["gen_ai.retrieval.query.text"] == QUERY
    assert found["seekwatch.search.provider"] == found["gen_ai.data_source.id"] == name
    assert found["retrieval.source_type"] == "web"
    assert found["seekwatch.search.result_count"] == 2
    first, second = documents(retriever)
    assert first["url"] == first["id"] == "https://site1.example/article"
    assert (first["title"], first["rank"]) == ("Result 1", 1)
    assert second["rank"] == 2
    assert first["content"]
    day = datetime(2026, 11, 20, tzinfo=UTC)
    if name not in {"serper", "serpapi"}:
        age = (datetime.now(UTC) - day) / timedelta(days=1)
        assert first["recency_days"] == pytest.approx(age, abs=1)
    else:
        assert first["recency_days"] == pytest.approx(10, abs=0.01)
    assert found["retrieval.source_url"] == [first["url"], second["url"]]
    assert found["retrieval.source_recency_days"] == [first["recency_days"], second["recency_days"]]
    assert wire.attributes["seekwatch.fetch.adapter"] == "search"
    assert wire.attributes["seekwatch.fetch.action"] == "read"
    assert wire.attributes["seekwatch.content.omitted_reason"] == "search-results"
    assert "seekwatch.content.body" not in wire.attributes
    assert wire.attributes["seekwatch.content.hash"].startswith("sha256:")


def test_top_k_and_score_are_kept_where_the_provider_has_them(
    web: LocalWeb, sink: HttpSink
) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=local("tavily", web, "/tavily/search"))
    httpx.post(f"{web.url}/tavily/search", json={"query": QUERY, "max_results": 7})
    retriever, _ = spans(sink)
    assert retriever.attributes["gen_ai.retrieval.top_k"] == 7
    assert documents(retriever)[0]["score"] == 0.9


def test_the_flattened_form_stands_beside_the_json(web: LocalWeb, sink: HttpSink) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=local("tavily", web, "/tavily/search"))
    httpx.post(f"{web.url}/tavily/search", json={"query": QUERY})
    retriever, _ = spans(sink)
    prefix = "retrieval.documents.1.document."
    assert retriever.attributes[f"{prefix}id"] == "https://site2.example/article"
    assert retriever.attributes[f"{prefix}score"] == 0.8
    assert json.loads(retriever.attributes[f"{prefix}metadata"]) == {
        "url": "https://site2.example/article",
        "title": "Result 2",
        "published_date": "2026-11-20",
        "rank": 2,
        "provider": "tavily",
    }


def own(web: LocalWeb, path: str, **fields: Any) -> SearchApi:
    return SearchApi(
        name="own",
        hosts=(web.authority,),
        paths=(path,),
        query=("param:q", "json:question.text"),
        results=("results",),
        **fields,
    )


def test_forty_documents_fit_the_attribute_limit_and_the_json_is_complete(
    web: LocalWeb, sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "128")
    many = [
        {"url": f"https://s{n}.example/", "title": "t", "content": "c", "score": 1.0}
        for n in range(40)
    ]
    body = json.dumps({"results": many}).encode()
    web.pages["/many"] = lambda _: Answer(200, body, "application/json")
    instrument("searcher", endpoint=sink.url, search_apis=[own(web, "/many")])
    httpx.get(f"{web.url}/many", params={"q": QUERY})
    retriever, _ = spans(sink)
    assert retriever.dropped == 0
    assert len(retriever.attributes) <= 128
    assert len(documents(retriever)) == 40
    assert "retrieval.documents.20.document.id" in retriever.attributes
    assert "retrieval.documents.39.document.id" not in retriever.attributes


def test_an_api_of_the_users_own_is_described_in_one_entry(web: LocalWeb, sink: HttpSink) -> None:
    body = json.dumps({"hits": [{"a": {"href": "http://x.example/"}, "n": "T"}]}).encode()
    web.pages["/find"] = lambda _: Answer(200, body, "application/json")
    entry = SearchApi(
        name="intranet",
        hosts=(web.authority,),
        paths=("/find",),
        query=("json:question.text",),
        results=("hits",),
        url=("a.href",),
        title=("n",),
    )
    instrument("searcher", endpoint=sink.url, search_apis=[entry])
    httpx.post(f"{web.url}/find", json={"question": {"text": QUERY}})
    retriever, _ = spans(sink)
    assert retriever.attributes["search.query"] == QUERY
    assert documents(retriever) == [
        {"id": "http://x.example/", "url": "http://x.example/", "title": "T", "rank": 1}
    ]


def test_no_result_is_an_answer(web: LocalWeb, sink: HttpSink) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=[own(web, "/search/none")])
    httpx.get(f"{web.url}/search/none", params={"q": QUERY})
    retriever, _ = spans(sink)
    assert documents(retriever) == []
    assert retriever.attributes["seekwatch.search.result_count"] == 0
    assert "seekwatch.search.unread_reason" not in retriever.attributes


@pytest.mark.parametrize(
    ("path", "reason"), [("/search/html", "html"), ("/search/odd", "unknown-shape")]
)
def test_an_answer_that_cannot_be_read_says_why_and_is_carried(
    web: LocalWeb, sink: HttpSink, path: str, reason: str
) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=[own(web, path)])
    httpx.get(f"{web.url}{path}", params={"q": QUERY})
    retriever, wire = spans(sink)
    assert retriever.attributes["seekwatch.search.unread_reason"] == reason
    assert "gen_ai.retrieval.documents" not in retriever.attributes
    assert "seekwatch.content.body" in wire.attributes


def test_an_answer_that_is_nested_too_deeply_is_a_search_without_results(
    web: LocalWeb, sink: HttpSink
) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=[own(web, "/search/deep")])
    deep = b'{"results": ' + b"[" * 100_000
    web.pages["/search/deep"] = lambda _: Answer(body=deep, content_type="application/json")
    httpx.get(f"{web.url}/search/deep", params={"q": QUERY, "num": "\u00b2"})
    retriever, _ = spans(sink)
    assert retriever.attributes["search.query"] == QUERY
    assert retriever.attributes["seekwatch.search.unread_reason"] == "not-json"


@pytest.mark.parametrize(
    ("url", "kind", "reason"),
    [
        ("https://api.tavily.com/search", "RETRIEVER", "seekwatch.search.unread_reason"),
        ("https://api.openai.com/v1/responses", "LLM", "seekwatch.llm.unread_reason"),
    ],
)
def test_an_answer_for_which_there_was_no_room_says_so(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch, url: str, kind: str, reason: str
) -> None:
    instrument("searcher", endpoint=sink.url)
    runtime = current()
    assert runtime is not None
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={}))
    with monkeypatch.context() as patched, httpx.Client(transport=transport) as client:
        patched.setattr(runtime.finisher, "_max_jobs", 0)
        client.post(url, json={"query": "q", "model": "m"})
    assert flush()
    assert sink.one(kind).attributes[reason] == "queue-full"


def test_a_failing_search_is_an_error_without_results(web: LocalWeb, sink: HttpSink) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=[own(web, "/search/failing")])
    httpx.get(f"{web.url}/search/failing", params={"q": QUERY})
    retriever, wire = spans(sink)
    assert retriever.attributes["error.type"] == wire.attributes["error.type"] == "429"
    assert retriever.attributes["search.query"] == QUERY
    assert "gen_ai.retrieval.documents" not in retriever.attributes
    assert retriever.status == wire.status == 2


def test_a_search_that_never_connects_keeps_its_query(sink: HttpSink) -> None:
    entry = SearchApi(name="dead", hosts=("127.0.0.1:9",), query=("param:q",), results=("r",))
    instrument("searcher", endpoint=sink.url, search_apis=[entry])
    with pytest.raises(httpx.ConnectError):
        httpx.get("http://127.0.0.1:9/", params={"q": QUERY})
    retriever, _ = spans(sink)
    assert retriever.attributes["search.query"] == QUERY
    assert retriever.attributes["error.type"] == "ConnectError"


def test_async_and_streamed_searches_are_read_alike(web: LocalWeb, sink: HttpSink) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=local("brave", web, "/brave/*"))

    async def search() -> None:
        async with (
            httpx.AsyncClient(base_url=web.url) as client,
            client.stream("GET", "/brave/res/v1/web/search", params={"q": QUERY}) as response,
        ):
            await response.aread()

    asyncio.run(search())
    retriever, _ = spans(sink)
    assert len(documents(retriever)) == 2


def test_a_search_inside_a_run_belongs_to_it(web: LocalWeb, sink: HttpSink) -> None:
    instrument("searcher", endpoint=sink.url, search_apis=local("tavily", web, "/tavily/search"))
    with agent_run("q"):
        httpx.post(f"{web.url}/tavily/search", json={"query": QUERY})
    retriever, _ = spans(sink)
    assert retriever.parent_id == sink.one("AGENT").span_id


def test_the_sdk_sets_the_same_query_that_was_sent_even_with_odd_characters(
    web: LocalWeb, sink: HttpSink
) -> None:
    query = 'site:example.com "été" +2026 & a=b 东京'
    instrument("searcher", endpoint=sink.url, search_apis=[own(web, "/search/none")])
    httpx.get(f"{web.url}/search/none", params={"q": query})
    retriever, _ = spans(sink)
    assert retriever.attributes["search.query"] == query


def test_numbers_that_no_float_holds_leave_the_rest_of_the_result(sink: HttpSink) -> None:
    instrument("searcher", endpoint=sink.url)
    results = [{"url": "https://a.example/", "score": 10**400, "publishedDate": "now"}]
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"results": results}))
    with httpx.Client(transport=transport) as client:
        client.post("https://api.tavily.com/search", json={"query": "q"})
    assert flush()
    found = sink.one("RETRIEVER").attributes
    assert json.loads(found["gen_ai.retrieval.documents"]) == [
        {
            "id": "https://a.example/",
            "url": "https://a.example/",
            "published_date": "now",
            "rank": 1,
        }
    ]


@pytest.mark.parametrize("limit", [50, 500, 5_000])
def test_documents_under_a_short_value_limit_are_still_json(sink: HttpSink, limit: int) -> None:
    provider = TracerProvider(span_limits=SpanLimits(max_span_attribute_length=limit))
    instrument("searcher", endpoint=sink.url, tracer_provider=provider)
    results = [{"url": f"https://s{n}.example/", "content": "snow " * 50} for n in range(40)]
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"results": results}))
    with httpx.Client(transport=transport) as client:
        client.post("https://api.tavily.com/search", json={"query": "q"})
    assert flush()
    found = sink.one("RETRIEVER").attributes
    documents = json.loads(found["gen_ai.retrieval.documents"])
    assert [each["rank"] for each in documents] == list(range(1, len(documents) + 1))
    assert len(documents) == (40 if limit == 5_000 else len(documents))
    assert found["seekwatch.search.result_count"] == 40
