"""Tells when a module of somebody else is there: at once, or when the agent imports it.

Libraries that we patch are never imported by us: an agent that does not use one pays nothing for
it, and one that imports it late is patched late. wrapt, which OpenTelemetry's instrumentations
use for the same, watches the imports.
"""

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Final

import wrapt

from ._guard import guard

Callback = Callable[[ModuleType], None]

_lock: Final = threading.RLock()
_waiting: Final[dict[str, list[Callback]]] = {}
_watched: Final[set[str]] = set()
"""Modules that wrapt watches for us; it cannot forget one, so each is named to it once."""


def when_imported(module: str, callback: Callback) -> Callable[[], None]:
    """Call back once with a module: now if it is imported, else right after its import.

    The callback runs on the importing thread, before `import` returns there. What it raises is
    counted and logged, never raised into the import. An import that fails calls nobody; the next
    one that succeeds does. A module that is being imported at this moment counts as imported.

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
        wrapt.register_post_import_hook(_imported(module), module)

    def undo() -> None:
        with _lock:
            callbacks = _waiting.get(module, [])
            if callback in callbacks:
                callbacks.remove(callback)

    return undo


def _imported(name: str) -> Callback:
    def call_back(module: ModuleType) -> None:
        with _lock:
            _watched.discard(name)
            callbacks = _waiting.pop(name, [])
        # Outside the lock: a callback may import more, and ask for more.
        for callback in callbacks:
            with guard(f"what follows the import of {name}"):
                callback(module)

    return call_back
