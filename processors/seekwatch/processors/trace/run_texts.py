"""The answer of a run, by one documented order of trust.

One marked as such; else the output of the run's span; else
of the last agent span; else the last model call that began inside the run and asked for no tool
(a streamed one may end after it).
"""

import msgspec

from seekwatch.core.model import Answer, Citation
from seekwatch.processors.answers.citations import build_answer
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.trace.roots import encloses_run
from seekwatch.processors.trace.tree import TraceTree


def find_answer(root: SpanFacts, tree: TraceTree) -> tuple[Answer | None, int]:
    """Return the answer, and how many spans could have been the one that wrote it."""
    facts = tree.facts
    last_start = root.view.end if encloses_run(tree, root) else None
    writers = [
        fact
        for fact in facts
        if fact.role is Role.LLM
        and fact.answer is not None
        and not fact.asked_for_tools
        and (last_start is None or fact.view.start <= last_start)
        and not any(
            above.role is Role.LLM and above.answer is not None for above in tree.ancestors(fact)
        )
    ]
    teller = _teller(root, facts)
    if teller is None:
        if not writers:
            return None, 0
        teller = max(writers, key=lambda fact: (fact.view.end, fact.span))
        candidates = len(writers)
    else:
        candidates = 1
    if teller.answer is None:
        return None, 0
    text = teller.answer.value
    writer = _writer(text, writers) or teller
    return build_answer(text, writer.span, _structured(teller, writer, text)), candidates


def _teller(root: SpanFacts, facts: list[SpanFacts]) -> SpanFacts | None:
    marked = [fact for fact in (root, *facts) if fact.explicit_answer and fact.answer is not None]
    if marked:
        return marked[0]
    if root.answer is not None and root.role is not Role.LLM:
        return root
    agents = [
        fact
        for fact in facts
        if fact.role in (Role.AGENT, Role.WORKFLOW) and fact.answer is not None
    ]
    return max(agents, key=lambda fact: (fact.view.end, fact.span)) if agents else None


def _writer(text: str, writers: list[SpanFacts]) -> SpanFacts | None:
    """Return the model call whose output the answer is: the same text, else the last one."""
    for fact in reversed(writers):
        if fact.answer is not None and fact.answer.value.strip() == text.strip():
            return fact
    return writers[-1] if writers else None


def _structured(teller: SpanFacts, writer: SpanFacts, text: str) -> tuple[Citation, ...] | None:
    """Take the structured citations of the span that told the answer, else of the one that wrote.

    Positions of the latter count in its own text and hold only where the two are the same.
    """
    if teller.citations is not None:
        return teller.citations
    if writer.citations is None or (writer.answer is not None and writer.answer.value == text):
        return writer.citations
    return tuple(
        msgspec.structs.replace(citation, start=None, end=None) for citation in writer.citations
    )
