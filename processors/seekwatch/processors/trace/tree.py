"""The spans of one trace as a tree: parents, ancestors, depth, safe against cycles and gaps."""

from collections.abc import Iterator
from typing import Final

from seekwatch.processors.dialects.base import Role, SpanFacts

MAX_LEVELS: Final = 256
"""Ancestors that are looked at: no agent nests so deep, a forged trace can."""


class TraceTree:
    """Facts of every span, found by id.

    Args:
        facts: in the order (start, span id).
    """

    def __init__(self, facts: list[SpanFacts]) -> None:
        self.facts = facts
        self.by_id = {fact.span: fact for fact in facts}

    def ancestors(self, fact: SpanFacts) -> Iterator[SpanFacts]:
        """Walk from the parent upwards; a cycle, which only a forger sends, ends the walk."""
        seen = {fact.span}
        parent = fact.view.parent_id
        while parent is not None and parent not in seen and len(seen) < MAX_LEVELS:
            seen.add(parent)
            found = self.by_id.get(parent)
            if found is None:
                return
            yield found
            parent = found.view.parent_id

    def around(self, ours: SpanFacts) -> Iterator[SpanFacts]:
        """Walk over the HTTP spans that tell the request of a span of our SDK once more.

        An instrumentor that was switched on after the SDK lies around it. Nothing but our own
        RETRIEVER span is between the two then: the HTTP span of a call to another service has
        that service's spans below it.
        """
        if ours.role not in (Role.TOOL, Role.RETRIEVER, Role.LLM):
            return
        for above in self.ancestors(ours):
            if above.role is Role.HTTP:
                yield above
            elif not (above.authoritative and above.role is Role.RETRIEVER):
                return

    def is_below(self, fact: SpanFacts, ancestor: SpanFacts) -> bool:
        """Tell whether `ancestor` encloses `fact`; a span is not below itself."""
        return any(found is ancestor for found in self.ancestors(fact))

    def is_top(self, fact: SpanFacts) -> bool:
        """Tell whether the span's parent is remote, absent, or never arrived."""
        parent = fact.view.parent_id
        return parent is None or parent not in self.by_id or parent == fact.span

    def lacks_parent(self, fact: SpanFacts) -> bool:
        """Tell whether a local parent should have arrived and did not."""
        view = fact.view
        return (
            view.parent_id is not None
            and view.parent_id not in self.by_id
            and not view.remote_parent
        )
