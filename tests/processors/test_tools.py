from typing import Any

import pytest

from seekwatch.core.model import Adapter
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.otlp.view import Group, SpanView
from seekwatch.core.records import Signal
from seekwatch.core.redaction import Redactor
from seekwatch.core.testing import span, traces_request
from seekwatch.processors.dialects.base import SpanFacts
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.tools import TOOL_ERROR, ToolCall, adapter_of, read_tool

URL = "https://a.example/x"
HITS = [{"url": URL, "title": "T"}]


def _facts(name: str, arguments: Any, result: Any = None) -> SpanFacts:
    item = raw_items(traces_request([span("tool")]), Signal.TRACES)[0]
    facts = SpanFacts(SpanView(item.raw, Group(item.resource, item.scope)), "test")
    read_tool(facts, ToolCall(name, arguments, result, "in", "out"), Cleaner(Redactor()))
    return facts


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("web_search", {"query": "q"}),
        ("tavily", "q"),
        ("web_search", '{"query": "q"}'),
        ("web_search", "{'query': 'q'}"),
        ("web_search", {"args": [], "kwargs": {"query": "q"}}),
        ("web_search", {"inputs": {"search_term": "q"}}),
        ("Web-web_search", {"input": '{"query": "q"}'}),
        ("lookup", {"q": "q"}),
    ],
)
def test_a_search_tool_is_known_by_name_or_by_its_result(name: str, arguments: Any) -> None:
    facts = _facts(name, arguments, HITS)
    (search,) = facts.searches
    assert search.query == "q"
    assert search.results is not None
    assert search.results[0].url == URL
    assert facts.fetches == []


@pytest.mark.parametrize(
    "arguments",
    [URL, {"url": URL}, f'{{"url": "{URL}"}}', {"kwargs": {"urls": [URL]}}, {"args": [URL]}],
)
def test_a_tool_with_a_url_fetches(arguments: Any) -> None:
    facts = _facts("read", arguments, "<title>T</title><p>words</p>")
    (fetch,) = facts.fetches
    assert fetch.url == URL
    assert fetch.page is not None
    assert (fetch.page.title, fetch.page.text) == ("T", "words")
    assert facts.searches == []


@pytest.mark.parametrize(
    ("result", "status", "error"),
    [
        ("ERROR: 404 Not Found", 404, "404"),
        ("Failed to fetch", None, TOOL_ERROR),
        ("HTTP 503", 503, "503"),
        ("Errors of the past are the theme of this page. " * 30, None, None),
    ],
)
def test_an_error_handed_to_the_model_as_text_is_an_error(
    result: str, status: int | None, error: str | None
) -> None:
    (fetch,) = _facts("fetch_page", {"url": URL}, result).fetches
    assert (fetch.status, fetch.error) == (status, error)
    assert (fetch.page is None) is (error is not None)


def test_a_search_that_failed_or_could_not_be_read_is_not_empty() -> None:
    (failed,) = _facts("web_search", {"query": "q"}, "Error: 429 Too Many Requests").searches
    assert (failed.results, failed.error, failed.unread_reason) == (None, TOOL_ERROR, None)
    (unread,) = _facts("web_search", {"query": "q"}, "some words").searches
    assert (unread.results, unread.unread_reason) == (None, "unknown-shape")
    (empty,) = _facts("web_search", {"query": "q"}, "[]").searches
    assert empty.results == ()


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("calculator", {"expression": "1+1"}, "2"),
        ("handoff to search_agent", "triage", "search_agent"),
        ("transfer_to_search", {}, None),
        ("weather", {"query": "Oslo"}, {"temperature": 3}),
    ],
)
def test_other_tools_are_neither(name: str, arguments: Any, result: Any) -> None:
    facts = _facts(name, arguments, result)
    assert (facts.searches, facts.fetches) == ([], [])


@pytest.mark.parametrize(
    ("name", "adapter"),
    [
        ("fetch_page", Adapter.FETCH),
        ("playwright_navigate", Adapter.BROWSER),
        ("browser_open", Adapter.BROWSER),
        ("crawl_site", Adapter.CRAWL),
        ("stealth_browser", Adapter.STEALTH),
        ("cached_fetch", Adapter.CACHE),
        ("firecrawl_scrape", Adapter.CRAWL),
        ("crawl4ai", Adapter.CRAWL),
        ("spider_scrape", Adapter.CRAWL),
        ("scrape_website", Adapter.FETCH),
        ("Read website content", Adapter.FETCH),
        ("web_fetch", Adapter.FETCH),
        ("visit_webpage", Adapter.FETCH),
        ("jina_reader", Adapter.FETCH),
        ("tavily_extract", Adapter.FETCH),
        ("browser_navigate", Adapter.BROWSER),
        ("navigate_browser", Adapter.BROWSER),
        ("go_to_url", Adapter.BROWSER),
        ("scrapingbee", Adapter.STEALTH),
        ("scraping_browser_navigate", Adapter.BROWSER),
        ("brightdata_unlocker", Adapter.STEALTH),
    ],
)
def test_the_adapter_follows_from_the_tools_name(name: str, adapter: Adapter) -> None:
    assert adapter_of(name) is adapter


@pytest.mark.parametrize(
    ("name", "adapter"),
    [
        ("firecrawl_scrape", Adapter.CRAWL),
        ("tavily_extract", Adapter.FETCH),
        ("browser_navigate", Adapter.BROWSER),
        ("exa_get_contents", Adapter.FETCH),
    ],
)
def test_a_page_reader_named_after_a_search_engine_fetches(name: str, adapter: Adapter) -> None:
    facts = _facts(name, {"url": URL, "query": "focus"}, "<title>T</title><p>words</p>")
    assert [fetch.adapter for fetch in facts.fetches] == [adapter]
    assert facts.searches == []
