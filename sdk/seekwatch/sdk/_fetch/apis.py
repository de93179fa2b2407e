"""Fetch APIs in declarative form: how to tell a call, which page it asks for, where the page is.

To ask a reader or scraper for a page is to fetch that page: what the agent reads and cites is the
page, so the span tells of it and names the API beside it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from seekwatch.sdk._search.patterns import Patterns

_REMEMBERED_HOSTS: Final = 1024
"""Hosts whose entries are remembered."""

Adapter = Literal["cache", "fetch", "search", "crawl", "browser", "stealth"]

BODY_KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "base64": "",
}
"""How a body stands in an answer, and its type; what is base64 may be anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchApi:
    """One API that fetches pages.

    Example:
        >>> FetchApi(
        ...     name="reader",
        ...     hosts=("reader.example.com",),
        ...     target=("json:url",),
        ...     pages=("data",),
        ...     body=("markdown:content",),
        ... ).adapter
        'fetch'
    """

    name: str
    """Lower case; it becomes `seekwatch.fetch.api`."""
    hosts: tuple[str, ...]
    """A host, `*.domain`, or `*:port` for what people run themselves."""
    paths: tuple[str, ...] = ("*",)
    """URL paths with shell wildcards."""
    methods: tuple[str, ...] = ("GET", "POST")
    adapter: Adapter = "fetch"
    target: tuple[str, ...] = ()
    """Where the call names the page, or a list of them: `param:NAME`, `json:PATH`, or `path:` for
    a URL that is the path; the first that is there counts. None where only the answer does."""
    pages: tuple[str, ...] = ()
    """Dotted paths to a page or a list of pages in a JSON answer, `` for the whole answer; the
    first that is there counts. An answer that is no JSON is the page itself."""
    when: tuple[str, str] | None = None
    """A dotted path in the answer and the value without which it has no pages yet."""
    failed: str = ""
    """Dotted path to a list of pages that could not be fetched."""
    body: tuple[str, ...] = ()
    """`KIND:PATH` inside a page, best first; for the kinds see `BODY_KINDS`."""
    url: tuple[str, ...] = ("url",)
    """Where the page came from in the end: dotted paths inside it, `header:NAME` of the answer."""
    status: tuple[str, ...] = ()
    """The page's own status, in the same way."""
    cached: tuple[str, str] | None = None
    """A dotted path inside a page and the value by which it came out of a cache."""
    passed: frozenset[int] = frozenset()
    """Statuses of the answer that are the page's own; every other is the API's about the call."""

    def __post_init__(self) -> None:
        for place in self.target:
            if place.partition(":")[0] not in {"param", "json", "path"}:
                raise ValueError(
                    f"fetch API {self.name!r}: {place!r} must begin with param:, json: or path:"
                )
        for place in self.body:
            if place.partition(":")[0] not in BODY_KINDS:
                raise ValueError(
                    f"fetch API {self.name!r}: {place!r} must begin with one of "
                    f"{', '.join(BODY_KINDS)}"
                )


_FIRECRAWL: Final = ("api.firecrawl.dev", "*:3002")
_FIRECRAWL_BODY: Final = ("html:rawHtml", "html:html", "markdown:markdown")
_CRAWL4AI: Final = ("*:11235",)
_CLOUDFLARE: Final = "/client/v4/accounts/*/browser-rendering/"

BUILT_IN: Final[tuple[FetchApi, ...]] = (
    FetchApi(
        name="firecrawl",
        hosts=_FIRECRAWL,
        paths=("/v0/scrape", "/v1/scrape", "/v2/scrape"),
        methods=("POST",),
        adapter="crawl",
        target=("json:url",),
        pages=("data",),
        body=_FIRECRAWL_BODY,
        url=("metadata.url", "metadata.sourceURL"),
        status=("metadata.statusCode", "metadata.pageStatusCode"),
        cached=("metadata.cacheState", "hit"),
    ),
    FetchApi(
        # The end of a crawl; what starts one brings no page.
        name="firecrawl",
        hosts=_FIRECRAWL,
        paths=("/v[12]/crawl/*", "/v[12]/batch/scrape/*"),
        methods=("GET",),
        adapter="crawl",
        pages=("data",),
        when=("status", "completed"),
        body=_FIRECRAWL_BODY,
        url=("metadata.url", "metadata.sourceURL"),
        status=("metadata.statusCode",),
        cached=("metadata.cacheState", "hit"),
    ),
    FetchApi(
        # Plain text where the agent does not ask for JSON.
        name="jina-reader",
        hosts=("r.jina.ai", "eu.r.jina.ai"),
        target=("path:", "json:url", "param:url"),
        pages=("data",),
        body=("html:html", "markdown:content", "text:text"),
    ),
    FetchApi(
        name="scrapingbee",
        hosts=("app.scrapingbee.com",),
        paths=("/api/v1", "/api/v1/"),
        adapter="stealth",
        target=("param:url",),
        pages=("",),
        body=("html:body",),
        url=("resolved-url", "header:spb-resolved-url"),
        status=("initial-status-code", "header:spb-initial-status-code"),
    ),
    FetchApi(
        name="scraperapi",
        hosts=("api.scraperapi.com",),
        paths=("", "/"),
        adapter="stealth",
        target=("param:url",),
        url=("header:sa-final-url",),
        # The page's own, where it differs from the answer's.
        status=("header:sa-statuscode",),
        # Others are about the account, the limits, or fetches that went on failing.
        passed=frozenset({200, 404}),
    ),
    FetchApi(
        name="crawlbase",
        hosts=("api.crawlbase.com", "api.proxycrawl.com"),
        paths=("", "/"),
        adapter="stealth",
        target=("param:url",),
        pages=("",),
        body=("html:body",),
        url=("url", "header:url"),
        status=("original_status", "header:original_status"),
    ),
    FetchApi(
        name="zyte",
        hosts=("api.zyte.com",),
        paths=("/v1/extract",),
        methods=("POST",),
        adapter="stealth",
        target=("json:url",),
        pages=("",),
        body=("html:browserHtml", "base64:httpResponseBody"),
        status=("statusCode",),
    ),
    FetchApi(
        name="brightdata",
        hosts=("api.brightdata.com",),
        paths=("/request",),
        methods=("POST",),
        adapter="stealth",
        target=("json:url",),
        pages=("",),
        body=("html:body",),
        status=("status_code",),
    ),
    FetchApi(
        name="browserless",
        hosts=("*.browserless.io",),
        paths=("*/unblock",),
        methods=("POST",),
        adapter="stealth",
        target=("json:url",),
        pages=("",),
        body=("html:content",),
    ),
    FetchApi(
        name="browserless",
        hosts=("*.browserless.io",),
        paths=("*/content",),
        methods=("POST",),
        adapter="browser",
        target=("json:url",),
        url=("header:x-response-url",),
        status=("header:x-response-code",),
    ),
    FetchApi(
        name="cloudflare-browser-rendering",
        hosts=("api.cloudflare.com",),
        paths=(f"{_CLOUDFLARE}content",),
        methods=("POST",),
        adapter="browser",
        target=("json:url",),
        pages=("",),
        body=("html:result",),
    ),
    FetchApi(
        name="cloudflare-browser-rendering",
        hosts=("api.cloudflare.com",),
        paths=(f"{_CLOUDFLARE}markdown",),
        methods=("POST",),
        adapter="browser",
        target=("json:url",),
        pages=("",),
        body=("markdown:result",),
    ),
    FetchApi(
        name="crawl4ai",
        hosts=_CRAWL4AI,
        paths=("/crawl",),
        methods=("POST",),
        adapter="crawl",
        target=("json:urls",),
        pages=("results",),
        body=(
            "html:html",
            "markdown:markdown.raw_markdown",
            "markdown:markdown",
            "html:cleaned_html",
        ),
        url=("redirected_url", "url"),
        status=("status_code",),
    ),
    FetchApi(
        name="crawl4ai",
        hosts=_CRAWL4AI,
        paths=("/md", "/html"),
        methods=("POST",),
        adapter="crawl",
        target=("json:url",),
        pages=("",),
        body=("markdown:markdown", "html:html"),
    ),
    FetchApi(
        name="tavily",
        hosts=("api.tavily.com",),
        paths=("/extract",),
        methods=("POST",),
        target=("json:urls",),
        pages=("results",),
        failed="failed_results",
        body=("markdown:raw_content",),
    ),
    FetchApi(
        name="exa",
        hosts=("api.exa.ai",),
        paths=("/contents",),
        methods=("POST",),
        target=("json:urls", "json:ids"),
        pages=("results",),
        body=("markdown:text", "text:summary", "text:highlights.0"),
    ),
    FetchApi(
        name="linkup",
        hosts=("api.linkup.so",),
        paths=("/v1/fetch",),
        methods=("POST",),
        target=("json:url",),
        pages=("",),
        body=("html:rawHtml", "markdown:markdown"),
    ),
    FetchApi(
        name="you",
        hosts=("ydc-index.io", "api.ydc-index.io"),
        paths=("/v1/contents",),
        methods=("POST",),
        target=("json:urls",),
        pages=("",),
        body=("html:html", "markdown:markdown"),
    ),
    FetchApi(
        name="parallel",
        hosts=("api.parallel.ai",),
        paths=("/v1beta/extract", "/v1/extract"),
        methods=("POST",),
        target=("json:urls",),
        pages=("results",),
        body=("markdown:full_content", "markdown:excerpts.0"),
    ),
    FetchApi(
        name="diffbot",
        hosts=("api.diffbot.com",),
        paths=("/v3/article", "/v3/analyze"),
        target=("param:url",),
        pages=("objects",),
        body=("html:html", "text:text"),
        url=("resolvedPageUrl", "pageUrl"),
    ),
    FetchApi(
        name="spider",
        hosts=("api.spider.cloud",),
        paths=("/scrape", "/crawl", "/v1/scrape", "/v1/crawl"),
        methods=("POST",),
        adapter="crawl",
        target=("json:url",),
        pages=("",),
        body=("markdown:content",),
        status=("status",),
    ),
    FetchApi(
        name="scrapegraph",
        hosts=("api.scrapegraphai.com",),
        paths=("/v1/markdownify",),
        methods=("POST",),
        adapter="crawl",
        target=("json:website_url",),
        pages=("",),
        when=("status", "completed"),
        body=("markdown:result",),
        url=("website_url",),
    ),
    FetchApi(
        name="steel",
        hosts=("api.steel.dev",),
        paths=("/v1/scrape",),
        methods=("POST",),
        adapter="browser",
        target=("json:url",),
        pages=("",),
        body=("html:content.html", "markdown:content.markdown", "html:content.cleaned_html"),
        url=("metadata.urlSource",),
        status=("metadata.statusCode",),
    ),
)


class FetchApiIndex:
    """Finds the fetch API that a call goes to; one look-up for the calls that go to none."""

    def __init__(self, apis: Iterable[FetchApi] = BUILT_IN) -> None:
        self._hosts: dict[str, list[_Entry]] = {}
        self._ports: dict[int, list[_Entry]] = {}
        self._suffixes: dict[str, list[_Entry]] = {}
        for api in apis:
            entry = _Entry(api, Patterns(api.paths))
            for host in api.hosts:
                if host.startswith("*:"):
                    self._ports.setdefault(int(host[2:]), []).append(entry)
                elif host.startswith("*."):
                    self._suffixes.setdefault(host[2:], []).append(entry)
                else:
                    self._hosts.setdefault(host, []).append(entry)
        self._at = lru_cache(maxsize=_REMEMBERED_HOSTS)(self._entries_at)

    def find(self, method: str, host: str, port: int | None, path: str) -> FetchApi | None:
        """Return the first entry that describes a call.

        Args:
            method: upper case.
            host: lower case.
            port: None for the scheme's own.
            path: decoded.
        """
        for api, paths in self._at(host, port):
            if method in api.methods and paths.fit(path):
                return api
        return None

    def _entries_at(self, host: str, port: int | None) -> "tuple[_Entry, ...]":
        found = self._hosts.get(host)
        if found is None and port is not None:
            found = self._hosts.get(f"{host}:{port}") or self._ports.get(port)
        if found is None:
            found = self._suffixes.get(host.partition(".")[2])
        return tuple(found or ())


class _Entry(NamedTuple):
    api: FetchApi
    paths: Patterns
