"""`agent_run`: one run of an agent as a span, for agents that know where a run begins and ends."""

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Literal, Self, cast

from opentelemetry.context import Context, get_value, set_value
from opentelemetry.context import get_current as get_current_context
from opentelemetry.trace import (
    Span,
    SpanKind,
    TraceFlags,
    get_current_span,
    set_span_in_context,
)

from seekwatch.core import attributes
from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._export.batching import end_with_clean_keys
from seekwatch.sdk._finisher import QUEUE_FULL
from seekwatch.sdk._guard import guard, guarded
from seekwatch.sdk._runtime import Runtime, current
from seekwatch.sdk._version import version

from . import implicit
from .citations import Citation, as_given, encoded
from .errors import mark_error
from .stale import RUN_KEY, without_stale

StopReason = Literal["answered", "refused", "deadline", "budget", "crashed"]
Lane = Literal["live", "nonproduction", "fixture", "canary", "replay"]

Root = Literal["agent_run", "entrypoint"]

_ESTIMATED_BYTES: Final = 1024
_OURS: Final = (attributes.SDK_VERSION, attributes.RUN_ROOT, attributes.STOP_REASON)
"""What is said in our own words, and needs no masking."""


class AgentRun:
    """One run of the agent; made by `agent_run`, usable with `with` and `async with`.

    Every method may be called at any time and more than once; what was said last counts. Outside
    an instrumented process nothing happens.
    """

    def __init__(
        self, question: str | None, name: str | None = None, root: Root = "agent_run"
    ) -> None:
        self._question = question
        self._root = root
        self._name = name
        self._runtime: Runtime | None = None
        self._span: Span | None = None
        self._token: Any = None
        self._context: Context | None = None
        self._stopped: StopReason | None = None
        self._answered = False
        self._ended = False
        self._abandoned = False
        self._lock = threading.RLock()
        self._said: dict[str, Any] = {}
        """Attributes that the span gets when it is finished, as they were said."""
        self._cited: list[dict[str, Any]] = []
        self._end_ns = 0
        self.size = _ESTIMATED_BYTES
        """Bytes that the run keeps alive while it waits to be finished."""

    @property
    def ended(self) -> bool:
        """Whether the run is over."""
        return self._ended

    def is_stale_in(self, context: Context) -> bool:
        """Whether the run has ended, yet could not be taken out of this context.

        So it goes with a `with` block in a generator that another task or thread closes: the
        first one's context still holds the run. (A task that outlives its run is another matter:
        its spans still belong to the run that started it.)
        """
        return self._ended and self._abandoned and get_current_span(context) is self._span

    @property
    def otel_context(self) -> Context | None:
        """The context in which the run's span is current; None when nothing is recorded."""
        return self._context

    @guarded("starting a run")
    def open(self) -> None:
        """Start the run's span without making it current; `with` does both."""
        runtime = self._runtime = current()
        if runtime is None:
            return
        agent = self._name or runtime.config.agent
        context = parent_context(opening=False)
        # Said by the agent's code, so it wins: what nobody marked is over where this begins.
        implicit.end_here()
        said = self._said
        said[attributes.SDK_VERSION] = version()
        if context.get(RUN_KEY) is None:
            said[attributes.RUN_ROOT] = self._root
        if self._question is not None:
            said[attributes.QUESTION] = said[attributes.INPUT_VALUE] = self._question
            self.size += len(self._question)
        named = runtime.redactor.text(agent) if runtime.shared else agent
        described = {
            **runtime.common,
            attributes.SPAN_KIND: attributes.KIND_AGENT,
            attributes.OPERATION_NAME: attributes.OPERATION_INVOKE_AGENT,
            attributes.AGENT_NAME: named,
        }
        self._span = runtime.tracer.start_span(
            f"invoke_agent {named}", context, SpanKind.INTERNAL, described
        )
        runtime.count(self._span.get_span_context())
        runtime.marked_runs.add(self)
        self._context = set_value(RUN_KEY, self, set_span_in_context(self._span, context))

    def _set(self, values: dict[str, Any]) -> None:
        if not self._ended:
            self._said |= values

    @guarded("noting an answer")
    def answer(
        self,
        text: str,
        citations: Sequence[Citation | Mapping[str, Any] | str] = (),
        *,
        refused: bool = False,
    ) -> None:
        """Note the answer that the user gets.

        Args:
            text: the answer, as shown.
            citations: URLs, or mappings with `url` and what is known of `title`, `quote`,
                `start`, `end` (characters of `text`, half-open).
            refused: the agent declined to answer; `text` is its refusal.
        """
        self._answered = True
        if refused:
            self._stopped = "refused"
        cited = [as_given(each) for each in citations]
        if self._ended:
            return
        self._set({attributes.ANSWER: text, attributes.OUTPUT_VALUE: text})
        self.size += len(text)
        if cited:
            self._cited = cited

    @guarded("noting limits")
    def limits(
        self,
        *,
        deadline: float | None = None,
        budget: float | None = None,
        attempts: int | None = None,
        retries: int | None = None,
        requests: int | None = None,
        crawl_depth: int | None = None,
        escalations: int | None = None,
    ) -> None:
        """Note the limits that the run is under; one that is not given is no limit.

        Args:
            deadline: seconds from the start of the run.
            budget: US dollars.
            attempts: attempts at one URL.
            retries: retries in the whole run.
            requests: requests in the whole run.
            crawl_depth: links followed from a search result.
            escalations: changes to a stronger adapter.
        """
        given = {
            "deadline": None if deadline is None else float(deadline),
            "budget": None if budget is None else float(budget),
            "attempts": attempts,
            "retries": retries,
            "requests": requests,
            "crawl_depth": crawl_depth,
            "escalations": escalations,
        }
        self._set(
            {attributes.LIMIT_PREFIX + k: value for k, value in given.items() if value is not None}
        )

    @guarded("noting the context of a run")
    def context(
        self,
        *,
        lane: Lane | None = None,
        case: str | None = None,
        corpus: str | None = None,
        region: str | None = None,
        as_of: datetime | str | None = None,
        principal: str | None = None,
        configuration: str | None = None,
        conversation: str | None = None,
    ) -> None:
        """Note where the run comes from.

        Args:
            lane: live traffic (the default), or one of the lanes kept apart from it.
            case: id of a fixed case with known truth.
            corpus: version of the corpus that the run searches.
            region: region that the answer is for.
            as_of: the moment that ages count from, when it is not the run's own.
            principal: the user on whose behalf it goes; only a salted hash leaves the process.
            configuration: fingerprint of the agent's configuration.
            conversation: id of the conversation that the run belongs to.
        """
        moment = as_of.isoformat() if isinstance(as_of, datetime) else as_of
        hashed = None
        if principal is not None and self._runtime is not None:
            hashed = self._runtime.principal(principal)
        given = {
            attributes.LANE: lane,
            attributes.CASE_ID: case,
            attributes.CORPUS_VERSION: corpus,
            attributes.REGION: region,
            attributes.AS_OF: moment,
            attributes.PRINCIPAL: hashed,
            attributes.CONFIGURATION: configuration,
            attributes.CONVERSATION_ID: conversation,
        }
        self._set({key: value for key, value in given.items() if value is not None})

    @guarded("noting why a run stopped")
    def stop(self, reason: StopReason) -> None:
        """Note why the run stops, when it is not for an answer."""
        self._stopped = reason

    @guarded("entering a run")
    def _enter(self) -> None:
        self.open()
        if self._context is not None:
            self._token = attach(self._context)

    @guarded("leaving a run")
    def _exit(self, error: BaseException | None) -> None:
        token, self._token = self._token, None
        self._abandoned = not detach(token)
        self.close(error)

    @guarded("ending a run")
    def close(self, error: BaseException | None = None) -> None:
        """End the run's span; only the first call counts."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
        span, runtime = self._span, self._runtime
        if span is None or runtime is None:
            return
        runtime.marked_runs.remove(self)
        if not span.is_recording():
            return
        reason = self._stopped or self._derived_reason(error)
        if reason is not None:
            self._said[attributes.STOP_REASON] = reason
        if error is not None and not isinstance(error, GeneratorExit):
            mark_error(span, error, runtime)
        self._end_ns = time.time_ns()
        runtime.finisher.submit(self)

    def finish(self) -> None:
        """Say what was said, masked, and end the span; a job of the finisher."""
        span, runtime = self._span, self._runtime
        if span is None or runtime is None:
            return
        if self._cited:
            self._said[attributes.CITATIONS] = encoded(self._cited)
        prepared = runtime.prepared(self._said)
        span.set_attributes(prepared)
        end_with_clean_keys(span, self._end_ns, frozenset(prepared))

    def abandon(self, reason: str) -> None:
        """End the span whatever happens: with all that was said where only the queue was full."""
        if reason == QUEUE_FULL:
            with guard("finishing a run"):
                self.finish()
        span = self._span
        if span is not None and span.is_recording():
            span.set_attributes({key: self._said[key] for key in _OURS if key in self._said})
            span.set_attribute(attributes.CONTENT_OMITTED, reason)
            span.end(self._end_ns)

    @property
    def open_spans(self) -> int:
        """Whether its span has not ended yet, as a number."""
        return int(self._span is not None and self._span.is_recording())

    def _derived_reason(self, error: BaseException | None) -> StopReason | None:
        if isinstance(error, TimeoutError):
            return "deadline"
        if error is not None and not isinstance(error, GeneratorExit):
            return "crashed"
        return "answered" if self._answered else None

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._exit(error)

    async def __aenter__(self) -> Self:
        self._enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._exit(error)


def agent_run(question: str | None = None, *, name: str | None = None) -> AgentRun:
    """Begin one run of the agent, for `with` and `async with`.

    An exception inside marks the run and goes on unchanged.

    Args:
        question: what the user asked, as asked.
        name: the agent's name, when this process runs several.
    """
    return AgentRun(question, name)


def parent_context(opening: bool = True) -> Context:
    """Return the context that a new span of ours belongs to.

    Args:
        opening: the span is a RETRIEVER, TOOL or LLM span: where nothing is above it, it joins the
            implicit run of this context, or opens one.
    """
    context = without_stale(get_current_context())
    parent = get_current_span(context).get_span_context()
    if parent.is_valid:
        sampled = parent.trace_flags & TraceFlags.SAMPLED
        runtime = current()
        if runtime is not None and (not sampled or runtime.run_count.unsampled):
            runtime.count(parent)
        if not sampled or not parent.is_remote:
            return context
    return implicit.joined(context, parent) if opening else context


@guarded("reading the run of this context")
def current_run() -> AgentRun | None:
    """Return the run of this context, or None outside of one."""
    run = cast("AgentRun | None", get_value(RUN_KEY))
    return None if run is None or run.ended else run
