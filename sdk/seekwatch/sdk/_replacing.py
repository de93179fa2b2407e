"""Puts ours in the place of a function of somebody else, and theirs back where ours is still there.

Others wrap the same functions, before us and after us. What lies above ours at the end stays, with
ours below it, which is inert without a runtime. No lock is taken, so that a fork can break none,
and undoing twice is undoing once.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, cast

from ._guard import guard
from ._imports import when_imported

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
"""From their function to ours, which calls it."""
Undo = Callable[[], None]
"""Puts back what was there."""

_INHERITED: Final = object()


def put(owner: Any, name: str, ours: object) -> Undo:
    """Put something in the place of an attribute of a module or class."""
    theirs: Any = own(owner).get(name, _INHERITED)
    setattr(owner, name, ours)

    def restore() -> None:
        if own(owner).get(name) is not ours:
            return
        if theirs is _INHERITED:
            delattr(owner, name)
        else:
            setattr(owner, name, theirs)

    return restore


def replace(owner: Any, path: str, wrap: Wrap) -> Undo | None:
    """Put what `wrap` makes of a function in its place, whatever kind of method it is.

    Args:
        owner: a module or class.
        path: where the function is in it, such as `Class.method`; it may be inherited.
        wrap: gets the bare function, also of a static or class method.

    Returns:
        What undoes it; None where there is no such function.
    """
    owner, name = owner_of(owner, path)
    # As it is reached from outside: wrapt, by which others wrap, then finds its instance.
    function: Any = getattr(owner, name, None)
    if not callable(function):
        return None
    kept: Any = own(owner).get(name)
    # A static or class method is wrapped below its descriptor and put under one again.
    if isinstance(kept, classmethod):
        function = getattr(function, "__func__", function)
    ours: Any = wrap(function)
    # Not what else somebody noted on theirs: OpenTelemetry marks there what it has wrapped.
    functools.update_wrapper(ours, function, updated=())
    if isinstance(kept, (classmethod, staticmethod)):
        ours = classmethod(ours) if isinstance(kept, classmethod) else staticmethod(ours)
    return put(owner, name, ours)


def own(owner: Any) -> Mapping[str, Any]:
    """Return what an owner itself defines, without what it inherits."""
    return cast("Mapping[str, Any]", vars(owner))


def owner_of(holder: Any, path: str) -> tuple[Any, str]:
    """Return who has the last name of a path, None where nobody has, and the name."""
    *owners, name = path.split(".")
    for each in owners:
        holder = getattr(holder, each, None)
    return holder, name


def replace_all(functions: Iterable[tuple[Any, str, Wrap]]) -> Undo:
    """Replace functions; a library changes as it likes, and what is not there is left out.

    Args:
        functions: owner, path in it, and what wraps it.
    """
    undone = (replace(owner, path, wrap) for owner, path, wrap in functions)
    return last_first([undo for undo in undone if undo is not None])


def replace_imported(functions: Iterable[tuple[str, str, Wrap]]) -> Undo:
    """Replace functions now, or when the agent imports their module.

    Args:
        functions: full name of the module, path in it, and what wraps it.
    """
    undo: list[Undo] = []
    for name, path, wrap in functions:

        def found(module: ModuleType, path: str = path, wrap: Wrap = wrap) -> None:
            undo.append(replace_all([(module, path, wrap)]))

        undo.append(when_imported(name, found))
    return last_first(undo)


def last_first(steps: Sequence[Undo]) -> Undo:
    """Return what takes steps in reverse, those too that are added until then."""

    def undo() -> None:
        for step in reversed(steps):
            with guard("putting back what was there"):
                step()

    return undo
