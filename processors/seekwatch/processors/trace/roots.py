"""Which span is the run: the topmost agent or workflow, else the topmost span of the trace."""

from typing import Final

from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.trace.tree import TraceTree

_PRODUCER: Final = 4
"""OTLP's kind of a span that hands work over and does not wait for it (`SPAN_KIND_PRODUCER`)."""


def select_root(tree: TraceTree) -> SpanFacts:
    """Return the span that stands for the whole run.

    Among agents and workflows those without an agent or workflow above them are topmost. When
    several stand side by side (a hand-off, a writer after a researcher), the run is the span that
    encloses them all, where it arrived; else the earliest.
    """
    runs = [fact for fact in tree.facts if fact.role in (Role.AGENT, Role.WORKFLOW)]
    topmost = [
        fact
        for fact in runs
        if not any(above.role in (Role.AGENT, Role.WORKFLOW) for above in tree.ancestors(fact))
    ]
    if len(topmost) == 1:
        return topmost[0]
    if topmost:
        return _common_ancestor(tree, topmost) or topmost[0]
    tops = [fact for fact in tree.facts if tree.is_top(fact)]
    return tops[0] if tops else tree.facts[0]


def encloses_run(tree: TraceTree, root: SpanFacts) -> bool:
    """Tell whether the root's own times are the run's.

    They are when it is an agent or workflow, or stands above everything else. Where only model
    calls and tools are traced, several spans stand side by side under a parent that never came, and
    the run lasts from the first to the last of them. So it does below a span that put a task into
    a queue: that ends before the work begins.
    """
    if root.view.kind == _PRODUCER:
        return False
    if root.role in (Role.AGENT, Role.WORKFLOW):
        return True
    return all(fact is root or not tree.is_top(fact) for fact in tree.facts)


def _common_ancestor(tree: TraceTree, facts: list[SpanFacts]) -> SpanFacts | None:
    shared = list(tree.ancestors(facts[0]))
    for fact in facts[1:]:
        above = {found.span for found in tree.ancestors(fact)}
        shared = [found for found in shared if found.span in above]
    return shared[0] if shared else None
