"""Wraps methods of other people's classes, async and plain, so that we hear of their calls."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ._guard import guard, guarded
from ._replacing import Undo, replace


class Outcome(Protocol):
    """Hears how a call ended."""

    def returned(self, result: Any, /) -> None:
        """Take what the call returned."""
        ...

    def raised(self, error: BaseException, /) -> None:
        """Take what the call raised."""
        ...


Begin = Callable[[Any, tuple[Any, ...], dict[str, Any]], Outcome | None]
"""Hears that a call begins: its object, and what it was given."""


Settle = Callable[[Any], Awaitable[None] | None]
"""Says what the call has to wait for, within bounds; what it returns raises nothing."""


def watch_method(owner: type, name: str, begin: Begin, settle: Settle | None = None) -> Undo:
    """Let `begin` hear of each call of a method; returns what undoes it.

    A method that this release does not have is left out.

    Args:
        owner: the class.
        name: the method's.
        begin: hears of the call.
        settle: is asked before `begin`; plain methods with one are Playwright's, whose loop turns
            meanwhile.
    """
    kind = f"hearing of {owner.__name__}.{name}"
    settled = guarded(kind)(settle or _nothing)

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        watched = _async if inspect.iscoroutinefunction(original) else _plain
        return watched(original, guarded(kind)(begin), settled)

    return replace(owner, name, wrap) or (lambda: None)


@guarded("hearing of the end of a call")
def _returned(outcome: Outcome, result: Any) -> None:
    outcome.returned(result)


@guarded("hearing of the end of a call")
def _raised(outcome: Outcome, error: BaseException) -> None:
    outcome.raised(error)


def _nothing(_: Any) -> None:
    return None


def _plain(original: Callable[..., Any], begin: Begin, settle: Settle) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        waited = settle(self)
        if waited is not None:
            with guard("waiting for a last look at a page"):
                self._sync(waited)
        outcome = begin(self, args, kwargs)
        if outcome is None:
            return original(self, *args, **kwargs)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            _raised(outcome, error)
            raise
        _returned(outcome, result)
        return result

    return call


def _async(original: Callable[..., Any], begin: Begin, settle: Settle) -> Callable[..., Any]:
    async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        waited = settle(self)
        if waited is not None:
            with guard("waiting for a last look at a page"):
                await waited
        outcome = begin(self, args, kwargs)
        if outcome is None:
            return await original(self, *args, **kwargs)
        try:
            result = await original(self, *args, **kwargs)
        except BaseException as error:
            _raised(outcome, error)
            raise
        _returned(outcome, result)
        return result

    return call
