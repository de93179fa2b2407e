"""Boundaries that servers and task queues give: each request and each task is one run at most.

A worker serves one request after the other on one thread: without this, what one request opened
would go on in the next. No span is made of a request, which is what an instrumentor is for. Where
each has a task, a thread or an executor's item of its own (uvicorn, hypercorn, aiohttp, gunicorn's
threads), nothing needs to be told.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from seekwatch.sdk import _context
from seekwatch.sdk._guard import guard, guarded
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._replacing import Undo, Wrap, last_first, replace_imported

from .boundaries import BoundaryScope, request
from .wrapping import wrap

_MAX_TASKS: Final = 1000
"""Tasks at work that are remembered; those before them have lost their ends."""
_LAMBDA_HANDLERS: Final = ("ORIG_HANDLER", "_HANDLER")


@guarded("beginning a request")
def _begun() -> BoundaryScope | None:
    return request((), {})


class _Step:
    """Makes a request current while the application or its answer does something."""

    __slots__ = ("_scope", "_token")

    def __init__(self, scope: BoundaryScope) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        self._token = _entered(self._scope)

    def __exit__(self, *_: object) -> None:
        _left(self._token)


@guarded("entering a request")
def _entered(scope: BoundaryScope) -> Any:
    context = scope.otel_context
    return None if context is None else _context.attach(context)


@guarded("leaving a request")
def _left(token: Any) -> None:
    _context.detach(token)


@guarded("ending a request")
def _end(scope: BoundaryScope) -> None:
    scope.close()


class _Answer:
    """An answer that is made while it is sent; the server closes it after the last piece."""

    def __init__(self, answer: Any, scope: BoundaryScope) -> None:
        self._answer = answer
        self._scope = scope
        self._pieces: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with _Step(self._scope):
            if self._pieces is None:
                self._pieces = iter(self._answer)
            return next(self._pieces)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def close(self) -> None:
        """Close the answer and end the request."""
        try:
            with _Step(self._scope):
                if hasattr(self._answer, "close"):
                    self._answer.close()
        finally:
            _end(self._scope)


def _application(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a WSGI application's `__call__`: its request ends when the answer is closed."""

    def call(self: Any, environ: Any, start_response: Any) -> Any:
        scope = _begun()
        if scope is None:
            return original(self, environ, start_response)
        later = False
        try:
            with _Step(scope):
                answer = original(self, environ, start_response)
            later = _is_sent_later(answer, environ) or False
        finally:
            if not later:
                _end(scope)
        return _Answer(answer, scope) if later else answer

    return call


@guarded("looking at an answer")
def _is_sent_later(answer: Any, environ: Any) -> bool:
    """Tell whether the application may still be at work when it has returned."""
    if hasattr(answer, "__len__"):
        # The server asks for the length of what is complete.
        return False
    # A server sends a file by the kernel where it gets its own wrapper back.
    wrapper = environ.get("wsgi.file_wrapper")
    return not (isinstance(wrapper, type) and isinstance(answer, wrapper))


def _whole(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that serves one request from its beginning to its end."""
    return wrap(original, request)


SERVERS: Final[tuple[tuple[str, str, Wrap], ...]] = (
    # The frameworks, for every server, those too that are not written in Python.
    ("flask.app", "Flask.__call__", _application),
    ("django.core.handlers.wsgi", "WSGIHandler.__call__", _application),
    ("bottle", "Bottle.__call__", _application),
    ("pyramid.router", "Router.__call__", _application),
    # The servers, for every application.
    ("wsgiref.handlers", "BaseHandler.run", _whole),
    ("gunicorn.workers.sync", "SyncWorker.handle_request", _whole),
    ("waitress.task", "WSGITask.execute", _whole),
)
"""Functions that every request passes, by module and path in it."""


def install() -> Undo:
    """Watch for servers, frameworks and task queues; returns what puts the originals back."""
    tasks = _Tasks()
    return last_first(
        [
            replace_imported((*SERVERS, *_lambda_handler(os.environ))),
            when_imported("celery.signals", tasks.connect),
            tasks.disconnect,
        ]
    )


def _lambda_handler(environment: Mapping[str, str]) -> list[tuple[str, str, Wrap]]:
    """Return the function's own handler, named by its runtime."""
    if "AWS_LAMBDA_FUNCTION_NAME" not in environment:
        return []
    named = next((environment[name] for name in _LAMBDA_HANDLERS if environment.get(name)), "")
    module, _, function = named.rpartition(".")
    return [(module.replace("/", "."), function, _whole)] if module else []


class _Tasks:
    """The tasks of Celery that are at work in this process."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, tuple[BoundaryScope, Any]] = OrderedDict()
        self._signals: Any = None

    def connect(self, signals: ModuleType) -> None:
        """Have Celery tell where each begins and ends."""
        self._signals = signals
        # A weak reference to a method would be gone at once.
        self._signals.task_prerun.connect(self._begin, weak=False)
        self._signals.task_postrun.connect(self._end, weak=False)

    def disconnect(self) -> None:
        """Undo `connect`."""
        if self._signals is not None:
            with guard("leaving Celery"):
                self._signals.task_prerun.disconnect(self._begin)
                self._signals.task_postrun.disconnect(self._end)

    @guarded("beginning a task")
    def _begin(self, task_id: str | None = None, task: Any = None, **_: Any) -> None:
        asked = getattr(task, "request", None)
        # What runs at once, where it is called, belongs to its caller.
        if task_id is None or getattr(asked, "is_eager", False):
            return
        scope = request((), {})
        if scope is None or scope.otel_context is None:
            return
        self._open[task_id] = (scope, _context.attach(scope.otel_context))
        while len(self._open) > _MAX_TASKS:
            self._open.popitem(last=False)[1][0].close()

    @guarded("ending a task")
    def _end(self, task_id: str | None = None, **_: Any) -> None:
        scope, token = self._open.pop(task_id or "", (None, None))
        if scope is not None:
            _context.detach(token)
            scope.close()
