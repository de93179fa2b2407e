"""Finds the instrumentors that are installed, and puts those of one library in order.

Several projects instrument the same library, and several of them register it under the same entry
point (`openai`, `langchain`), so the name alone says nothing about who wrote it.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any, Final, cast

from opentelemetry.instrumentation import instrumentor

from seekwatch.sdk._guard import guard

from .libraries import Kind, Library, by_entry_point, squeezed

# OpenTelemetry leaves this module untyped.
_BASE: Final[type[Any]] = cast("Any", instrumentor).BaseInstrumentor
_GROUPS: Final = ("opentelemetry_instrumentor", "openinference_instrumentor")


class Family(IntEnum):
    """Who wrote an instrumentor; of one library the first that fits is switched on.

    The order is that of how much of a run its spans tell the monitor.
    """

    OPENINFERENCE = 1
    GENAI = 2
    """OpenTelemetry's own, by its conventions for generative AI."""
    OPENLLMETRY = 3
    TRACE_AI = 4
    OPENTELEMETRY = 5
    """OpenTelemetry's own, of web servers and task queues."""
    OTHER = 6


_TITLES: Final = {
    Family.OPENINFERENCE: "OpenInference",
    Family.GENAI: "OTel GenAI",
    Family.OPENLLMETRY: "OpenLLMetry",
    Family.TRACE_AI: "traceAI",
    Family.OPENTELEMETRY: "OpenTelemetry",
    Family.OTHER: "other",
}
_GENAI_DISTRIBUTIONS: Final = frozenset(
    squeezed(f"opentelemetry-instrumentation-{name}")
    for name in ("google-genai", "openai-agents-v2", "openai-v2")
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One instrumentor that is installed."""

    library: Library
    family: Family
    distribution: str
    """Name and version of the package that has it."""
    module: str
    attribute: str | None
    """Name of its class; None where it is the only one that its module defines."""
    entry_point: str | None = None

    @property
    def title(self) -> str:
        """Say for people which one it is."""
        return f"{_TITLES[self.family]} ({self.distribution})"

    def load(self) -> type[Any]:
        """Import it.

        Raises:
            TypeError: what is registered is no instrumentor.
        """
        found = self._class(importlib.import_module(self.module))
        if found is None:
            raise TypeError(f"{self.module}:{self.attribute} is no instrumentor")
        return found

    def is_imported(self) -> bool:
        """Tell whether somebody has imported it."""
        return self.module in sys.modules

    def is_on(self) -> bool:
        """Tell whether somebody has switched it on; neither imports nor builds it."""
        module = sys.modules.get(self.module)
        found = None if module is None else self._class(module)
        # A singleton whose `__init__` runs again each time it is asked for: so it is not.
        instance = getattr(found, "_instance", None)
        return bool(getattr(instance, "is_instrumented_by_opentelemetry", False))

    def _class(self, module: ModuleType) -> type[Any] | None:
        if self.attribute is None:
            named = [each for each in vars(module).values() if _is_defined_in(each, module)]
            return named[0] if len(named) == 1 else None
        found: Any = module
        for part in self.attribute.split("."):
            found = getattr(found, part, None)
        return found if _is_instrumentor(found) else None


def _is_instrumentor(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, _BASE)


def _is_defined_in(found: Any, module: ModuleType) -> bool:
    return _is_instrumentor(found) and found.__module__ == module.__name__


def find(known: tuple[Library, ...]) -> dict[str, list[Candidate]]:
    """Return the installed instrumentors of each library, the preferred one first.

    Args:
        known: the libraries that concern us.
    """
    found: dict[str, dict[tuple[str, str | None], Candidate]] = {}
    for candidate in (*_registered(known), *_trace_ai(known)):
        of_library = found.setdefault(candidate.library.name, {})
        # OpenInference registers each of its own in both groups.
        of_library.setdefault((candidate.module, candidate.attribute), candidate)
    return {
        name: sorted(of_library.values(), key=lambda each: (each.family, each.distribution))
        for name, of_library in found.items()
    }


def _registered(known: tuple[Library, ...]) -> Iterable[Candidate]:
    # OpenTelemetry has read every installed package by now and remembers what it read.
    from opentelemetry.util import _importlib_metadata

    entry_points: Any = cast("Any", _importlib_metadata).entry_points
    names = by_entry_point(known)
    for group in _GROUPS:
        for entry_point in entry_points(group=group):
            library = names.get(squeezed(entry_point.name))
            if library is not None:
                with guard("reading an entry point"):
                    yield _candidate(library, entry_point)


def _candidate(library: Library, entry_point: EntryPoint) -> Candidate:
    distribution = entry_point.dist
    name = "" if distribution is None else distribution.name
    version = "" if distribution is None else distribution.version
    return Candidate(
        library,
        _family(library, name, entry_point.module),
        f"{name} {version}".strip(),
        entry_point.module,
        entry_point.attr,
        entry_point.name,
    )


def _family(library: Library, distribution: str, module: str) -> Family:
    if module.startswith("openinference."):
        return Family.OPENINFERENCE
    if module.startswith("traceai_"):
        return Family.TRACE_AI
    if not module.startswith("opentelemetry.instrumentation."):
        return Family.OTHER
    if library.kind is Kind.SERVER:
        return Family.OPENTELEMETRY
    if module.startswith("opentelemetry.instrumentation.genai."):
        return Family.GENAI
    # OpenLLMetry's modules lie beside OpenTelemetry's own; only the package tells them apart.
    return Family.GENAI if squeezed(distribution) in _GENAI_DISTRIBUTIONS else Family.OPENLLMETRY


def _trace_ai(known: tuple[Library, ...]) -> Iterable[Candidate]:
    for library in known:
        module = library.trace_ai
        # A top-level module is found without importing anything.
        if module is not None and importlib.util.find_spec(module) is not None:
            yield Candidate(library, Family.TRACE_AI, module.replace("_", "-"), module, None)
