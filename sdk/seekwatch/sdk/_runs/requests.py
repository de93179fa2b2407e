"""Ends an implicit run with the request that it opened in.

A worker that serves one request after the other on one thread has neither tasks nor an executor's
items that would tell where a run ends. Web frameworks have one function that every request passes;
no span is made of it, which is what an instrumentor of the framework is for.
"""

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._runtime import current

from .executors import wrap_method
from .implicit import Link, held

if TYPE_CHECKING:
    from contextvars import Token

APPLICATIONS: Final = (
    ("flask.app", "Flask"),
    ("django.core.handlers.wsgi", "WSGIHandler"),
)
"""WSGI applications by module and class; each is called once for a request."""


class _Request:
    """One request, from the call of the application until its answer has been sent."""

    __slots__ = ("_token",)

    def __init__(self) -> None:
        self._token: Token[Link | None] | None = None

    @guarded("beginning a request")
    def begin(self) -> None:
        """Keep what the thread did before apart from it."""
        if current() is not None:
            self._token = held.set(None)

    @guarded("ending a request")
    def end(self) -> None:
        """End the run that opened inside, if one did; only once."""
        token, self._token = self._token, None
        if token is None:
            return
        link = held.get()
        if link is not None:
            link.run.end()
        held.reset(token)


class _Answer:
    """An answer that is sent piece by piece; the server closes it after the last one."""

    def __init__(self, answer: Any, request: _Request) -> None:
        self._answer = answer
        self._request = request

    def __iter__(self) -> Iterator[Any]:
        return iter(self._answer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def close(self) -> None:
        """Close the answer and end the request."""
        try:
            if hasattr(self._answer, "close"):
                self._answer.close()
        finally:
            self._request.end()


def _call(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, environ: Any, start_response: Any) -> Any:
        request = _Request()
        request.begin()
        answer: Any = None
        try:
            answer = original(self, environ, start_response)
        finally:
            if not _is_sent_later(answer, environ):
                request.end()
        return _Answer(answer, request) if _is_sent_later(answer, environ) else answer

    return call


def _is_sent_later(answer: Any, environ: Any) -> bool:
    """Tell whether the application may still be at work when it has returned."""
    if answer is None or isinstance(answer, list | tuple):
        return False
    # A server sends a file by the kernel where it gets its own wrapper back.
    wrapper = environ.get("wsgi.file_wrapper")
    return not (isinstance(wrapper, type) and isinstance(answer, wrapper))


def install() -> Callable[[], None]:
    """Watch for the frameworks; returns what puts the originals back."""
    undo: list[Callable[[], None]] = []

    def wrap(name: str, module: ModuleType) -> None:
        undo.append(wrap_method(getattr(module, name), "__call__", _call))

    for module, name in APPLICATIONS:
        undo.append(when_imported(module, partial(wrap, name)))

    def restore() -> None:
        for each in reversed(undo):
            each()

    return restore
