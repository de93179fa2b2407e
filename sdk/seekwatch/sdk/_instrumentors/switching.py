"""Switches instrumentors on, each when its library is imported, and those off again.

One library, one instrumentor: where the agent has switched on its own, of whatever family, there is
none of ours beside it.
"""

import contextlib
import functools
import logging
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from seekwatch.sdk._config import Config
from seekwatch.sdk._guard import failed, guard, say
from seekwatch.sdk._imports import when_imported

from . import content, langchain_context
from .candidates import Candidate, Family, find
from .first_call import before_first_call
from .libraries import Library, libraries, squeezed

_DISABLED: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
_EVERY: Final = "*"

_imported_by_us: Final[set[str]] = set()
"""Instrumentors that nobody but us has imported, in the whole life of the process."""


@dataclass(frozen=True, slots=True)
class Switched:
    """What became of the instrumentors of one library."""

    library: str
    on: str | None
    """Which one is on; None where none of ours is."""
    reason: str | None = None
    """Why none of ours is on."""


_current: "_Switchboard | None" = None


def switched() -> list[Switched]:
    """Return what became of each library that has been imported, sorted by name."""
    board = _current
    return [] if board is None else sorted(board.switched.values(), key=lambda each: each.library)


def install(
    tracer_provider: TracerProvider, meter_provider: MeterProvider, config: Config
) -> Callable[[], None]:
    """Switch on what is installed for the libraries of agents, now or when each is imported.

    Args:
        tracer_provider: where their spans go.
        meter_provider: where their metrics go.
        config: whether content may be captured.

    Returns:
        What switches off those that were switched on.
    """
    global _current
    board = _Switchboard(tracer_provider, meter_provider)
    _current = board
    with guard("finding instrumentors"):
        board.watch(config)

    def restore() -> None:
        global _current
        board.restore()
        if _current is board:
            _current = None

    return restore


class _Switchboard:
    """What is on, what may be, and what undoes it."""

    def __init__(self, tracer_provider: TracerProvider, meter_provider: MeterProvider) -> None:
        self._providers = {"tracer_provider": tracer_provider, "meter_provider": meter_provider}
        self._undo: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._taken: set[str] = set()
        self._ended = False
        self._modules: frozenset[str] = frozenset()
        """Every module that has an instrumentor."""
        self.switched: dict[str, Switched] = {}

    def watch(self, config: Config) -> None:
        """Find what there is, and switch each on when its library is there."""
        known = {library.name: library for library in libraries()}
        found = find(tuple(known.values()))
        disabled = _disabled()
        self._modules = frozenset(each.module for group in found.values() for each in group)
        every = [each for group in found.values() for each in group]
        if config.capture_content and any(each.family is Family.GENAI for each in every):
            self._undo.append(content.capture_on_spans())
        waiting: list[str] = []
        for name, candidates in found.items():
            allowed = [each for each in candidates if not _names(each) & disabled]
            if allowed and _EVERY not in disabled:
                self._watch_one(known[name], allowed)
                if name not in self.switched:
                    waiting.append(f"{name} by {allowed[0].title}")
        on = [f"{each.library} by {each.on}" for each in self.switched.values() if each.on]
        if on or waiting:
            say(
                logging.INFO,
                "instrumentors switched on: %s; when imported: %s",
                ", ".join(sorted(on)) or "none",
                ", ".join(sorted(waiting)) or "none",
            )

    def _watch_one(self, library: Library, candidates: list[Candidate]) -> None:
        switch_on = functools.partial(self._switch_on, library, candidates)
        if library.first_call is None:
            self._undo.append(when_imported(library.module, lambda _: switch_on()))
            return
        attribute = library.first_call

        def wrap(module: ModuleType) -> None:
            self._undo.append(before_first_call(module, attribute, switch_on))

        self._undo.append(when_imported(library.module, wrap))

    def _switch_on(self, library: Library, candidates: list[Candidate]) -> None:
        with self._lock:
            if self._ended or library.name in self._taken:
                return
            self._taken.add(library.name)
        # Without the lock: this imports, and another thread that imports may want the lock.
        undo: list[Callable[[], None]] = []
        chosen = self._choose(library, candidates, undo)
        with self._lock:
            self.switched[library.name] = chosen
            if not self._ended:
                self._undo.extend(undo)
                undo.clear()
        _undo_all(undo)
        say(logging.DEBUG, "instrumentor of %s: %s", library.name, chosen.on or chosen.reason)

    def _choose(
        self, library: Library, candidates: list[Candidate], undo: list[Callable[[], None]]
    ) -> Switched:
        theirs = [each for each in candidates if _is_theirs(each)]
        if theirs:
            return Switched(library.name, None, f"left to the agent: {theirs[0].title}")
        reasons: list[str] = []
        for candidate in candidates:
            reason = self._try(candidate, undo)
            if reason is None:
                return Switched(library.name, candidate.title)
            reasons.append(f"{candidate.title}: {reason}")
        return Switched(library.name, None, "; ".join(reasons))

    def _try(self, candidate: Candidate, undo: list[Callable[[], None]]) -> str | None:
        """Switch one on; returns why that was not possible."""
        before = set(sys.modules)
        instrumentor: Any = None
        try:
            instrumentor = candidate.load()()
            conflict = _conflict(instrumentor)
            if conflict is None:
                options = candidate.library.options
                instrumentor.instrument(skip_dep_check=True, **self._providers, **options)
        except ModuleNotFoundError as error:
            # A part of what it instruments, or needs, is not installed: nothing is broken.
            return f"needs {error.name}"
        except Exception as error:  # noqa: BLE001 - somebody else's code; the next one may do
            failed(f"switching on the instrumentor of {candidate.library.name}", error)
            _take_back(instrumentor)
            return f"raised {type(error).__name__}"
        finally:
            # One may import another; that is then none that the agent chose.
            _imported_by_us.update(self._modules & (set(sys.modules) - before))
        if conflict is not None:
            return conflict
        undo.append(functools.partial(_switch_off, instrumentor, candidate))
        if candidate.library.name == "langchain":
            undo.append(langchain_context.install(instrumentor))
        return None

    def restore(self) -> None:
        """Switch off what was switched on; nothing more is."""
        with self._lock:
            self._ended = True
            undo, self._undo = self._undo, []
        _undo_all(undo)


def _undo_all(undo: list[Callable[[], None]]) -> None:
    for each in reversed(undo):
        with guard("switching off an instrumentor"):
            each()


def _is_theirs(candidate: Candidate) -> bool:
    """Whether the agent has switched it on, or imported it, which is to say that it will."""
    return candidate.is_on() or (
        candidate.is_imported() and candidate.module not in _imported_by_us
    )


def _names(candidate: Candidate) -> set[str]:
    return {squeezed(name) for name in (candidate.library.name, candidate.entry_point) if name}


def _disabled() -> set[str]:
    named = os.environ.get(_DISABLED, "").split(",")
    return {squeezed(name) for name in named if name.strip()}


def _conflict(instrumentor: Any) -> str | None:
    """Say which version it needs and does not find, as OpenTelemetry's own loader checks it."""
    conflict: Any = instrumentor._check_dependency_conflicts()
    return None if conflict is None else str(conflict)


def _take_back(instrumentor: Any) -> None:
    """Undo what one did before it raised, as far as it can."""
    with contextlib.suppress(Exception):
        instrumentor._uninstrument()


def _switch_off(instrumentor: Any, candidate: Candidate) -> None:
    if candidate.is_on():
        instrumentor.uninstrument()
