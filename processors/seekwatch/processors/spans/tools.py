"""Tool calls of any framework: was it a search, a fetch, or neither?

A tool searches when its name says so or its result is a list of web pages; it fetches when its
argument is a URL. Arguments and results come wrapped in many ways and are unwrapped here.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from seekwatch.core.model import Adapter, Fetch, Page, Provenance, Search
from seekwatch.core.otlp.view import SpanView
from seekwatch.processors.dialects.base import SpanFacts, error_of
from seekwatch.processors.pages.reader import Body, page_reader
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import extract_documents
from seekwatch.processors.spans.values import (
    MAX_DEPTH,
    as_list,
    as_mapping,
    as_text,
    opened,
)
from seekwatch.processors.urls import is_web_url

_SEARCH_NAME: Final = re.compile(
    r"(?i)search|tavily|(?<![a-z])exa(?![a-z])|brave|serp|google|bing|duckduckgo|retriev|perplexity"
)
_HAND_OVER: Final = re.compile(r"(?i)^(?:hand[-_ ]?offs?|transfer|delegate)[-_ ]")
"""Tools that pass the run to another agent, whose name may well say `search`."""
_FETCH_NAME: Final = re.compile(
    r"(?i)fetch|visit|open_?(?:url|page)|read_?(?:url|page|web)|browse|crawl|scrap(?:e|ing)|"
    r"navigate|extract|web_?page|go_?to_?(?:url|page)|goto|get_?contents|url_?context|unblock|"
    r"jina_?reader|markdownify|spider"
)
_ADAPTERS: Final = (
    (
        re.compile(
            r"(?i)stealth|undetected|unblock|patchright|camoufox|scraping[-_ ]?(?:bee|ant)|"
            r"scraper[-_ ]?api|scrapfly|zyte|bright[-_ ]?data|oxylabs"
        ),
        Adapter.STEALTH,
    ),
    (
        re.compile(
            r"(?i)brows|playwright|puppeteer|selenium|navigate|chrom|go_?to_?(?:url|page)|goto|"
            r"stagehand|(?<![a-z])steel(?![a-z])"
        ),
        Adapter.BROWSER,
    ),
    (re.compile(r"(?i)crawl|spider|scrapegraph"), Adapter.CRAWL),
    (re.compile(r"(?i)cache"), Adapter.CACHE),
)
_QUERY_KEYS: Final = (
    "query",
    "q",
    "search_query",
    "searchQuery",
    "search_term",
    "query_str",
    "question",
    "queries",
    "keywords",
    "keyword",
    "input",
    "text",
)
_URL_KEYS: Final = ("url", "urls", "link", "uri", "href", "page_url", "website", "website_url")
_ARGUMENT_WRAPPERS: Final = (
    "kwargs",
    "inputs",
    "arguments",
    "args",
    "input",
    "params",
    "tool_input",
    "query_bundle",
    "qb",
)
_TEXT_KEYS: Final = (
    "raw_content",
    "markdown",
    "html",
    "page_content",
    "content",
    "text",
    "body",
    "raw_output",
    "output",
    "result",
    "results",
    "structuredContent",
    "data",
    "kwargs",
    "value",
)
_FAILURE: Final = re.compile(
    r"(?i)^\W*(?:error|failed|failure|exception|traceback|http ?error|request failed|could not "
    r"(?:fetch|load|open)|unable to)|^\W*(?:HTTP )?[45]\d\d\b"
)
_STATUS: Final = re.compile(r"\b([45]\d\d)\b")
_MAX_FAILURE: Final = 600
"""Characters of a result that may be an error message; a page that begins so is longer."""
TOOL_ERROR: Final = "tool-error"
UNREADABLE: Final = "unknown-shape"


@dataclass(slots=True, frozen=True)
class ToolCall:
    """A tool call as a span tells it.

    Attributes:
        argument_key, result_key: where the two stood.
    """

    name: str
    arguments: Any
    result: Any
    argument_key: str
    result_key: str


def read_tool(facts: SpanFacts, call: ToolCall, cleaner: Cleaner) -> None:
    """Add what a tool call searched or fetched to its span's facts; other tools add nothing."""
    arguments = opened(call.arguments)
    url = url_argument(arguments)
    if _HAND_OVER.search(call.name):
        return
    searches = _SEARCH_NAME.search(call.name) is not None
    fetches = _FETCH_NAME.search(call.name) is not None
    query = query_argument(arguments)
    if url is not None and (fetches or not searches or query is None):
        facts.fetches.append(_fetch(facts.view, call, url, cleaner))
        return
    results = None
    if searches or (query is not None and not fetches):
        results = extract_documents(call.result, cleaner, facts.view.end, markdown=searches)
    if searches or results:
        facts.searches.append(_search(facts.view, call, query, results, cleaner))


def query_argument(value: Any, depth: int = 0) -> str | None:
    """Return the query out of a tool's or retriever's arguments; several are joined by lines."""
    value = opened(value)
    if isinstance(value, str):
        return as_text(value)
    if isinstance(value, list | tuple):
        texts = [item for item in as_list(value)[:50] if isinstance(item, str) and item.strip()]
        return "\n".join(texts) or None
    fields = as_mapping(value)
    if not fields or depth > MAX_DEPTH:
        return None
    for key in _QUERY_KEYS:
        found = fields.get(key)
        if isinstance(found, str) and found.strip() and not is_web_url(found):
            inner = opened(found)
            return found if isinstance(inner, str) else query_argument(inner, depth + 1)
        if isinstance(found, list) and found:
            joined = query_argument(found, depth + 1)
            if joined is not None:
                return joined
    for key in _ARGUMENT_WRAPPERS:
        if isinstance(fields.get(key), dict | list | tuple):
            inner_query = query_argument(fields[key], depth + 1)
            if inner_query is not None:
                return inner_query
    return None


def url_argument(value: Any, depth: int = 0) -> str | None:
    """Return the URL out of a tool's arguments; of several the first."""
    value = opened(value)
    if isinstance(value, str):
        text = value.strip()
        return text if is_web_url(text) and " " not in text else None
    if isinstance(value, list | tuple):
        items = as_list(value)
        return url_argument(items[0], depth + 1) if items and depth <= MAX_DEPTH else None
    fields = as_mapping(value)
    if not fields or depth > MAX_DEPTH:
        return None
    for key in (*_URL_KEYS, *_ARGUMENT_WRAPPERS):
        if key in fields:
            url = url_argument(fields[key], depth + 1)
            if url is not None:
                return url
    return None


def result_text(value: Any, depth: int = 0) -> str | None:
    """Return the text that a tool brought, unwrapped."""
    value = opened(value)
    if isinstance(value, str):
        return as_text(value)
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list | tuple):
        texts = (result_text(item, depth + 1) for item in as_list(value)[:100])
        return "\n".join(text for text in texts if text) or None
    fields = as_mapping(value)
    for key in _TEXT_KEYS:
        if key in fields:
            text = result_text(fields[key], depth + 1)
            if text is not None:
                return text
    return None


def _search(
    span: SpanView, call: ToolCall, query: str | None, results: Any, cleaner: Cleaner
) -> Search:
    failed = error_of(span, cleaner)
    if results is None and failed is None and looks_failed(result_text(call.result)):
        failed = TOOL_ERROR
    return Search(
        span=span.span_id,
        start=span.start,
        end=span.end,
        query=cleaner.optional(query),
        provider=cleaner.name(call.name),
        results=results,
        unread_reason=(
            UNREADABLE if results is None and call.result is not None and not failed else None
        ),
        error=failed,
        provenance=(
            None if query is None else Provenance(span=span.span_id, key=call.argument_key)
        ),
    )


def _fetch(span: SpanView, call: ToolCall, url: str, cleaner: Cleaner) -> Fetch:
    text = result_text(call.result)
    error, status, page = error_of(span, cleaner), None, None
    if looks_failed(text):
        code = _STATUS.search(text or "")
        status = int(code[1]) if code is not None else None
        error = error or (str(status) if status is not None else TOOL_ERROR)
    elif text is not None:
        page = _page(text, url, span, cleaner)
    return Fetch(
        span=span.span_id,
        start=span.start,
        end=span.end,
        adapter=adapter_of(call.name),
        url=cleaner.url(url),
        status=status,
        duration=max(0, span.end - span.start) / 1e9,
        error=error,
        page=page,
        retrieved_at=span.end if page is not None else None,
    )


def adapter_of(name: str) -> Adapter:
    """Tell by a tool's name how it gets pages."""
    for pattern, adapter in _ADAPTERS:
        if pattern.search(name):
            return adapter
    return Adapter.FETCH


def looks_failed(text: str | None) -> bool:
    """Tell whether a tool's result is an error message: agents hand those to the model as text."""
    return text is not None and len(text) <= _MAX_FAILURE and _FAILURE.search(text) is not None


def _page(text: str, url: str, span: SpanView, cleaner: Cleaner) -> Page:
    return page_reader(cleaner.redactor).page(
        Body(packed=text, url=url), retrieved_at=span.end, byte_count=None
    )
