"""Tells when a module of somebody else is there: at once, or when the agent imports it.

Libraries that we patch are never imported by us: an agent that does not use one pays nothing for
it, and one that imports it late is patched late. wrapt, which OpenTelemetry's instrumentations
use for the same, watches the imports that begin after it was asked; those that are under way when
it is asked (we may be called from the middle of one) are watched here.
"""

import sys
import threading
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

import wrapt

from ._guard import guard

Callback = Callable[[ModuleType], None]

_lock: Final = threading.RLock()
_waiting: Final[dict[str, list[Callback]]] = {}
_watched: Final[set[str]] = set()
"""Modules that are watched for us; wrapt cannot forget one, so each is named to it once."""
_complete: Final[set[str]] = set()
"""Modules whose code has run, while their import has not returned yet."""


def when_imported(module: str, callback: Callback) -> Callable[[], None]:
    """Call back once with a module: now if it is imported, else right after its import.

    The callback runs on the importing thread, before `import` returns there. What it raises is
    counted and logged, never raised into the import. An import that fails calls nobody; the next
    one that succeeds does. A module that is being imported at this moment is waited for.

    Args:
        module: full name, such as `playwright.sync_api`.
        callback: gets the module.

    Returns:
        What takes the callback back; nothing happens where it has been called already.
    """
    with _lock:
        _waiting.setdefault(module, []).append(callback)
        unwatched = module not in _watched
        _watched.add(module)
    if unwatched:
        _watch(module)

    def undo() -> None:
        with _lock:
            callbacks = _waiting.get(module, [])
            if callback in callbacks:
                callbacks.remove(callback)

    return undo


def _watch(name: str) -> None:
    spec: Any = getattr(sys.modules.get(name), "__spec__", None)
    if name not in _complete and getattr(spec, "_initializing", False):
        with guard("waiting for the end of an import"):
            spec.__class__ = _SpecUnderWay
            if spec._initializing:
                return
    wrapt.register_post_import_hook(_imported(name), name)


class _SpecUnderWay(ModuleSpec):
    """The spec of a module that is being imported: the import marks its end on it."""

    @property
    def _initializing(self) -> bool:
        return bool(self.__dict__["_initializing"])

    @_initializing.setter
    def _initializing(self, under_way: bool) -> None:
        self.__dict__["_initializing"] = under_way
        if under_way:
            return
        with guard("waiting for the end of an import"):
            self.__class__ = ModuleSpec  # type: ignore[assignment]
            # Called at once, or after the next import where this one has failed.
            wrapt.register_post_import_hook(_imported(self.name), self.name)


def _imported(name: str) -> Callback:
    def call_back(module: ModuleType) -> None:
        with _lock:
            _watched.discard(name)
            callbacks = _waiting.pop(name, [])
            _complete.add(name)
        _bind_to_parents(name)
        # Outside the lock: a callback may import more, and ask for more.
        for callback in callbacks:
            with guard(f"what follows the import of {name}"):
                callback(module)
        with _lock:
            _complete.discard(name)

    return call_back


def _bind_to_parents(name: str) -> None:
    """Make `a.b.c` reachable as an attribute of `a`, as the import is about to do."""
    parent, _, child = name.rpartition(".")
    while parent:
        owner, module = sys.modules.get(parent), sys.modules.get(f"{parent}.{child}")
        if owner is not None and module is not None and child not in vars(owner):
            setattr(owner, child, module)
        parent, _, child = parent.rpartition(".")
