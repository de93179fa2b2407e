"""Runs that nobody marks: the first call of a task or thread without a parent opens one.

The run is kept in a variable of the current context and never attached to OpenTelemetry's: spans
of others find no parent that they did not have, and nothing has to be detached in a context where
it was not attached. Tasks and copies of the context inherit it; when the last of them is gone, so
is the handle that they share, and the run ends. See `open_runs` for the other ways to end.

An inherited run is joined only where it is an agent's for sure: after a model call, a search or a
decorated call. A configuration that a server fetches as it starts would else swallow every request.
"""

import os
import sys
import threading
import time
import weakref
from contextvars import Context as Variables
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanContext, set_span_in_context

from seekwatch.core import attributes
from seekwatch.sdk._guard import guarded
from seekwatch.sdk._runtime import Runtime, current

from .boundaries import Boundary, boundary_of, is_inside
from .conversation import Conversation

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from .open_runs import OpenRuns

ROOT: Final = "implicit"


class ImplicitRun:
    """One run that a call without a parent has opened."""

    __slots__ = (
        "__weakref__",
        "_lock",
        "_process",
        "_task",
        "_thread",
        "agentic",
        "bounded",
        "conversation",
        "ended",
        "ended_at",
        "in_flight",
        "last",
        "last_ns",
        "opened",
        "remote",
        "runs",
        "runtime",
        "span",
        "told",
        "trace_id",
    )

    def __init__(
        self,
        runs: "OpenRuns",
        runtime: Runtime,
        span: Span,
        remote: SpanContext | None,
        boundary: Boundary | None = None,
    ) -> None:
        self.runs = runs
        self.runtime = runtime
        self.span = span
        self.remote = remote
        """The parent in another process, where there is one."""
        self.bounded = boundary is not None
        """Whether something outside of it says where it ends."""
        self.told = None if boundary is None else boundary.told
        """What the agent's function was given and returned, where that is what bounds it."""
        self.trace_id = span.get_span_context().trace_id
        self.opened = self.last = time.monotonic()
        self.last_ns = time.time_ns()
        """When the last span in it ended, or began."""
        self.in_flight: set[int] = set()
        """Ids of its spans that have not ended."""
        self.agentic = self.told is not None
        """Whether it has more in it than plain fetches."""
        self.conversation = Conversation()
        self.ended = False
        self.ended_at = 0.0
        self._process = os.getpid()
        self._thread = threading.get_ident()
        task = _current_task()
        self._task: Callable[[], object] = _nothing if task is None else weakref.ref(task)
        self.reset_lock()
        if task is not None and span.is_recording() and not self.bounded:
            # In a context of its own: it must not keep alive the one that holds the run.
            task.add_done_callback(self._task_done, context=Variables())

    def reset_lock(self) -> None:
        """Take a new lock, at first and in a forked child."""
        # Reentrant: the collector of garbage may end a span of somebody at any point.
        self._lock = threading.RLock()

    @property
    def is_here(self) -> bool:
        """Whether the current task, or thread where there is no task, is the one it opened in."""
        return (
            self._thread == threading.get_ident()
            and self._task() is _current_task()
            and self._process == os.getpid()
        )

    @property
    def in_task(self) -> bool:
        """Whether it opened in a task."""
        return self._task is not _nothing

    def admits(self, runtime: Runtime, remote: SpanContext | None) -> bool:
        """Tell whether a new span of the current context belongs to it."""
        if remote != self.remote or self.is_past(runtime):
            return False
        if self.ended:
            # What a task has started may go on for a while after it.
            return self.agentic and not self.is_here
        if self.bounded:
            return True
        if not self.span.is_recording():
            idle = self.runs.idle if self.in_task else self.runs.quiet
            return time.monotonic() - self.last < idle
        return self.agentic or self.is_here

    def is_past(self, runtime: Runtime | None) -> bool:
        """Tell whether nothing can join it any more."""
        if runtime is not self.runtime:
            return True
        return self.ended and time.monotonic() - self.ended_at >= self.runs.quiet

    def touch(self) -> None:
        """Note that something goes on."""
        self.last = time.monotonic()

    def began(self, span_id: int, start_ns: int, *, agentic: bool) -> None:
        """Note that a span in it began; of one that is made late this is said twice."""
        with self._lock:
            self.in_flight.add(span_id)
        self.last = time.monotonic()
        self.last_ns = max(self.last_ns, start_ns)
        if agentic:
            self.agentic = True

    def over(self, span_id: int, end_ns: int) -> None:
        """Note that a span in it ended."""
        with self._lock:
            self.in_flight.discard(span_id)
        self.last = time.monotonic()
        self.last_ns = max(self.last_ns, end_ns)

    def end(self) -> None:
        """End it, with the time at which something last went on in it; only once."""
        with self._lock:
            if self.ended:
                return
            if self.in_flight:
                self.last_ns = time.time_ns()
            self.ended_at = time.monotonic()
            self.ended = True
        self.runs.finish(self)

    def disown(self) -> None:
        """Leave it to the process that opened it; for forked children."""
        self.reset_lock()
        self.ended_at = time.monotonic()
        self.ended = True

    @guarded("ending a run with its task")
    def _task_done(self, _task: object) -> None:
        self.end()

    def summary(self) -> dict[str, Any]:
        """Return what the run's span says at its end."""
        if not self.agentic:
            # A health check, a download: no run of an agent, and not to be scored as one.
            return {attributes.SPAN_KIND: attributes.KIND_CHAIN, attributes.OPERATION_NAME: "fetch"}
        values: dict[str, Any] = {}
        talk, told = self.conversation, self.told
        question = (None if told is None else told.question) or talk.question
        if question is not None:
            values[attributes.QUESTION] = values[attributes.INPUT_VALUE] = question
        answer = (None if told is None else told.answer) or talk.answer
        if answer is not None:
            values[attributes.ANSWER] = values[attributes.OUTPUT_VALUE] = answer
            values[attributes.STOP_REASON] = "answered"
        if told is not None and told.error is not None:
            values |= _failure(told.error)
        if talk.questions > 1 and told is None:
            values[attributes.RUN_QUESTIONS] = talk.questions
        return values


def _failure(error: BaseException) -> dict[str, str]:
    if isinstance(error, GeneratorExit):
        return {}
    reason = "deadline" if isinstance(error, TimeoutError) else "crashed"
    return {attributes.ERROR_TYPE: type(error).__qualname__, attributes.STOP_REASON: reason}


def _nothing() -> None:
    return None


def _current_task() -> "asyncio.Task[Any] | None":
    # An agent that never imports asyncio has no tasks, and does not pay for the import.
    module: Any = sys.modules.get("asyncio")
    if module is None:
        return None
    # The private function returns None where the public one raises.
    loop = module._get_running_loop()
    return None if loop is None else module.current_task(loop)


class Link:
    """A run, as a thread or an executor's item sees it that inherits it from another thread."""

    __slots__ = ("run",)

    def __init__(self, run: ImplicitRun) -> None:
        self.run = run


class Handle(Link):
    """A run, as the contexts hold it that it lives by: it ends when the last of them is gone."""

    __slots__ = ()

    @guarded("letting go of a run")
    def __del__(self) -> None:
        # Anywhere, at any point: the queue behind it is made for that, and nothing else is done.
        if not self.run.ended:
            self.run.runs.released(self.run)


held: Final[ContextVar[Link | None]] = ContextVar("seekwatch-implicit-run", default=None)
"""The run of this context."""


def joined(context: Context, parent: SpanContext) -> Context:
    """Return a context whose span is the implicit run's: the one held here, else a new one.

    Args:
        context: the current one.
        parent: of its span: invalid, or in another process.
    """
    runtime = current()
    if runtime is None or runtime.runs is None:
        return context
    remote = parent if parent.is_valid else None
    boundary = boundary_of(context)
    if boundary is not None:
        run = _joined_inside(boundary, runtime, context, remote)
        if run is not None:
            run.touch()
            return set_span_in_context(run.span, context)
    link = held.get()
    if link is not None:
        if link.run.admits(runtime, remote):
            link.run.touch()
            return set_span_in_context(link.run.span, context)
        if not link.run.ended and link.run.is_here:
            # Another request of another service: it tells that this one is over.
            link.run.end()
    run = runtime.runs.open(runtime, context, remote)
    if run is None:
        return context
    held.set(Handle(run) if run.span.is_recording() else Link(run))
    return set_span_in_context(run.span, context)


def _joined_inside(
    boundary: Boundary, runtime: Runtime, context: Context, remote: SpanContext | None
) -> ImplicitRun | None:
    if not boundary.closed:
        return boundary.opened(runtime, context, remote)
    # What it has started goes on after it.
    run = boundary.run
    return run if run is not None and run.admits(runtime, remote) else None


def current_run() -> ImplicitRun | None:
    """Return the implicit run that this context holds, where what it starts may still join it."""
    link = held.get()
    return None if link is None or link.run.is_past(current()) else link.run


def is_above(context: Context) -> bool:
    """Tell whether a run of an agent is open in a context, or a span or boundary above it."""
    if is_inside(context):
        return True
    run = current_run()
    return run is not None and run.agentic and (not run.ended or not run.is_here)


def _innermost() -> ImplicitRun | None:
    boundary = boundary_of(get_current())
    if boundary is not None and boundary.run is not None:
        return boundary.run
    link = held.get()
    return None if link is None else link.run


def end_here() -> None:
    """End the implicit run that this task or thread has opened; an explicit one begins."""
    run = _innermost()
    if run is not None and run.is_here:
        run.end()


def end_answered() -> bool:
    """End the implicit run of this context where its answer is known; for `flush`."""
    run = _innermost()
    if run is None or not run.conversation.answered:
        return False
    run.end()
    return True
