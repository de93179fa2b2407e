from fnmatch import fnmatchcase
from typing import Any

import pytest

from seekwatch.sdk import SearchApi
from seekwatch.sdk._search.apis import BUILT_IN, SearchApiIndex
from seekwatch.sdk._search.patterns import Patterns


def find(method: str, url: str, own: tuple[SearchApi, ...] = ()) -> str | None:
    import httpx

    parsed = httpx.URL(url)
    query = parsed.query.decode()
    api = SearchApiIndex(own).find(
        method, parsed.host, parsed.port, parsed.path, lambda: (query, "")
    )
    return None if api is None else api.name


@pytest.mark.parametrize(
    ("method", "url", "name"),
    [
        ("POST", "https://api.tavily.com/search", "tavily"),
        ("GET", "https://api.search.brave.com/res/v1/web/search?q=x", "brave"),
        ("GET", "https://api.search.brave.com/res/v1/news/search?q=x", "brave"),
        ("POST", "https://api.exa.ai/search", "exa"),
        ("GET", "https://serpapi.com/search?engine=google&q=x", "serpapi"),
        ("GET", "https://serpapi.com/search.json?q=x", "serpapi"),
        ("POST", "https://google.serper.dev/search", "serper"),
        ("GET", "https://api.bing.microsoft.com/v7.0/search?q=x", "bing"),
        ("GET", "https://x.cognitiveservices.azure.com/bing/v7.0/search?q=x", "bing"),
        ("GET", "https://www.googleapis.com/customsearch/v1?q=x", "google-cse"),
        ("GET", "https://customsearch.googleapis.com/customsearch/v1?q=x", "google-cse"),
        ("POST", "https://api.perplexity.ai/search", "perplexity"),
        ("GET", "https://searx.example.org/search?q=x&format=json", "searxng"),
        ("GET", "http://localhost:8888/?q=x&format=json", "searxng"),
        ("GET", "https://api.ydc-index.io/search?query=x", "you"),
        ("GET", "https://ydc-index.io/v1/search?query=x", "you"),
        ("GET", "https://s.jina.ai/?q=x", "jina"),
        ("GET", "https://s.jina.ai/what+is+x", "jina"),
    ],
)
def test_known_calls_are_found(method: str, url: str, name: str) -> None:
    assert find(method, url) == name


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("POST", "https://api.tavily.com/extract"),
        ("GET", "https://api.tavily.com/search"),
        ("POST", "https://api.perplexity.ai/chat/completions"),
        ("GET", "https://www.googleapis.com/drive/v3/files?q=x"),
        ("GET", "https://example.com/search?q=x"),
        ("GET", "https://example.com/search?q=x&format=html"),
        ("GET", "https://r.jina.ai/https://example.com"),
        ("GET", "https://nottavily.com/search"),
    ],
)
def test_other_calls_are_not(method: str, url: str) -> None:
    assert find(method, url) is None


def test_an_own_entry_comes_before_a_built_in_one() -> None:
    mine = SearchApi(
        name="mine", hosts=("api.tavily.com",), query=("json:query",), results=("results",)
    )
    assert find("POST", "https://api.tavily.com/search", (mine,)) == "mine"


def test_a_bare_host_stands_for_every_port_and_a_port_for_itself() -> None:
    bare = SearchApi(name="bare", hosts=("a.example",), query=("param:q",), results=("r",))
    exact = SearchApi(name="exact", hosts=("b.example:81",), query=("param:q",), results=("r",))
    assert find("GET", "http://a.example:8080/", (bare,)) == "bare"
    assert find("GET", "http://b.example:81/", (exact,)) == "exact"
    assert find("GET", "http://b.example:82/", (exact,)) is None


def test_a_wrong_entry_is_refused_with_its_name_and_value() -> None:
    with pytest.raises(ValueError, match=r"'mine'.*'q'.*param:"):
        SearchApi(name="mine", hosts=("a",), query=("q",), results=("r",))
    with pytest.raises(ValueError, match="'mine' needs hosts"):
        SearchApi(name="mine", hosts=(), query=("param:q",), results=("r",))


@pytest.mark.parametrize("name", ["hosts", "paths", "methods", "query", "results", "url"])
def test_a_text_where_a_tuple_belongs_is_refused_and_not_taken_for_letters(name: str) -> None:
    right: dict[str, Any] = {"hosts": ("a",), "query": ("param:q",), "results": ("r",)}
    with pytest.raises(ValueError, match=rf"'mine': {name} 'x' needs to be a tuple: \('x',\)"):
        SearchApi(name="mine", **{**right, name: "x"})


def test_every_provider_that_the_documentation_names_is_built_in() -> None:
    assert {api.name for api in BUILT_IN} == {
        "bing",
        "brave",
        "duckduckgo",
        "exa",
        "firecrawl",
        "google-cse",
        "jina",
        "kagi",
        "linkup",
        "parallel",
        "perplexity",
        "scrapingbee",
        "searchapi",
        "searxng",
        "serpapi",
        "serper",
        "tavily",
        "valyu",
        "you",
    }


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*", ""),
        ("/search", "/search"),
        ("/search", "/search/"),
        ("*/search", "/search"),
        ("*/search", "/a/search"),
        ("*/search", "/a/searches"),
        ("/v?/find", "/v1/find"),
        ("/v[12]/find", "/v3/find"),
        ("*.example", "a.example"),
        ("*.example", "example"),
        ("/a*", "/a\nb"),
        ("/A", "/a"),
        ("**/b", "/a/b"),
    ],
)
def test_patterns_fit_what_the_shell_has_them_fit(pattern: str, text: str) -> None:
    wanted = fnmatchcase(text, pattern)
    assert Patterns([pattern]).fit(text) is wanted
    assert Patterns(["/other", pattern, "/x*z"]).fit(text) is wanted
