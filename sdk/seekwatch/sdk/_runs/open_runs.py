"""The implicit runs that are open, and what ends them beside their tasks and contexts.

A run ends with the task that opened it; else when the last context that holds it is gone (a
thread's end, an executor's item); else after its answer and a quiet time; else when nothing goes
on in it for as long as the monitor waits for a root; else at a cap. It always ends with the time
at which something last went on in it.
"""

import logging
import os
import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.trace import SpanContext, SpanKind

from seekwatch.core import attributes
from seekwatch.sdk._export.batching import end_with_clean_keys, held_attributes, is_finishing
from seekwatch.sdk._guard import failed, guard, say
from seekwatch.sdk._runtime import Runtime
from seekwatch.sdk._version import version

from .boundaries import Boundary
from .conversation import is_model_call, read_turn
from .implicit import ROOT, ImplicitRun

QUIET_SECONDS: Final = 30.0
"""Default of `SEEKWATCH_RUN_QUIET_SECONDS`: how long nothing goes on after an answer."""
CAP_SECONDS: Final = 3600.0
"""Default of `SEEKWATCH_RUN_MAX_SECONDS`: how long an implicit run lasts at most."""
IDLE_SECONDS: Final = 300.0
"""How long nothing goes on in a run without an answer: the monitor's own `closing.idle`, after
which it scores a trace without waiting for its root any longer."""
_LINGER_SECONDS: Final = 5.0
"""How long the thread outlives the last open run: starting one for each would cost more."""
_JOB_BYTES: Final = 1024


class OpenRuns(SpanProcessor):
    """Knows the open runs, and sees every span begin and end in them."""

    def __init__(self, quiet: float, cap: float) -> None:
        self.quiet = quiet
        self.idle = max(quiet, IDLE_SECONDS)
        self.cap = cap
        self._turn = min(1.0, quiet / 4)
        self.reset_after_fork()

    @classmethod
    def from_environment(cls) -> "OpenRuns":
        """Read `SEEKWATCH_RUN_QUIET_SECONDS` and `SEEKWATCH_RUN_MAX_SECONDS`."""
        return cls(
            _seconds("SEEKWATCH_RUN_QUIET_SECONDS", QUIET_SECONDS),
            _seconds("SEEKWATCH_RUN_MAX_SECONDS", CAP_SECONDS),
        )

    def reset_after_fork(self) -> None:
        """Begin anew in a forked child: the runs are the parent's to end."""
        for run in getattr(self, "_open", {}).values():
            run.disown()
        self._open: dict[int, ImplicitRun] = {}
        """By the ids of their traces."""
        self._released: queue.SimpleQueue[ImplicitRun | None] = queue.SimpleQueue()
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def __len__(self) -> int:
        """Return how many are open, or about to be finished."""
        return len(self._open)

    def open(
        self,
        runtime: Runtime,
        context: Context,
        remote: SpanContext | None,
        boundary: Boundary | None = None,
    ) -> ImplicitRun | None:
        """Open a run; None where tracing is off."""
        if self._closed:
            return None
        agent = runtime.config.agent
        told = None if boundary is None else boundary.told
        span = runtime.tracer.start_span(
            f"invoke_agent {agent}",
            context,
            SpanKind.INTERNAL,
            {
                **runtime.common,
                attributes.SPAN_KIND: attributes.KIND_AGENT,
                attributes.OPERATION_NAME: attributes.OPERATION_INVOKE_AGENT,
                attributes.AGENT_NAME: agent,
                attributes.SDK_VERSION: version(),
                attributes.RUN_ROOT: ROOT,
            },
            start_time=None if told is None else told.started_ns,
        )
        found = span.get_span_context()
        if not found.is_valid:
            return None
        runtime.count(found)
        run = ImplicitRun(self, runtime, span, remote, boundary)
        if span.is_recording():
            with self._lock:
                self._open[found.trace_id] = run
                if self._thread is None:
                    self._start()
        return run

    def released(self, run: ImplicitRun) -> None:
        """Note that no context holds a run any more; from any thread, at any point."""
        self._released.put(run)

    def finish(self, run: ImplicitRun) -> None:
        """Have the finisher end a run's span, after the spans in it."""
        run.runtime.finisher.submit(_Ending(run))

    def forget(self, run: ImplicitRun) -> None:
        """Take a run off the list."""
        with self._lock:
            if self._open.get(run.trace_id) is run:
                del self._open[run.trace_id]

    def end_open(self) -> None:
        """End every run that is open now; for the end of a process."""
        with self._lock:
            runs = list(self._open.values())
        for run in runs:
            with guard("ending a run"):
                run.end()

    def end_all(self) -> None:
        """End every open run; no further one opens."""
        self._closed = True
        self.end_open()
        self._released.put(None)

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="seekwatch-runs", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # The interpreter is shutting down; `end_all` ends what is open.
            self._thread = None

    def _run(self) -> None:
        idle_since = time.monotonic()
        while True:
            with guard("ending runs"):
                self._end_released(self._turn)
                self._sweep()
            if self._closed:
                # `end_all` has ended what was open.
                return
            if self._open:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > _LINGER_SECONDS:
                with self._lock:
                    if not self._open:
                        self._thread = None
                        return

    def _end_released(self, timeout: float) -> None:
        """End the runs that are let go, for so many seconds at most."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            try:
                run = self._released.get(timeout=left)
            except queue.Empty:
                return
            if run is None:
                return
            run.end()

    def _sweep(self) -> None:
        now = time.monotonic()
        with self._lock:
            runs = list(self._open.values())
        for run in runs:
            if run.ended and now - run.ended_at > self.quiet:
                # Its ending was lost on the way, and it must not stay here for ever.
                self.forget(run)
            elif self._is_over(run, now):
                run.end()

    def _is_over(self, run: ImplicitRun, now: float) -> bool:
        if now - run.opened > self.cap:
            return True
        if run.in_flight:
            return False
        done = not run.bounded and (run.conversation.answered or not run.agentic)
        return now - run.last > (self.quiet if done else self.idle)

    def on_start(self, span: SdkSpan, parent_context: Context | None = None) -> None:
        """Note a span of an open run."""
        # Fenced without a call, as is the next: every span of everybody's comes by here.
        try:
            if not self._open:
                return
            context = span.get_span_context()
            if context.trace_id in self._open:
                self.announce(context, held_attributes(span), span.start_time or 0)
        except Exception as error:  # noqa: BLE001 - this is the fence around our own code
            failed("seeing a span begin", error)

    def announce(self, context: SpanContext, described: Mapping[str, Any], start_ns: int) -> None:
        """Note a span that begins, whether it is made already or not."""
        run = self._open.get(context.trace_id)
        if run is not None:
            run.began(context.span_id, start_ns, agentic=not run.agentic and _is_agentic(described))

    def on_end(self, span: ReadableSpan) -> None:
        """Note that it is over; a model call's words are read on the finisher's thread."""
        try:
            if self._open:
                self._ended(span)
        except Exception as error:  # noqa: BLE001 - this is the fence around our own code
            failed("seeing a span end", error)

    def _ended(self, span: ReadableSpan) -> None:
        context = span.context
        run = None if context is None else self._open.get(context.trace_id)
        if run is None or context is None:
            return
        run.over(context.span_id, span.end_time or 0)
        if not is_model_call(held_attributes(span)):
            return
        # Some say what they are only after they began.
        run.agentic = True
        reading = _Reading(run, span)
        if is_finishing():
            reading.finish()
        else:
            run.runtime.finisher.submit(reading)


def _seconds(name: str, default: float) -> float:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0 < seconds < float("inf"):
        return seconds
    say(logging.WARNING, "%s=%r is not a positive number of seconds; using %g", name, text, default)
    return default


def _is_agentic(described: Mapping[str, Any]) -> bool:
    """Tell whether a span is more than a plain fetch and what others make of it."""
    kind = described.get(attributes.SPAN_KIND)
    if kind in {attributes.KIND_LLM, attributes.KIND_RETRIEVER, attributes.KIND_AGENT}:
        return True
    if kind == attributes.KIND_TOOL:
        return described.get(attributes.GENAI_TOOL_NAME) != "fetch"
    return is_model_call(described)


class _Reading:
    """Reads what an ended model call of others says: a job of the finisher."""

    def __init__(self, run: ImplicitRun, span: ReadableSpan) -> None:
        self._run = run
        self._span = span
        self.size = _JOB_BYTES

    def finish(self) -> None:
        span = self._span
        turn = read_turn(held_attributes(span), span.start_time or 0, span.end_time or 0)
        self._run.conversation.add(turn)

    def abandon(self, reason: str) -> None:
        """Do nothing: the span has ended already."""

    @property
    def open_spans(self) -> int:
        return 0


class _Ending:
    """Ends a run's span: a job of the finisher, behind those of the spans in it."""

    size = _JOB_BYTES

    def __init__(self, run: ImplicitRun) -> None:
        self._run = run

    def finish(self) -> None:
        run = self._run
        run.runs.forget(run)
        span: Any = run.span
        if not run.agentic:
            span.update_name("fetches")
        prepared = run.runtime.prepared(run.summary())
        run.told = None
        span.set_attributes(prepared)
        end_with_clean_keys(span, run.last_ns, frozenset(prepared))

    def abandon(self, reason: str) -> None:
        run = self._run
        run.runs.forget(run)
        run.span.set_attribute(attributes.CONTENT_OMITTED, reason)
        run.span.end(run.last_ns)

    @property
    def open_spans(self) -> int:
        return int(self._run.span.is_recording())
