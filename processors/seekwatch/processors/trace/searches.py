"""One search, once: a tool, the retriever in it and the HTTP call below tell the same story."""

from seekwatch.core.model import Search
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.trace.tree import TraceTree


def merge_searches(tree: TraceTree) -> tuple[Search, ...]:
    """Collect the searches of a trace, each once, in order of (start, span id).

    Where one span that searched encloses another, the inner ones are kept when they know what was
    found or were made by our SDK (a tool may send several queries of its own wording); otherwise
    the outer one is kept, which has the results.
    """
    kept = {fact.span: list(fact.searches) for fact in tree.facts if fact.searches}
    for outer, inner in _nested(tree, kept):
        present = [fact for fact in inner if fact.span in kept]
        if outer.span in kept and present:
            _settle(outer, present, kept)
    found = [search for searches in kept.values() for search in searches]
    return tuple(sorted(found, key=lambda search: (search.start, search.span)))


def _nested(
    tree: TraceTree, kept: dict[str, list[Search]]
) -> list[tuple[SpanFacts, list[SpanFacts]]]:
    """Return each span that searched with those below it that did, outermost first.

    A model call encloses no search of a tool: what it ran itself stands on model calls alone.
    """
    inner: dict[str, list[SpanFacts]] = {}
    for fact in tree.facts:
        if fact.span in kept:
            around = (
                {above.span for above in tree.around(fact)} if fact.authoritative else set[str]()
            )
            for above in tree.ancestors(fact):
                same_kind = (above.role is Role.LLM) == (fact.role is Role.LLM)
                is_wire = above.role is Role.HTTP and above.span not in around
                if above.span in kept and same_kind and not is_wire:
                    inner.setdefault(above.span, []).append(fact)
    return [(fact, inner[fact.span]) for fact in tree.facts if fact.span in inner]


def _settle(outer: SpanFacts, inner: list[SpanFacts], kept: dict[str, list[Search]]) -> None:
    telling = [fact for fact in inner if fact.authoritative or _has_results(kept[fact.span])]
    better = [fact for fact in telling if _rank(fact) > _rank(outer) or fact.authoritative]
    if not telling:
        winners = [outer]
    elif better or not _has_results(kept[outer.span]) or len(telling) > 1:
        winners = better or telling
    else:
        winners = [outer]
    winning = {fact.span for fact in winners}
    losers = [fact for fact in (outer, *inner) if fact.span not in winning]
    known = [search for fact in losers for search in kept.pop(fact.span)]
    for fact in winners:
        kept[fact.span] = [_completed(search, known) for search in kept[fact.span]]


def _has_results(searches: list[Search]) -> bool:
    return any(search.results is not None for search in searches)


def _rank(fact: SpanFacts) -> int:
    """Prefer a span that says it is a retriever, so that verdicts attach to it."""
    return 1 if fact.role is Role.RETRIEVER else 0


def _completed(search: Search, known: list[Search]) -> Search:
    """Fill what a search does not say from retellings of the same query."""
    for other in known:
        if search.query is not None and other.query not in (None, search.query):
            continue
        search = Search(
            span=search.span,
            start=search.start,
            end=search.end,
            query=search.query if search.query is not None else other.query,
            provider=search.provider or other.provider,
            results=search.results if search.results is not None else other.results,
            unread_reason=(
                search.unread_reason if search.results is None and other.results is None else None
            ),
            error=search.error or (other.error if other.results is None else None),
            provenance=search.provenance or other.provenance,
        )
    return search
