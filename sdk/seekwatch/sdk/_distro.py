"""Seekwatch for `opentelemetry-instrument`: a distro and a configurator, both named `seekwatch`.

OpenTelemetry takes whichever distro it finds first unless one is named. Ours steps back for another
that is installed unless it was named, so that a package which is merely there changes nothing for
those who instrument with something else.
"""

import logging
import os
from typing import Any, Final, cast

from opentelemetry.instrumentation import distro as opentelemetry_distro

from ._guard import say
from ._instrumentors.libraries import by_entry_point, libraries, squeezed
from ._no_code import AGENT, SERVICE_NAME, instrument_from_environment

NAME: Final = "seekwatch"
DISTRO: Final = "OTEL_PYTHON_DISTRO"
CONFIGURATOR: Final = "OTEL_PYTHON_CONFIGURATOR"

_LOADER: Final = "opentelemetry.instrumentation.auto_instrumentation._load"
"""Logger of what loads distros and configurators."""
_NOT_LOADED: Final = "Configuration of %s not loaded"

_BASE: Final[type[Any]] = cast("Any", opentelemetry_distro).BaseDistro
_DEFAULT: Final[type[Any]] = cast("Any", opentelemetry_distro).DefaultDistro


def _others(group: str) -> list[Any]:
    from opentelemetry.util import _importlib_metadata

    entry_points: Any = cast("Any", _importlib_metadata).entry_points
    return [each for each in entry_points(group=group) if each.name != NAME]


def is_chosen() -> bool:
    """Tell whether Seekwatch was named, or is the only one there is."""
    named = {os.environ.get(DISTRO), os.environ.get(CONFIGURATOR)} - {None, ""}
    if named:
        return NAME in named
    return not (_others("opentelemetry_distro") or _others("opentelemetry_configurator"))


def _is_news(record: logging.LogRecord) -> bool:
    """Tell whether a line of the loader says anything that was not asked for.

    It warns of every configurator that it passes over for ours, which is what naming ours means.
    """
    return not (record.levelno == logging.WARNING and str(record.msg).startswith(_NOT_LOADED))


class SeekwatchDistro(_BASE):  # type: ignore[misc]
    """Loads every instrumentor, except those that `instrument` has switched on by then."""

    def __init__(self) -> None:
        self._other: Any = None

    def _configure(self, **options: Any) -> None:
        if is_chosen():
            # One variable is enough: the configurator is chosen after the distro.
            os.environ.setdefault(CONFIGURATOR, NAME)
            if os.environ[CONFIGURATOR] == NAME:
                logging.getLogger(_LOADER).addFilter(_is_news)
            return
        others = _others("opentelemetry_distro")
        self._other = others[0].load()() if others else _DEFAULT()
        self._other.configure(**options)

    def load_instrumentor(self, entry_point: Any, **options: Any) -> None:
        """Switch one on, unless that is done or will be when its library is imported."""
        if self._other is not None:
            self._other.load_instrumentor(entry_point, **options)
            return
        if squeezed(entry_point.name) in by_entry_point(libraries()):
            return
        instrumentor = entry_point.load()()
        if not instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.instrument(**options)


class SeekwatchConfigurator:
    """Calls `instrument` in the place of OpenTelemetry's own set-up."""

    def configure(self, **options: Any) -> None:
        """Instrument this process, or let another configurator do its work."""
        if not is_chosen():
            for other in _others("opentelemetry_configurator")[:1]:
                other.load()().configure(**options)
            return
        if not instrument_from_environment():
            say(
                logging.WARNING,
                "this process is not watched: the agent has no name; set %s or %s",
                AGENT,
                SERVICE_NAME,
            )
