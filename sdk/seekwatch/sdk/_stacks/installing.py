"""Wraps each HTTP library when the agent has it: at once, or as soon as it imports it."""

import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Final

from seekwatch.sdk._guard import guard
from seekwatch.sdk._imports import when_imported

from . import aiohttp_sessions, httpx_clients, requests_sessions, urllib3_pools

Install = Callable[[ModuleType], Callable[[], None]]

LIBRARIES: Final[tuple[tuple[str, Install], ...]] = (
    ("httpx", httpx_clients.install),
    ("httpx2", httpx_clients.install),
    ("urllib3", urllib3_pools.install),
    ("requests", requests_sessions.install),
    ("aiohttp", aiohttp_sessions.install),
)


class Stacks:
    """The libraries that are wrapped, or will be.

    Args:
        then: by library, what to do once it is wrapped; gets its name, returns what undoes it.
    """

    def __init__(self, then: Mapping[str, Callable[[str], Callable[[], None]]]) -> None:
        self._then = then
        self._lock = threading.RLock()
        self._modules: list[ModuleType] = []
        self._undo: list[Callable[[], None]] = []
        for name, install in LIBRARIES:
            self._undo.append(when_imported(name, self._installer(name, install)))

    def _installer(self, name: str, install: Install) -> Callable[[ModuleType], None]:
        def wrap(module: ModuleType) -> None:
            with self._lock:
                # `httpx2.alias_httpx()` makes both names the same module.
                if any(module is each for each in self._modules):
                    return
                self._modules.append(module)
                with guard(f"patching {name}"):
                    self._undo.append(install(module))
                then = self._then.get(name)
                if then is not None:
                    with guard(f"the stock instrumentation of {name}"):
                        self._undo.append(then(name))

        return wrap

    def undo(self) -> None:
        """Put everything back, last first."""
        with self._lock:
            steps, self._undo = self._undo, []
            self._modules.clear()
        for step in reversed(steps):
            with guard("unpatching a library"):
                step()
