"""Puts our functions around those of a library, and takes them out again.

A library changes its private methods as it likes: what is not there is not wrapped, and less is
known of its calls then.
"""

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, cast

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From the original function to ours, which calls it."""


def wrap_all(wanted: Iterable[tuple[Any, str, Wrap]]) -> Callable[[], None]:
    """Wrap functions; returns what puts the originals back, last first.

    Args:
        wanted: owner (a class or module), name of the function there, and how to wrap it.
    """
    undo = [_wrap(owner, name, wrap) for owner, name, wrap in wanted]

    def restore() -> None:
        for each in reversed(undo):
            each()

    return restore


def _wrap(owner: Any, name: str, wrap: Wrap) -> Callable[[], None]:
    original = _own(owner).get(name)
    if original is None:
        return lambda: None
    replacement = wrap(_callable(owner, original))
    for mark in ("__module__", "__name__", "__qualname__", "__doc__"):
        if hasattr(original, mark):
            setattr(replacement, mark, getattr(original, mark))
    replacement.__wrapped__ = original  # type: ignore[attr-defined]
    setattr(owner, name, replacement)

    def restore() -> None:
        # Where someone wrapped us in the meantime, theirs stays; ours is inert without a runtime.
        if _own(owner).get(name) is replacement:
            setattr(owner, name, original)

    return restore


def _callable(owner: Any, original: Any) -> Callable[..., Any]:
    """Return what calls an original as a method of its first argument.

    wrapt, by which others wrap, tells its hooks of the instance only where it is bound to one.
    """
    # Their wrappers say that they are functions; only the type itself does not lie.
    if type(original) is FunctionType or not isinstance(owner, type):
        return cast("Callable[..., Any]", original)

    def call(self: Any, *args: Any, **options: Any) -> Any:
        return original.__get__(self, type(self))(*args, **options)

    return call


def _own(owner: Any) -> Mapping[str, Any]:
    """Return what an owner itself defines, without what it inherits."""
    return cast("Mapping[str, Any]", vars(owner))
