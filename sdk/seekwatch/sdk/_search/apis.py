"""Search APIs in declarative form: how to tell a call, where its query and its results are.

A search API is data, not code, so that a user's own engine is described as the built-in ones are.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple

from .patterns import Patterns, is_wild

Given = tuple[str, str]
"""The parameters of a URL, and of a form, both as they are encoded."""

_REMEMBERED_HOSTS: Final = 1024
"""Hosts whose entries are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchApi:
    """One web search API.

    `query` and `top_k` name where the call carries a value: `param:NAME` in the URL, `json:PATH`
    in a JSON body, `form:NAME` in a form body, `path:` for words that are the URL's path; the
    first that is there counts. `results` are
    dotted paths to lists of results in the JSON answer; all that are there are read, in order.
    The field names are dotted paths inside one result; the first that is there counts. A list is
    entered by number (`pagemap.metatags.0.date`).

    Example:
        >>> SearchApi(
        ...     name="intranet",
        ...     hosts=("search.example.com", "127.0.0.1:8080"),
        ...     paths=("/api/search",),
        ...     query=("param:q",),
        ...     results=("hits",),
        ...     url=("link",),
        ... ).name
        'intranet'
    """

    name: str
    """The provider's name, lower case; it becomes `gen_ai.data_source.id`."""
    hosts: tuple[str, ...]
    """Host, or `host:port`, with shell wildcards; a bare host stands for every port."""
    paths: tuple[str, ...] = ("*",)
    """URL paths with shell wildcards."""
    methods: tuple[str, ...] = ("GET", "POST")
    required: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a call must have: `param:NAME` or `form:NAME`, each with a shell wildcard (against the
    value as it is encoded)."""
    query: tuple[str, ...]
    top_k: tuple[str, ...] = ()
    results: tuple[str, ...]
    url: tuple[str, ...] = ("url", "link")
    title: tuple[str, ...] = ("title", "name")
    published: tuple[str, ...] = ("published_date", "publishedDate", "date")
    content: tuple[str, ...] = ("content", "snippet", "description", "text")
    score: tuple[str, ...] = ("score",)

    def __post_init__(self) -> None:
        texts = [name for name in _TUPLES if isinstance(getattr(self, name), str)]
        if texts:
            # As a sequence it would be one of letters.
            given = getattr(self, texts[0])
            raise ValueError(
                f"search API {self.name!r}: {texts[0]} {given!r} needs to be a tuple: ({given!r},)"
            )
        for place in (*self.query, *self.top_k, *self.required):
            if place.partition(":")[0] not in {"param", "json", "form", "path"}:
                raise ValueError(
                    f"search API {self.name!r}: {place!r} must begin with param:, json:, form: "
                    "or path:"
                )
        if not self.hosts or not self.query or not self.results:
            raise ValueError(f"search API {self.name!r} needs hosts, query and results")


_TUPLES: Final = ("hosts", "paths", "methods", "query", "top_k", "results", "url", "title")
_SNIPPET: Final = ("snippet", "description", "content", "text")

BUILT_IN: Final[tuple[SearchApi, ...]] = (
    SearchApi(
        name="tavily",
        hosts=("api.tavily.com",),
        paths=("/search",),
        methods=("POST",),
        query=("json:query",),
        top_k=("json:max_results",),
        results=("results",),
    ),
    SearchApi(
        name="brave",
        hosts=("api.search.brave.com",),
        paths=("/res/v1/web/search", "/res/v1/news/search", "/res/v1/llm/context"),
        query=("param:q", "json:q"),
        top_k=("param:count", "json:count"),
        # The news endpoint answers with a bare `results`.
        results=("web.results", "news.results", "results"),
        published=("page_age", "age"),
        content=_SNIPPET,
    ),
    SearchApi(
        name="exa",
        hosts=("api.exa.ai",),
        paths=("/search", "/findSimilar"),
        methods=("POST",),
        query=("json:query", "json:url"),
        top_k=("json:numResults",),
        results=("results",),
        content=("text", "summary", "highlights.0"),
    ),
    SearchApi(
        name="serpapi",
        hosts=("serpapi.com", "www.serpapi.com"),
        paths=("/search", "/search.json"),
        methods=("GET",),
        query=("param:q", "param:query", "param:search_query", "param:p", "param:text"),
        top_k=("param:num",),
        results=("organic_results", "news_results"),
        url=("link", "url"),
        published=("date", "published_date"),
        content=_SNIPPET,
    ),
    SearchApi(
        name="serper",
        hosts=("google.serper.dev",),
        paths=("/search", "/news", "/scholar"),
        query=("json:q", "json:0.q", "param:q"),
        top_k=("json:num", "param:num"),
        results=("organic", "news", "0.organic"),
        url=("link",),
        content=_SNIPPET,
    ),
    SearchApi(
        name="bing",
        hosts=("api.bing.microsoft.com", "*.cognitiveservices.azure.com"),
        paths=("/v7.0/search", "/v7.0/news/search", "/bing/v7.0/*search", "/v7.0/custom/search"),
        methods=("GET",),
        query=("param:q",),
        top_k=("param:count",),
        results=("webPages.value", "value"),
        title=("name",),
        published=("datePublished", "datePublishedDisplayText"),
        content=_SNIPPET,
    ),
    SearchApi(
        name="google-cse",
        hosts=("www.googleapis.com", "customsearch.googleapis.com"),
        paths=("/customsearch/v1", "/customsearch/v1/siterestrict"),
        methods=("GET",),
        query=("param:q",),
        top_k=("param:num",),
        results=("items",),
        url=("link",),
        published=(
            "pagemap.metatags.0.article:published_time",
            "pagemap.newsarticle.0.datepublished",
            "pagemap.metatags.0.date",
        ),
        content=_SNIPPET,
    ),
    SearchApi(
        name="perplexity",
        hosts=("api.perplexity.ai",),
        paths=("/search",),
        methods=("POST",),
        query=("json:query",),
        top_k=("json:max_results",),
        results=("results",),
        published=("date",),
        content=_SNIPPET,
    ),
    SearchApi(
        name="you",
        hosts=("api.ydc-index.io", "ydc-index.io", "api.you.com"),
        paths=("/search", "/news", "/v1/search"),
        query=("param:query", "param:q", "json:query"),
        top_k=("param:count", "param:num_web_results", "json:count"),
        results=("results.web", "results.news", "hits", "news.results"),
        published=("page_age", "age"),
        content=("description", "snippets.0", "snippet"),
    ),
    SearchApi(
        name="jina",
        hosts=("s.jina.ai", "svip.jina.ai", "*-s.jina.ai"),
        query=("param:q", "json:q", "form:q", "path:"),
        top_k=("param:num", "json:num"),
        results=("data",),
        published=("publishedTime", "date"),
        content=("description", "content"),
    ),
    SearchApi(
        name="linkup",
        hosts=("api.linkup.so",),
        paths=("/v1/search",),
        query=("json:q", "param:q"),
        top_k=("json:maxResults", "param:maxResults"),
        # A sourced answer names its sources in place of results.
        results=("results", "sources"),
        published=("date", "publishedDate"),
        content=("content", "snippet"),
    ),
    SearchApi(
        name="parallel",
        hosts=("api.parallel.ai",),
        paths=("/v1beta/search", "/v1/search", "/alpha/search"),
        methods=("POST",),
        query=("json:objective", "json:search_queries"),
        top_k=("json:max_results",),
        results=("results",),
        published=("publish_date",),
        content=("excerpts.0",),
    ),
    SearchApi(
        name="kagi",
        hosts=("kagi.com",),
        paths=("/api/v0/search", "/api/v0/enrich/web", "/api/v0/enrich/news"),
        methods=("GET",),
        query=("param:q",),
        top_k=("param:limit",),
        results=("data",),
        published=("published",),
        content=_SNIPPET,
    ),
    SearchApi(
        name="kagi",
        hosts=("kagi.com",),
        paths=("/api/v1/search",),
        methods=("POST",),
        query=("json:query",),
        top_k=("json:limit",),
        results=("data.search", "data.news"),
        published=("time",),
        content=_SNIPPET,
    ),
    SearchApi(
        name="searchapi",
        hosts=("www.searchapi.io", "searchapi.io"),
        paths=("/api/v1/search",),
        methods=("GET",),
        query=("param:q",),
        top_k=("param:num",),
        results=("organic_results", "news_results"),
        url=("link",),
        published=("iso_date", "date"),
        content=_SNIPPET,
    ),
    SearchApi(
        name="valyu",
        hosts=("api.valyu.ai", "api.valyu.network"),
        paths=("/v1/search", "/v1/deepsearch"),
        methods=("POST",),
        query=("json:query",),
        top_k=("json:max_num_results",),
        results=("results",),
        published=("publication_date", "date", "published_date"),
        score=("relevance_score",),
    ),
    SearchApi(
        name="scrapingbee",
        hosts=("app.scrapingbee.com",),
        paths=("/api/v1/store/google", "/api/v1/fast_search"),
        methods=("GET",),
        query=("param:search",),
        top_k=("param:nb_results",),
        results=("organic_results", "news_results", "organic"),
        published=("date_utc", "date"),
        content=_SNIPPET,
    ),
    SearchApi(
        name="firecrawl",
        hosts=("api.firecrawl.dev",),
        paths=("/v1/search", "/v2/search"),
        methods=("POST",),
        query=("json:query",),
        top_k=("json:limit",),
        results=("data.web", "data.news", "data"),
        url=("url", "metadata.sourceURL"),
        published=("date", "metadata.publishedTime"),
        content=("markdown", "description", "snippet"),
    ),
    SearchApi(
        # The forms without scripts, which small clients read; their answers are HTML.
        name="duckduckgo",
        hosts=("html.duckduckgo.com", "lite.duckduckgo.com", "duckduckgo.com"),
        paths=("/html", "/html/", "/lite", "/lite/"),
        query=("param:q", "form:q"),
        results=("results",),
    ),
    SearchApi(
        # Self-hosted, so any host; only a call that asks for JSON is an API call.
        name="searxng",
        hosts=("*",),
        paths=("/search", "*/search", "/"),
        required={"param:format": "json", "param:q": "*"},
        query=("param:q",),
        results=("results",),
        published=("publishedDate", "pubdate"),
    ),
    SearchApi(
        name="searxng",
        hosts=("*",),
        paths=("/search",),
        methods=("POST",),
        required={"form:format": "json", "form:q": "*"},
        query=("form:q",),
        results=("results",),
        published=("publishedDate", "pubdate"),
    ),
)


class SearchApiIndex:
    """Finds the search API that a call goes to, fast for the calls that go to none."""

    def __init__(self, own: Iterable[SearchApi] = ()) -> None:
        # A user's entry comes first: it may describe a test server or override a built-in one.
        self._apis = (*own, *BUILT_IN)
        self._exact: dict[str, list[_Entry]] = {}
        self._wild: list[tuple[Patterns, _Entry]] = []
        for api in self._apis:
            entry = _Entry(api, frozenset(api.methods), Patterns(api.paths))
            for host in api.hosts:
                if is_wild(host):
                    self._wild.append((Patterns([host]), entry))
                else:
                    self._exact.setdefault(host.lower(), []).append(entry)
        self._at = lru_cache(maxsize=_REMEMBERED_HOSTS)(self._entries_at)

    @property
    def query_parameters(self) -> frozenset[str]:
        """Names of the URL parameters that carry a query in any of the entries."""
        return frozenset(
            place.partition(":")[2]
            for api in self._apis
            for place in api.query
            if place.startswith("param:")
        )

    def find(
        self, method: str, host: str, port: int | None, path: str, given: Callable[[], Given]
    ) -> SearchApi | None:
        """Return the first entry that describes a call.

        Args:
            method: upper case.
            host: lower case.
            port: None for the scheme's own.
            path: decoded.
            given: returns the parameters of the URL, and of a form; asked only where an entry
                tells its calls by them.
        """
        for api, methods, paths in self._at(host, port):
            if (
                method in methods
                and paths.fit(path)
                and (not api.required or _has_required(api, given()))
            ):
                return api
        return None

    def _entries_at(self, host: str, port: int | None) -> "tuple[_Entry, ...]":
        authority = host if port is None else f"{host}:{port}"
        exact = [] if port is None else self._exact.get(authority, [])
        return (
            *exact,
            *self._exact.get(host, []),
            *(entry for hosts, entry in self._wild if hosts.fit(authority) or hosts.fit(host)),
        )


class _Entry(NamedTuple):
    api: SearchApi
    methods: frozenset[str]
    paths: Patterns


def _has_required(api: SearchApi, given: Given) -> bool:
    query, form = given
    if not query and not form:
        return False
    values = {**_encoded("param:", query), **_encoded("form:", form)}
    return all(
        place in values and fnmatchcase(values[place], wanted)
        for place, wanted in api.required.items()
    )


def _encoded(prefix: str, pairs: str) -> dict[str, str]:
    parts = (part.partition("=") for part in pairs.split("&"))
    return {prefix + name: value for name, _, value in parts}
