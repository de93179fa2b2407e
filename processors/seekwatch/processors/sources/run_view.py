"""One run's sources, found by address: what every axis asks, indexed once per scoring.

A URL may be a search result, a fetched page and a citation at once, each time spelt a little
differently; here the three meet.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from seekwatch.core.evidence import Evidence, LinkCheck
from seekwatch.core.model import Adapter, Citation, Episode, Fetch, Search, SearchResult
from seekwatch.core.policy import Policy
from seekwatch.core.verdicts import Reason
from seekwatch.processors.sources.page_kinds import PageKind, kind_of_fetch
from seekwatch.processors.text.dates import iso_day
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.passages import searchable
from seekwatch.processors.urls import host_of, site_of, url_key

MAX_CITATIONS: Final = 200
"""An answer with more is judged on its first ones."""

MAX_TEXT: Final = 400_000
"""Characters of one page that scorers read."""


class Source:
    """Everything that the run knows of one address.

    Attributes:
        url: as it was first seen, or as it was cited.
        key: what spellings of this address share.
        results: where it was found, in the order of the searches.
        fetches: attempts at it, in order of start.
    """

    __slots__ = ("__dict__", "fetches", "key", "results", "url")

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        self.results: list[tuple[Search, SearchResult]] = []
        self.fetches: list[Fetch] = []

    @property
    def seen(self) -> bool:
        """Tell whether the run searched or fetched it."""
        return bool(self.results or self.fetches)

    @cached_property
    def fetch(self) -> Fetch | None:
        """The attempt that says most: the last one with a readable page, else the last one."""
        readable = [fetch for fetch in self.fetches if fetch.page is not None and fetch.page.text]
        good = [fetch for fetch in readable if is_success(fetch)]
        candidates = good or [f for f in self.fetches if is_success(f)] or readable or self.fetches
        return candidates[-1] if candidates else None

    @cached_property
    def kind(self) -> PageKind | None:
        """What sort of page the telling fetch brought; None without one."""
        return None if self.fetch is None else kind_of_fetch(self.fetch)

    @cached_property
    def text(self) -> str | None:
        """Text of the page, when the fetch brought one that could be read."""
        if self.fetch is None or self.fetch.page is None or not self.fetch.page.text:
            return None
        return self.fetch.page.text[:MAX_TEXT]

    @cached_property
    def searchable(self) -> str:
        """The page's text as quotations are searched in it; empty without one."""
        return searchable(self.text) if self.text else ""

    @cached_property
    def folded(self) -> str:
        """What the source says, folded for comparing words: its text, its title, its dates.

        Without a text its snippets stand for it. Title and dates are what an answer says of a page
        beside what is on it ("as of August 2023"); empty where there is neither text nor snippet.
        """
        said = self.text or self.snippet
        if not said:
            return ""
        page = self.fetch.page if self.fetch is not None else None
        dates = [result.published for _, result in self.results]
        about = [None if page is None else page.title]
        if page is not None:
            dates += [page.published, page.modified]
        about += [iso_day(date.at) for date in dates if date is not None]
        return fold("\n".join((said, *dict.fromkeys(part for part in about if part))))

    @cached_property
    def snippet(self) -> str | None:
        """Titles and snippets of the results, where nothing else is known of the page."""
        parts = [
            part for _, result in self.results for part in (result.title, result.snippet) if part
        ]
        return "\n".join(dict.fromkeys(parts))[:MAX_TEXT] or None

    @cached_property
    def site(self) -> str | None:
        """Registrable domain, or the host where there is none."""
        return site_of(self.url)

    @cached_property
    def host(self) -> str | None:
        """Host name."""
        return host_of(self.url)

    @property
    def partial(self) -> bool:
        """Tell whether the page may hold more than the trace shows of it."""
        page = self.fetch.page if self.fetch is not None else None
        if page is None or not page.text:
            return True
        return page.truncated

    @property
    def spans(self) -> tuple[str, ...]:
        """Spans that this source was seen in: its fetch, else its search."""
        if self.fetch is not None:
            return (self.fetch.span,)
        return (self.results[0][0].span,) if self.results else ()


class RunView:
    """One episode with its evidence and policy, and its sources by address."""

    def __init__(self, episode: Episode, evidence: Evidence, policy: Policy) -> None:
        self.episode = episode
        self.evidence = evidence
        self.policy = policy

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Every address that was searched or fetched, by key, in order of appearance."""
        found: dict[str, Source] = {}
        for search in self.episode.searches:
            for result in search.results or ():
                for source in _register(found, (result.url,)):
                    source.results.append((search, result))
        for fetch in sorted(self.episode.fetches, key=lambda item: (item.start, item.span)):
            if fetch.adapter is Adapter.SEARCH:
                # The wire call of a search: its address is an API's, no source.
                continue
            canonical = fetch.page.canonical_url if fetch.page is not None else None
            if canonical is not None and site_of(canonical) != site_of(fetch.url):
                canonical = None
            addresses = (fetch.url, *(hop.url for hop in fetch.hops), fetch.final_url, canonical)
            for source in _register(found, addresses):
                source.fetches.append(fetch)
        return found

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Citations of the answer, capped."""
        answer = self.episode.answer
        return () if answer is None else answer.citations[:MAX_CITATIONS]

    @cached_property
    def cited(self) -> tuple[Source, ...]:
        """Cited sources, each address once, in the order of the answer."""
        found: dict[str, Source] = {}
        for citation in self.citations:
            source = self.source_of(citation.url)
            found.setdefault(source.key, source)
        return tuple(found.values())

    @cached_property
    def used(self) -> tuple[Source, ...]:
        """Pages that were read: fetched with success and by way of a page, one per fetch."""
        found: dict[str, Source] = {}
        for source in self.sources.values():
            fetch = source.fetch
            if fetch is not None and is_success(fetch):
                found.setdefault(fetch.span, source)
        return tuple(found.values())

    @cached_property
    def basis(self) -> tuple[str, tuple[Source, ...]]:
        """What the answer rests on and how we know: `cited`, else `used` pages, else none."""
        if self.cited:
            return "cited", self.cited
        return "used", self.used

    @cached_property
    def links(self) -> dict[str, LinkCheck]:
        """Newest link check of each address."""
        found: dict[str, LinkCheck] = {}
        for check in sorted(self.evidence.links, key=lambda item: (item.at, item.source)):
            found[url_key(check.url) or check.url] = check
        return found

    def source_of(self, url: str) -> Source:
        """The source at an address; one that was never seen when the run has none there."""
        key = url_key(url) or url
        return self.sources.get(key) or Source(url, key)

    def link_check(self, source: Source) -> LinkCheck | None:
        """What was looked up about a source outside the trace."""
        return self.links.get(source.key)

    def organisation(self, source: Source) -> str:
        """What a source counts as for diversity: its organisation, else its domain."""
        site = source.site or source.key
        return self.policy.diversity.organisations.get(site, site)

    @property
    def unanswered(self) -> tuple[Reason, str] | None:
        """Why there is no answer to judge the sources of; None where there is one."""
        answer = self.episode.answer
        if answer is not None and answer.text.strip():
            return None
        if self.episode.completeness.withheld:
            return Reason.NO_CONTENT, "the agent sends no content, so its answer was not seen"
        line = "the trace holds no answer" if answer is None else "the answer is empty"
        return Reason.NO_ANSWER, line

    @property
    def answer_spans(self) -> tuple[str, ...]:
        """The span that wrote the answer, else the root."""
        answer = self.episode.answer
        return (answer.span if answer is not None and answer.span else self.episode.root,)

    @cached_property
    def searched(self) -> bool:
        """Tell whether the run looked anything up."""
        return bool(self.episode.searches or self.episode.fetches)


def is_success(fetch: Fetch) -> bool:
    """Tell whether an attempt brought what was asked for (a 304 confirms what the agent had)."""
    if fetch.status is None:
        return fetch.error is None and fetch.page is not None
    return 200 <= fetch.status < 300 or fetch.status == 304


def _register(found: dict[str, Source], urls: Iterable[str | None]) -> list[Source]:
    """The sources at these addresses, made where they are new, each once."""
    sources: dict[str, Source] = {}
    for url in urls:
        key = url_key(url) if url else None
        if url and key:
            source = found.get(key)
            if source is None:
                source = found[key] = Source(url, key)
            sources[key] = source
    return list(sources.values())
