"""What made the roots of an agent's runs, whether runs were mixed, and how many were sampled out.

A run that nobody marked is found by the SDK itself, and where nothing told two of them apart they
are one trace: their scores are of neither. Only the spans say so, never a scorecard.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from seekwatch.core import attributes
from seekwatch.core.errors import UndecodableError
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.otlp.view import Group, SpanView
from seekwatch.core.records import Signal
from seekwatch.processors.text.prompts import Brought, question_in

from .findings import Arrived, Finding, note, ok, wrong
from .siblings import FEWEST, Calls, siblings

_MARK: Final = (
    "mark where each begins: with agent_run(question) as run, or "
    'instrument(…, entrypoint="package.module:function")'
)
_RUN_KINDS: Final = frozenset(
    {attributes.KIND_AGENT, attributes.KIND_LLM, attributes.KIND_RETRIEVER}
)
_RUN_OPERATIONS: Final = frozenset(
    {
        attributes.OPERATION_CHAT,
        attributes.OPERATION_INVOKE_AGENT,
        attributes.OPERATION_RETRIEVAL,
        "generate_content",
        "text_completion",
    }
)
_NO_ROOT: Final = frozenset({attributes.KIND_LLM, attributes.KIND_RETRIEVER, attributes.KIND_TOOL})
"""Kinds that are steps of a run: one that stands on top has no run above it."""
_NO_ROOT_OPERATIONS: Final = _RUN_OPERATIONS - {attributes.OPERATION_INVOKE_AGENT}


@dataclass(slots=True)
class _Trace:
    """What is known of one trace from the spans that were looked at."""

    marks: set[str] = field(default_factory=set[str])
    """Values of `seekwatch.run.root`."""
    is_run: bool = False
    top: SpanView | None = None
    questions: int = 1
    from_prompt: bool = False
    """Whether a root that nobody marked has a prompt for its question."""
    calls: Calls = field(default_factory=Calls)


def examine_roots(arrived: Sequence[Arrived]) -> list[Finding]:
    """Look at the newest records of spans, agent by agent.

    Args:
        arrived: oldest first.
    """
    agents: dict[str, dict[str, _Trace]] = {}
    processes: dict[str, dict[str, SpanView]] = {}
    for span in _spans(arrived):
        agent = span.text(attributes.AGENT_NAME) or span.resource.text(attributes.SERVICE_NAME)
        if agent is None:
            continue
        if attributes.UNSAMPLED_RUNS in span:
            _keep_newest(processes.setdefault(agent, {}), span)
        _look(agents.setdefault(agent, {}).setdefault(span.trace_id, _Trace()), span)
    findings: list[Finding] = []
    for agent, traces in sorted(agents.items()):
        findings += _agent(agent, [trace for trace in traces.values() if trace.is_run])
        findings += _unsampled(agent, processes.get(agent, {}).values())
    return findings


def _look(trace: _Trace, span: SpanView) -> None:
    trace.calls.look(span)
    kind = (span.text(attributes.SPAN_KIND) or "").upper()
    operation = span.text(attributes.OPERATION_NAME)
    if kind in _RUN_KINDS or (not kind and operation in _RUN_OPERATIONS):
        trace.is_run = True
    mark = span.text(attributes.RUN_ROOT)
    if mark is not None:
        trace.marks.add(mark)
        trace.questions = max(trace.questions, span.integer(attributes.RUN_QUESTIONS) or 1)
        trace.from_prompt |= mark == "implicit" and _is_prompt(span.text(attributes.QUESTION) or "")
    if (span.parent_id is None or span.remote_parent) and (
        trace.top is None or span.start < trace.top.start
    ):
        trace.top = span


def _agent(agent: str, runs: Sequence[_Trace]) -> Iterator[Finding]:
    if not runs:
        return
    makers = Counter(maker for run in runs if (maker := _maker(run)) is not None)
    known = sum(makers.values())
    if known:
        named = ", ".join(f"{name} {number / known:.0%}" for name, number in makers.most_common(8))
        yield ok(agent, f"the roots of its {known} newest runs were made by: {named}")
    bare = sum(_has_no_root(run) for run in runs)
    if bare:
        yield wrong(
            agent,
            f"{bare} of {len(runs)} traces are single calls with no run above them: each is "
            "scored as a run of its own",
            f"let instrument() see where they are made, or {_MARK}",
        )
    prompts = sum(run.from_prompt for run in runs)
    if prompts:
        yield note(
            agent,
            f"the question of {prompts} of {len(runs)} runs was read out of a prompt: what the "
            "person asked may be another part of it",
            "name it: with agent_run(question) as run, or "
            'instrument(…, entrypoint="package.module:function")',
        )
    mixed = sum(run.questions > 1 for run in runs)
    if mixed:
        yield wrong(
            agent,
            f"{mixed} of {len(runs)} runs hold more than one question: they follow each other on "
            "one thread, and nothing tells where one ends",
            _MARK,
        )
    scattered = siblings(run.calls for run in runs if run.marks == {"implicit"})
    if scattered >= FEWEST:
        yield note(
            agent,
            f"{scattered} of {len(runs)} runs are one call each, without an answer, begun together "
            "in one process: tasks that make the first calls (asyncio.gather, a task group) are a "
            "run each",
            f"where they belong to one question, {_MARK}",
        )


def _is_prompt(question: str) -> bool:
    """Tell a question that holds more; alone, for what was found is in other spans."""
    return question_in(question, Brought()) != question


def _maker(run: _Trace) -> str | None:
    """Return what made the root of a run; None where the root has not come, or is none."""
    for mark in ("agent_run", "entrypoint", "implicit"):
        # Marked by the agent's code below a span of a framework: the mark is the run.
        if mark in run.marks:
            return mark
    if run.top is None or _has_no_root(run):
        return None
    return f"framework {run.top.scope_name or 'without a scope'}"


def _has_no_root(run: _Trace) -> bool:
    if run.marks or run.top is None:
        return False
    kind = (run.top.text(attributes.SPAN_KIND) or "").upper()
    if kind:
        return kind in _NO_ROOT
    return run.top.text(attributes.OPERATION_NAME) in _NO_ROOT_OPERATIONS


def _unsampled(agent: str, newest: Iterable[SpanView]) -> Iterator[Finding]:
    """Find agents that say of themselves that some of their runs were not sampled."""
    spans = list(newest)
    unseen = sum(span.integer(attributes.UNSAMPLED_RUNS) or 0 for span in spans)
    seen = sum(span.integer(attributes.SAMPLED_RUNS) or 0 for span in spans)
    if unseen <= 0:
        return
    yield note(
        agent,
        f"blind to {unseen / (unseen + seen):.0%} of its runs: sampled out "
        f"({unseen} of {unseen + seen})",
        "counts are of the other runs alone; for all of them set OTEL_TRACES_SAMPLER="
        "parentbased_always_on there and in the services that call it, and sample after Seekwatch",
    )


def _keep_newest(processes: dict[str, SpanView], span: SpanView) -> None:
    process = span.resource.text(attributes.SERVICE_INSTANCE_ID) or ""
    known = processes.get(process)
    if known is None or span.start >= known.start:
        processes[process] = span


def _spans(arrived: Iterable[Arrived]) -> Iterator[SpanView]:
    for record in arrived:
        try:
            items = raw_items(record.value, Signal.TRACES)
        except UndecodableError:
            continue  # the worker has put it among the dead letters, which are looked at too
        for item in items:
            try:
                yield SpanView(item.raw, Group(item.resource, item.scope))
            except UndecodableError:
                continue
