"""Carries the span and the run over to threads and executors, and ends a run with its item.

What a run starts in a thread belongs to it; an item of a pool that belongs to none is a boundary:
the run that opens inside ends with it, and the next item of that worker thread begins anew.

Only OpenTelemetry's context and our own variable are carried, not every context variable: others
mean theirs to stay where they are. A pool's own threads get nothing, since they outlive the run
that happened to start them.
"""

import concurrent.futures
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context, get_current

from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._guard import guarded
from seekwatch.sdk._replacing import Undo, replace_all
from seekwatch.sdk._runtime import current

from .implicit import Link, current_run, held

if TYPE_CHECKING:
    from contextvars import Token

_ALONE: Final = (
    "anyio.",
    "apscheduler.",
    "concurrent.futures.",
    "ddtrace.",
    "gunicorn.",
    "langfuse.",
    "langsmith.",
    "multiprocessing.",
    "opentelemetry.",
    "posthog.",
    "seekwatch.sdk.",
    "sentry_sdk.",
    "socketserver.",
    "uvicorn.",
    "waitress.",
)
"""Packages whose threads serve many runs, or none, whoever starts them.

A list, since nothing at a thread's start tells it from one of the agent's: such threads are often
started late, by the first call inside a run; agents start daemons, too; and how long a thread will
live, or whom it will serve, is not known yet.
"""


class _Carried:
    """What one thread hands to another: the context of a span, and a run."""

    __slots__ = ("_attached", "_context", "_link", "_set")

    def __init__(self) -> None:
        self._context: Context | None = get_current() or None
        run = current_run()
        # A link and not the handle: what is carried does not keep a run alive.
        self._link = None if run is None else Link(run)
        self._attached: Any = None
        self._set: Token[Link | None] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a span nor a run."""
        return self._context is None and self._link is None

    @guarded("entering a thread or an executor's item")
    def enter(self) -> None:
        """Make it current in this thread."""
        self._set = held.set(self._link)
        # The stock threading instrumentation may have done it already.
        if self._context is not None and get_current() is not self._context:
            self._attached = attach(self._context)

    @guarded("leaving a thread or an executor's item")
    def leave(self) -> None:
        """Leave the thread as it was; a run that opened inside is let go, and ends."""
        detach(self._attached)
        if self._set is not None:
            held.reset(self._set)


class _Item:
    """A function that runs where it is called, with what was current where it was handed over."""

    __slots__ = ("_carried", "_function")

    def __init__(self, carried: _Carried, function: Callable[..., Any]) -> None:
        self._carried = carried
        self._function = function

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        self._carried.enter()
        try:
            return self._function(*args, **kwargs)
        finally:
            self._carried.leave()


@guarded("handing over a run")
def _item(function: Callable[..., Any]) -> _Item | None:
    return None if current() is None else _Item(_Carried(), function)


def _submit(original: Callable[..., Any]) -> Callable[..., Any]:
    def submit(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return original(self, _item(fn) or fn, *args, **kwargs)

    return submit


def _start(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(self: threading.Thread) -> None:
        _carry_into(self)
        original(self)

    return start


@guarded("handing a run to a thread")
def _carry_into(thread: threading.Thread) -> None:
    """Have a thread run with what is current here, whatever class it is of."""
    carried = None if current() is None else _Carried()
    if carried is None or carried.is_empty:
        return
    target = getattr(thread, "_target", None)
    for module in (type(thread).__module__, getattr(target, "__module__", None)):
        if f"{module}.".startswith(_ALONE):
            return
    inside = _Item(carried, thread.run)

    def run_inside() -> None:
        # The instance's own `run` goes first, so that no reference to the thread stays in it.
        vars(thread).pop("run", None)
        inside()

    vars(thread)["run"] = run_inside


def install() -> Undo:
    """Wrap executors and threads; returns what puts the originals back."""
    return replace_all(
        (
            (concurrent.futures.ThreadPoolExecutor, "submit", _submit),
            (threading.Thread, "start", _start),
        )
    )
