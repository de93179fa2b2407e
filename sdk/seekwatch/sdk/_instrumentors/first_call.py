"""Does something once, just before a function of a library is called for the first time."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import wrapt

from seekwatch.sdk._guard import guard
from seekwatch.sdk._replacing import Undo, own, owner_of, put


def before_first_call(module: ModuleType, attribute: str, action: Callable[[], None]) -> Undo:
    """Have something done before the first call, and get out of the way of the later ones.

    Args:
        module: where the function is.
        attribute: its path in the module, such as `Class.method`.
        action: what to do; what it raises is counted and logged, never raised.

    Returns:
        What takes it back.
    """
    owner, name = owner_of(module, attribute)

    def first(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        restore()
        with guard(f"what comes before {attribute}"):
            action()
        return wrapped(*args, **kwargs)

    restore = put(owner, name, wrapt.FunctionWrapper(own(owner)[name], first))
    return restore
