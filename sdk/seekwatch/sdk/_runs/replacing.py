"""Replaces a function of a module or class by what wraps it, whatever kind of method it is."""

import functools
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, cast

from seekwatch.sdk._imports import when_imported

Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]


def replace(module: ModuleType, attribute: str, wrap: Wrap) -> Callable[[], None] | None:
    """Put what `wrap` makes of a function in its place.

    Args:
        module: where the function is.
        attribute: its path in the module, such as `Class.method`.
        wrap: gets the bare function, also of a static or class method.

    Returns:
        What puts the original back; None where there is no such function.
    """
    *path, name = attribute.split(".")
    owner = cast("Any", module)
    for part in path:
        owner = getattr(owner, part, None)
    original: Any = getattr(owner, name, None)
    if not callable(original):
        return None
    own = vars(owner)
    is_own = name in own
    kept: Any = own.get(name, original)
    # A static or class method is wrapped below its descriptor and put under one again.
    is_class_method = isinstance(kept, classmethod)
    function: Any = getattr(original, "__func__", original) if is_class_method else original
    wrapped: Any = wrap(function)
    if is_class_method:
        wrapped = classmethod(wrapped)
    elif isinstance(kept, staticmethod):
        wrapped = staticmethod(wrapped)
    setattr(owner, name, wrapped)

    def restore() -> None:
        # Where someone wrapped us in the meantime, theirs stays; ours is inert without a runtime.
        if vars(owner).get(name) is not wrapped:
            return
        if is_own:
            setattr(owner, name, kept)
        else:
            delattr(owner, name)

    return restore


def replace_all(functions: Iterable[tuple[str, str, Wrap]]) -> Callable[[], None]:
    """Replace functions of other people's modules, now or when each module is imported.

    Args:
        functions: module, path in it, and what wraps it; one that is not there is left out.

    Returns:
        What puts the originals back.
    """
    undo: list[Callable[[], None]] = []

    def replace_one(module: ModuleType, attribute: str, wrap: Wrap) -> None:
        restore = replace(module, attribute, wrap)
        if restore is not None:
            undo.append(restore)

    for name, attribute, wrap in functions:
        put = functools.partial(replace_one, attribute=attribute, wrap=wrap)
        undo.append(when_imported(name, put))

    def restore_all() -> None:
        for each in reversed(undo):
            each()

    return restore_all
