"""Hypothesis strategies for arbitrary episodes: every field, hostile values included."""

from typing import Any

from hypothesis import strategies as st

from seekwatch.core.evidence import Evidence, ExpectedFact, LinkCheck, TruthRecord
from seekwatch.core.model import (
    Action,
    Adapter,
    Answer,
    CacheState,
    Citation,
    Claim,
    Completeness,
    Episode,
    Fetch,
    Generation,
    Hop,
    Lane,
    Limits,
    Page,
    PageDate,
    RunContext,
    Search,
    SearchResult,
    StopReason,
    Validators,
)
from seekwatch.core.testing import START
from tests.services import pages

SPANS = st.sampled_from([f"{number:016x}" for number in range(6)])
TEXTS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "What is the latest price of GPU RTX 5090 under $2,000 in 2026?",
            "特斯拉2024年第三季度在中国的销量超过50万辆吗？",
            "日本でiPhone 16はいくらですか",
            'Compare 5 laws not in the EU since 1990-91 "open data" site:europa.eu',
            "I'm sorry, I could not find anything.",
            "As of 2020 it was 42 % [1]. 是的。[2] “Quoted words stand here for a test” … end",
            pages.LOREM * 3,
            "Page not found 404",
            "\u202e\u200b right to left",
            "a" * 300,
        ]
    ),
)
URLS = st.one_of(
    st.sampled_from(
        [
            "https://a.com/x",
            "http://www.a.com/x/?utm_source=q#f",
            "https://b.co.uk/2026/01/02/y",
            "https://b.co.uk/login",
            "https://doi.org/10.1/2",
            "http://[::1]:99999/",
            "https://münchen.de/ä",
            "javascript:alert(1)",
            "",
        ]
    ),
    st.text(max_size=30),
)
TIMES = st.one_of(
    st.integers(START - 10**10, START + 10**11), st.sampled_from([0, -1, 2**63, -(2**63)])
)
FLOATS = st.one_of(st.floats(), st.sampled_from([0.0, 0.5, 1.0]))
COUNTS = st.one_of(st.integers(-5, 10_000), st.just(2**62))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


def several(strategy: st.SearchStrategy[Any], most: int = 4) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


DATES = st.builds(
    PageDate, at=TIMES, method=st.sampled_from(["json-ld", "url"]), confidence=st.floats(0, 1)
)
RESULTS = st.builds(
    SearchResult,
    rank=st.integers(1, 20),
    url=maybe(URLS),
    title=maybe(TEXTS),
    snippet=maybe(TEXTS),
    published=maybe(DATES),
    score=maybe(FLOATS),
)
SEARCHES = st.builds(
    Search,
    span=SPANS,
    start=TIMES,
    end=TIMES,
    query=maybe(TEXTS),
    provider=maybe(st.sampled_from(["tavily", ""])),
    results=maybe(several(RESULTS)),
    error=maybe(st.just("503")),
)
SIGNALS = several(st.sampled_from(["password-field", "login-form", "challenge-script", "js-shell"]))
PAGES = st.builds(
    Page,
    title=maybe(TEXTS),
    text=maybe(TEXTS),
    byte_count=maybe(COUNTS),
    truncated=st.booleans(),
    canonical_url=maybe(URLS),
    published=maybe(DATES),
    modified=maybe(DATES),
    signals=SIGNALS,
)
HEADERS = maybe(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(["max-age=5", "30", "Mon, 21 Sep 2026 14:14:20 GMT", "9" * 30]),
    )
)
FETCHES = st.builds(
    Fetch,
    span=SPANS,
    start=TIMES,
    end=TIMES,
    adapter=st.sampled_from(Adapter),
    url=URLS,
    method=st.sampled_from(["GET", "POST", "DELETE"]),
    final_url=maybe(URLS),
    hops=several(st.builds(Hop, url=URLS, status=st.integers(300, 399)), 3),
    status=maybe(st.sampled_from([200, 204, 301, 304, 401, 403, 404, 429, 500, 0, -1])),
    error=maybe(st.sampled_from(["timeout", "name_not_resolved", ""])),
    validators=maybe(
        st.builds(
            Validators, age=HEADERS, cache_control=HEADERS, retry_after=HEADERS, expires=HEADERS
        )
    ),
    cache_state=maybe(st.sampled_from(CacheState)),
    cache_scope=maybe(st.sampled_from(["u1", "u2", "shared"])),
    attempt=st.integers(1, 9),
    crawl_depth=maybe(COUNTS),
    action=st.sampled_from(Action),
    page=maybe(PAGES),
)
GENERATIONS = st.builds(
    Generation,
    span=SPANS,
    start=TIMES,
    end=TIMES,
    model=maybe(st.sampled_from(["local", "other"])),
    input_tokens=maybe(COUNTS),
    output_tokens=maybe(COUNTS),
    cached_input_tokens=maybe(COUNTS),
    cost=maybe(FLOATS),
    finish_reasons=several(st.sampled_from(["stop", "length"]), 2),
    time_to_first_token=maybe(FLOATS),
    error=maybe(st.just("timeout")),
)
OFFSETS = maybe(st.integers(-5, 500))
ANSWERS = st.builds(
    Answer,
    text=TEXTS,
    span=SPANS,
    claims=several(
        st.builds(
            Claim,
            text=TEXTS,
            start=st.integers(0, 99),
            end=st.integers(0, 99),
            citations=several(st.integers(-2, 6)),
        )
    ),
    citations=several(
        st.builds(Citation, url=URLS, quote=maybe(TEXTS), start=OFFSETS, end=OFFSETS)
    ),
)
CONTEXTS = st.builds(
    RunContext,
    agent=st.sampled_from(["finder", ""]),
    lane=st.sampled_from(Lane),
    as_of=maybe(TIMES),
    freshness_regime=maybe(st.sampled_from(["slow", "REAL_TIME", "nonsense"])),
    virtual_seconds=maybe(FLOATS),
    principal=maybe(st.just("u1")),
)
LIMITS = st.builds(
    Limits,
    deadline=maybe(FLOATS),
    budget=maybe(FLOATS),
    requests=maybe(COUNTS),
    retries=maybe(COUNTS),
)
EPISODES = st.builds(
    Episode,
    trace=st.just("0" * 32),
    root=SPANS,
    start=TIMES,
    end=TIMES,
    context=CONTEXTS,
    question=maybe(TEXTS),
    answer=maybe(ANSWERS),
    searches=several(SEARCHES),
    fetches=several(FETCHES, 6),
    generations=several(GENERATIONS),
    limits=LIMITS,
    stop_reason=maybe(st.sampled_from(StopReason)),
    root_error=maybe(st.sampled_from(["KeyError", "TimeoutError"])),
    completeness=st.builds(Completeness, missing_parents=st.integers(0, 1), withheld=st.booleans()),
)
EVIDENCE = st.builds(
    Evidence,
    truth=maybe(
        st.builds(
            TruthRecord,
            case=st.just("c"),
            facts=several(
                st.builds(
                    ExpectedFact,
                    name=st.just("f"),
                    values=several(TEXTS, 2),
                    match=st.sampled_from(["text", "number", "regex", "any", "other"]),
                    required=st.booleans(),
                )
            ),
            refusal_expected=st.booleans(),
            allowed_sources=several(st.just("a.com"), 1),
            freshness_window=maybe(FLOATS),
        )
    ),
    links=several(
        st.builds(
            LinkCheck,
            url=URLS,
            at=TIMES,
            source=st.just("link-checker"),
            revision=st.just("1"),
            state=st.sampled_from(["resolves", "dead", "moved", "unknown", "?"]),
            final_url=maybe(URLS),
        )
    ),
)
