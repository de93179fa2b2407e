"""One attempt, once: a fetch tool, our span of the request and the HTTP span below are merged.

Our own TOOL span wins, also over an HTTP span around it, of an instrumentor that lies around the
SDK. A tool span of another dialect knows the page but not the wire; the plain HTTP spans below it
know status, times and retries but not the page: each HTTP span is an attempt, and the last one
brought the page.
"""

import msgspec

from seekwatch.core.model import Action, Adapter, Fetch, Hop
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.trace.tree import TraceTree
from seekwatch.processors.urls import url_key

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MODEL_ROLES = frozenset({Role.LLM, Role.EMBEDDING, Role.RERANKER})


def merge_fetches(tree: TraceTree) -> tuple[Fetch, ...]:
    """Collect the fetches of a trace, each attempt once, in order of (start, span id)."""
    wire: dict[str, list[SpanFacts]] = {}
    found: list[Fetch] = []
    retold = _retold_by_us(tree)
    for fact in tree.facts:
        if fact.role is Role.HTTP and fact.fetches and fact.span not in retold:
            owner = _owner(fact, tree)
            if owner is not None:
                wire.setdefault(owner, []).append(fact)
    for group in (wire.pop("", []),):
        found.extend(_folded(group))
    for fact in tree.facts:
        if fact.role is Role.HTTP or not (fact.fetches or fact.span in wire):
            continue
        if fact.span in retold:
            continue
        found.extend(_of_tool(fact, _folded(wire.get(fact.span, []))))
    found.sort(key=lambda fetch: (fetch.start, fetch.span))
    return tuple(_numbered(found, {fact.span for fact in tree.facts if fact.authoritative}))


def _owner(http: SpanFacts, tree: TraceTree) -> str | None:
    """Return the id of the span whose work an HTTP span is, "" for none, None to leave it out."""
    for above in tree.ancestors(http):
        if above.authoritative and (above.fetches or above.role is Role.LLM):
            return None
        if above.role in _MODEL_ROLES:
            return None
        if above.role in (Role.TOOL, Role.RETRIEVER) and (above.fetches or above.searches):
            return above.span
    return ""


def _retold_by_us(tree: TraceTree) -> set[str]:
    """Return the spans of other dialects whose request a span of ours below them tells."""
    ours = [fact for fact in tree.facts if fact.authoritative]
    tools = {
        above.span
        for fact in ours
        if fact.fetches
        for above in tree.ancestors(fact)
        if above.fetches and not above.authoritative and above.role is not Role.HTTP
    }
    return tools.union(above.span for fact in ours for above in tree.around(fact))


def _of_tool(fact: SpanFacts, attempts: list[Fetch]) -> list[Fetch]:
    if not attempts:
        return list(fact.fetches)
    if not fact.fetches:
        pages = {url_key(r.url) for s in fact.searches for r in s.results or () if r.url}
        return [
            _as_search(attempt) if url_key(attempt.url) not in pages else attempt
            for attempt in attempts
        ]
    told = fact.fetches[0]
    last = attempts[-1]
    if not any(url_key(attempt.url) == url_key(told.url) for attempt in attempts):
        # A reader service was asked for the page: the page's address is what the agent wanted.
        return [
            msgspec.structs.replace(
                told, status=last.status, error=told.error or last.error, duration=last.duration
            )
        ]
    return [
        *attempts[:-1],
        msgspec.structs.replace(
            last, adapter=told.adapter, page=last.page or told.page, error=last.error or told.error
        ),
    ]


def _as_search(fetch: Fetch) -> Fetch:
    return msgspec.structs.replace(fetch, adapter=Adapter.SEARCH, action=Action.READ)


def _folded(facts: list[SpanFacts]) -> list[Fetch]:
    """Join the HTTP spans of one redirect chain, which clients give one span per hop."""
    joined: list[Fetch] = []
    expected: str | None = None
    for fact in sorted(facts, key=lambda fact: (fact.view.start, fact.span)):
        fetch = fact.fetches[0]
        previous = joined[-1] if joined else None
        if previous is not None and _continues(previous, fetch, expected):
            joined[-1] = msgspec.structs.replace(
                fetch,
                span=previous.span,
                start=previous.start,
                url=previous.url,
                final_url=fetch.url,
                hops=(
                    *previous.hops,
                    Hop(
                        url=previous.final_url or previous.url,
                        status=previous.status or 0,
                        location=fetch.url,
                    ),
                ),
                duration=(previous.duration or 0.0) + (fetch.duration or 0.0),
            )
        else:
            joined.append(fetch)
        expected = fact.location
    return joined


def _continues(previous: Fetch, fetch: Fetch, expected: str | None) -> bool:
    """Tell whether a request follows the redirect that came before it."""
    if previous.status not in _REDIRECTS or fetch.start < previous.end:
        return False
    if expected is not None and "://" in expected:
        return url_key(expected) == url_key(fetch.url)
    return url_key(previous.final_url or previous.url) != url_key(fetch.url) and (
        fetch.start - previous.end < 1_000_000_000
    )


def _numbered(fetches: list[Fetch], ours: set[str]) -> list[Fetch]:
    """Count attempts at one method and URL; our SDK has counted its own."""
    attempts: dict[tuple[str, str], int] = {}
    numbered: list[Fetch] = []
    for fetch in fetches:
        key = (fetch.method, url_key(fetch.url) or fetch.url)
        ordinal = attempts.get(key, 0) + 1
        if fetch.span in ours:
            ordinal = max(fetch.attempt, 1)
        attempts[key] = ordinal
        numbered.append(
            fetch if fetch.attempt == ordinal else msgspec.structs.replace(fetch, attempt=ordinal)
        )
    return numbered
