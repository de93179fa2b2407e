"""Boundaries: parts of an agent's work, such as a request, that are one run at most.

Where a framework's agent, a web server or a task queue calls a function for each question, nobody
needs to guess from silence where a run ends. A boundary makes no span: the first call inside that
has nothing above it opens an implicit run, which ends with the boundary. Where an instrumentor
makes spans of its own inside, no run opens, and nothing is there twice.

It lies in OpenTelemetry's context, so it follows that into tasks, threads and executors.
"""

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context, create_key, get_current, set_value
from opentelemetry.trace import SpanContext, get_current_span

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._runtime import Runtime, current

from .calls import Told
from .stale import without_stale

if TYPE_CHECKING:
    from .implicit import ImplicitRun

_KEY: Final = create_key("seekwatch-boundary")


class Boundary:
    """One part of the work, and the run that opened in it, if any did."""

    __slots__ = ("__weakref__", "_lock", "closed", "run", "told")

    def __init__(self, told: Told | None = None) -> None:
        self.told = told
        """What an agent's function was given and returned; None of a mere request."""
        self.run: ImplicitRun | None = None
        self.closed = False
        # Reentrant: the collector of garbage may run anything at any point.
        self._lock = threading.RLock()

    def opened(
        self, runtime: Runtime, context: Context, remote: SpanContext | None
    ) -> "ImplicitRun | None":
        """Return its run; opens one where there is none, or where it belongs to somebody else."""
        runs = runtime.runs
        if runs is None:
            return None
        with self._lock:
            if self.closed:
                return None
            run = self.run
            if run is None or not run.admits(runtime, remote):
                if run is not None:
                    run.end()
                run = self.run = runs.open(runtime, context, remote, self)
            return run

    def close(self, error: BaseException | None = None) -> None:
        """End it, and its run; only the first call counts."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            run = self.run
        if self.told is not None:
            self.told.error = error
            if run is not None:
                # The agent's own work goes on to its end; a request's answer may wait for a client.
                run.last_ns = time.time_ns()
            # The run has it still; contexts may hold the boundary for long.
            self.told = None
        if run is not None:
            run.end()

    @guarded("letting go of a boundary")
    def __del__(self) -> None:
        # A handle that nobody awaited, a stream that nobody read.
        run = self.run
        if run is not None and not run.ended:
            run.runs.released(run)


def boundary_of(context: Context) -> Boundary | None:
    """Return the boundary of a context: one that is open, or whose run may still be joined."""
    found = context.get(_KEY)
    if not isinstance(found, Boundary):
        return None
    if found.closed and (found.run is None or found.run.is_past(current())):
        return None
    return found


def is_inside(context: Context) -> bool:
    """Tell whether a boundary is open in a context, or a span of this process is above it."""
    parent = get_current_span(without_stale(context)).get_span_context()
    if parent.is_valid and not parent.is_remote:
        return True
    found = boundary_of(context)
    return found is not None and not found.closed


class BoundaryScope:
    """A boundary around one call of a function; what `wrapping.wrap` runs the function in."""

    __slots__ = ("_boundary", "_context")

    def __init__(self, told: Told | None = None) -> None:
        self._boundary = Boundary(told)
        self._context = set_value(_KEY, self._boundary, without_stale(get_current()))

    @property
    def otel_context(self) -> Context | None:
        """The context with the boundary."""
        return self._context

    def result(self, value: Any) -> None:
        """Note what the function returned."""
        told = self._boundary.told
        if told is not None:
            told.result = value

    def close(self, error: BaseException | None = None) -> None:
        """End the boundary."""
        self._boundary.close(error)


def request(_args: tuple[Any, ...], _kwargs: Mapping[str, Any]) -> BoundaryScope | None:
    """Begin a request: whatever run its thread still holds, it is another one."""
    if current() is None or is_inside(get_current()):
        return None
    return BoundaryScope()
