"""From the raw spans of a cut to the episode: two passes, no I/O, the same bytes every time.

The first pass reads each span alone, by the dialect that wrote it. The second looks at the trace:
which span is the run, what tells the same work twice, what one span knows that another lacks.
"""

import hashlib
from functools import lru_cache

from seekwatch.core.errors import UndecodableError
from seekwatch.core.model import Completeness, Episode
from seekwatch.core.otlp.requests import RawItem
from seekwatch.core.otlp.view import Group, LogView, SpanView
from seekwatch.core.policy import LanePolicy
from seekwatch.core.redaction import Redactor
from seekwatch.processors.cuts import Cut
from seekwatch.processors.dialects.base import RUN_ROLES, Role, SpanFacts
from seekwatch.processors.dialects.registry import UNKNOWN, read_span
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.trace.exchanges import add_exchanges
from seekwatch.processors.trace.fetches import merge_fetches
from seekwatch.processors.trace.model_calls import merge_generations
from seekwatch.processors.trace.roots import encloses_run, select_root
from seekwatch.processors.trace.run_context import read_context, read_limits, read_stop_reason
from seekwatch.processors.trace.run_question import find_question
from seekwatch.processors.trace.run_texts import find_answer
from seekwatch.processors.trace.searches import merge_searches
from seekwatch.processors.trace.tree import TraceTree


def normalise(cut: Cut, redactor: Redactor, lanes: LanePolicy) -> Episode | None:
    """Turn a cut into an episode.

    Args:
        cut: a closed trace.
        redactor: masks secrets that others wrote; nothing enters the episode around it.
        lanes: which environments are production.

    Returns:
        The episode, or None for a foreign trace: one without an agent, LLM or retriever span.
    """
    spans, undecodable = decode_spans(cut.spans)
    logs = _decode_logs(cut.logs)
    cleaner = Cleaner(redactor)
    facts = [read_span(span, logs.get(span.span_id, []), cleaner) for span in spans]
    if not any(fact.role in RUN_ROLES for fact in facts):
        return None
    return _episode(cut, facts, undecodable, lanes, cleaner)


def _episode(
    cut: Cut, facts: list[SpanFacts], undecodable: int, lanes: LanePolicy, cleaner: Cleaner
) -> Episode:
    add_exchanges(facts, cleaner)
    tree = TraceTree(facts)
    root = select_root(tree)
    completeness = _completeness(cut, tree, root, undecodable)
    answer, candidates = find_answer(root, tree)
    searches, fetches = merge_searches(tree), merge_fetches(tree)
    question = find_question(root, facts, answer, (searches, fetches), cleaner)
    start, end = root.view.start, root.view.end
    if not encloses_run(tree, root):
        start = min(fact.view.start for fact in facts)
        end = max(fact.view.end for fact in facts)
    return Episode(
        trace=cut.trace,
        root=root.span,
        start=start,
        end=end,
        context=read_context(root, facts, lanes, cleaner),
        question=None if question is None else question.value,
        answer=answer,
        searches=searches,
        fetches=fetches,
        generations=merge_generations(tree),
        rails=tuple(rail for fact in facts for rail in fact.rails),
        limits=read_limits(root, facts),
        stop_reason=read_stop_reason(root, facts, answered=answer is not None),
        root_error=root.error,
        root_kind=root.role.upper(),
        answer_candidates=candidates,
        span_count=len(facts),
        dialects=tuple(sorted({fact.dialect for fact in facts} - {UNKNOWN})),
        completeness=completeness,
    )


def _completeness(cut: Cut, tree: TraceTree, root: SpanFacts, undecodable: int) -> Completeness:
    """Count what is known to be missing.

    A parent above the run need not arrive (the web server that called the agent is traced
    elsewhere, or not at all), so the run's own missing parent counts for nothing.
    """
    above = root.view.parent_id
    is_run = root.role in (Role.AGENT, Role.WORKFLOW)
    return Completeness(
        root_seen=is_run or not tree.lacks_parent(root),
        missing_parents=sum(
            1
            for fact in tree.facts
            if tree.lacks_parent(fact) and not (is_run and fact.view.parent_id == above)
        ),
        dropped_attributes=sum(fact.view.dropped_attributes for fact in tree.facts),
        truncated_spans=cut.truncated_spans,
        withheld=any(fact.withheld for fact in tree.facts),
        undecodable_spans=undecodable,
    )


def decode_spans(items: tuple[RawItem, ...]) -> tuple[list[SpanView], int]:
    """Decode spans, sorted by (start, span id); also say how many could not be.

    Of two spans with one id the one whose bytes hash smaller wins, whatever order they came in.
    """
    chosen: dict[str, tuple[RawItem, SpanView]] = {}
    undecodable = 0
    for item in items:
        try:
            span = SpanView(item.raw, _group(item.resource, item.scope))
        except UndecodableError:
            undecodable += 1
            continue
        known = chosen.get(span.span_id)
        if known is None or content_hash(item.raw) < content_hash(known[0].raw):
            chosen[span.span_id] = (item, span)
    spans = [span for _, span in chosen.values()]
    spans.sort(key=lambda span: (span.start, span.span_id))
    return spans, undecodable


def _decode_logs(items: tuple[RawItem, ...]) -> dict[str, list[LogView]]:
    """Decode log records by the span that they belong to, in order of time."""
    by_span: dict[str, list[LogView]] = {}
    for item in items:
        try:
            record = LogView(item.raw, _group(item.resource, item.scope))
        except UndecodableError:
            # Content that is missing shows as missing; a log record is never a span of work.
            continue
        if record.span_id is not None:
            by_span.setdefault(record.span_id, []).append(record)
    for records in by_span.values():
        records.sort(key=lambda record: record.time)
    return by_span


def content_hash(raw: bytes) -> bytes:
    """Return the hash by which duplicates of one span are told apart."""
    return hashlib.sha256(raw).digest()


@lru_cache(maxsize=1024)
def _group(resource: bytes, scope: bytes) -> Group:
    """Decode a group; agents send the same few with every request."""
    return Group(resource, scope)
