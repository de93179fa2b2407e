"""Wraps a function of any kind (plain, async, generator, async generator) in a scope.

A generator's caller runs between its steps, so nothing may stay attached to the context there:
the scope is current only while a step of the body runs. It ends exactly once: at the end, on an
exception, when it is closed early or when it is collected.
"""

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from typing import Any, Final, Protocol

from opentelemetry.context import Context

from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._guard import failed, guarded

MAX_ITEMS: Final = 1000
"""Items of a generator that are kept as its result; the rest passes through unseen."""


class Scope(Protocol):
    """A span, or a run, around one call of a function."""

    @property
    def otel_context(self) -> Context | None:
        """The context in which the body runs."""
        ...

    def result(self, value: Any) -> None:
        """Note what the function returned, or the list of what it yielded."""
        ...

    def close(self, error: BaseException | None = None) -> None:
        """End it."""
        ...


Begin = Callable[[tuple[Any, ...], Mapping[str, Any]], Scope | None]


def wrap(function: Callable[..., Any], begin: Begin, follow: bool = False) -> Callable[..., Any]:
    """Return a function of the same kind that runs inside a scope.

    Args:
        function: the user's function.
        begin: starts the scope from the call's arguments; None runs the function bare.
        follow: where a plain function returns a generator, the scope is around that. One that
            nobody reads never ends its scope.
    """
    kinds: tuple[tuple[Callable[[Any], bool], Callable[..., Callable[..., Any]]], ...] = (
        (inspect.isasyncgenfunction, _wrap_async_generator),
        (inspect.isgeneratorfunction, _wrap_generator),
        (inspect.iscoroutinefunction, _wrap_coroutine),
    )
    for is_kind, wrap_kind in kinds:
        if is_kind(function):
            return functools.wraps(function)(wrap_kind(function, begin))
    return functools.wraps(function)(_wrap_plain(function, begin, follow))


@guarded("starting a decorated call")
def _begun(begin: Begin, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Scope | None:
    return begin(args, kwargs)


@guarded("noting a result")
def _note(scope: Scope, value: Any) -> None:
    scope.result(value)


@guarded("ending a decorated call")
def _close(scope: Scope, error: BaseException | None = None) -> None:
    scope.close(error)


class _inside:  # noqa: N801 - used as a statement
    """Makes a scope current for one step of a body; cheaper than a generator-based manager."""

    __slots__ = ("_scope", "_token")

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._token: Any = None

    def __enter__(self) -> None:
        try:
            context = self._scope.otel_context
            self._token = None if context is None else attach(context)
        except Exception as error:  # noqa: BLE001 - this is the fence around our own code
            failed("entering a decorated call", error)

    def __exit__(self, *_: object) -> None:
        try:
            detach(self._token)
        except Exception as error:  # noqa: BLE001 - this is the fence around our own code
            failed("leaving a decorated call", error)


def _wrap_plain(function: Callable[..., Any], begin: Begin, follow: bool) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        scope = _begun(begin, args, kwargs)
        if scope is None:
            return function(*args, **kwargs)
        try:
            with _inside(scope):
                value = function(*args, **kwargs)
        except BaseException as error:
            _close(scope, error)
            raise
        if inspect.iscoroutine(value):
            # A plain function that hands out a coroutine (a partial, a wrapped method).
            return _awaited(value, scope)
        if follow and inspect.isgenerator(value):
            return _stepped(value, scope)
        _note(scope, value)
        _close(scope)
        return value

    return call


async def _awaited(coroutine: Coroutine[Any, Any, Any], scope: Scope) -> Any:
    try:
        with _inside(scope):
            value = await coroutine
    except BaseException as error:
        _close(scope, error)
        raise
    _note(scope, value)
    _close(scope)
    return value


def _wrap_coroutine(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        scope = _begun(begin, args, kwargs)
        if scope is None:
            return await function(*args, **kwargs)
        return await _awaited(function(*args, **kwargs), scope)

    return call


@guarded("noting a result")
def _keep(yielded: list[Any], item: Any) -> None:
    """Keep what a generator has yielded so far, up to a bound."""
    if len(yielded) < MAX_ITEMS:
        yielded.append(item)


def _wrap_generator(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        scope = _begun(begin, args, kwargs)
        body: Generator[Any, Any, Any] = function(*args, **kwargs)
        return (yield from (body if scope is None else _stepped(body, scope)))

    return call


def _stepped(body: Generator[Any, Any, Any], scope: Scope) -> Generator[Any, Any, Any]:
    """Run a generator with its scope current in its own steps only."""
    yielded: list[Any] = []
    step: Callable[[], Any] = functools.partial(next, body)
    try:
        while True:
            try:
                with _inside(scope):
                    item = step()
            except StopIteration as stop:
                _note(scope, yielded if stop.value is None else stop.value)
                _close(scope)
                return stop.value
            _keep(yielded, item)
            try:
                sent = yield item
                step = functools.partial(body.send, sent)
            except GeneratorExit:
                with _inside(scope):
                    body.close()
                raise
            except BaseException as thrown:  # noqa: BLE001 - handed to the body, which decides
                step = functools.partial(body.throw, thrown)
    except BaseException as error:
        _note(scope, yielded)
        _close(scope, error)
        raise


def _wrap_async_generator(function: Callable[..., Any], begin: Begin) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        body: AsyncGenerator[Any, Any] = function(*args, **kwargs)
        scope = _begun(begin, args, kwargs)
        yielded: list[Any] = []
        step: Callable[[], Any] = functools.partial(body.asend, None)
        try:
            while True:
                try:
                    item = await _step_inside(scope, step)
                except StopAsyncIteration:
                    if scope is not None:
                        _note(scope, yielded)
                        _close(scope)
                    return
                _keep(yielded, item)
                try:
                    sent = yield item
                    step = functools.partial(body.asend, sent)
                except GeneratorExit:
                    await _step_inside(scope, body.aclose)
                    raise
                except BaseException as thrown:  # noqa: BLE001 - handed to the body, which decides
                    step = functools.partial(body.athrow, thrown)
        except BaseException as error:
            if scope is not None:
                _note(scope, yielded)
                _close(scope, error)
            raise

    return call


async def _step_inside(scope: Scope | None, step: Callable[[], Any]) -> Any:
    if scope is None:
        return await step()
    with _inside(scope):
        return await step()
