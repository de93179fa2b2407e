"""Wraps the agent's own function by name, so that a run has a root without a change to its code.

The module may be imported before or after `instrument`: one that is there is wrapped at once, one
that is not is wrapped when it is imported. A script has two names, its own and `__main__`; it is
imported by neither.
"""

import logging
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from opentelemetry.context import Context

from seekwatch.sdk._guard import guard, say
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._replacing import Undo, last_first, owner_of, replace
from seekwatch.sdk._runtime import current

from . import recorded
from .calls import read_answer
from .run import AgentRun
from .wrapping import wrap


class _RunScope:
    """An agent run around one call of the entrypoint."""

    def __init__(self, question: str | None) -> None:
        self._run = AgentRun(question, root="entrypoint")
        self._run.open()

    @property
    def otel_context(self) -> Context | None:
        return self._run.otel_context

    def result(self, value: Any) -> None:
        text, citations = read_answer(value)
        if text is not None:
            self._run.answer(text, citations)

    def close(self, error: BaseException | None = None) -> None:
        self._run.close(error)


def _begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _RunScope | None:
    if current() is None:
        return None
    return _RunScope(recorded.first_string(args, kwargs))


def install(module_name: str, attribute: str) -> Undo:
    """Wrap a function now, or when its module is imported; returns what undoes it."""
    undo: list[Undo] = []

    def wrap_in(module: ModuleType) -> None:
        with guard("wrapping the entrypoint"):
            undo.append(_wrap_attribute(module, attribute))

    module = sys.modules.get(module_name)
    if module is None and _is_main(module_name):
        module = sys.modules["__main__"]
    if module is not None and _resolves(module, attribute):
        wrap_in(module)
    elif module is not None and module is sys.modules.get("__main__"):
        # Nothing tells when a script has defined its last function.
        say(
            logging.WARNING,
            "entrypoint %s:%s is not there yet; in a script, call instrument() below the function; "
            "as it is, runs are found by their calls alone, and several in a row may become one",
            module_name,
            attribute,
        )
    else:
        if module is None and _has_started() and not _can_be_found(module_name):
            say(
                logging.WARNING,
                "entrypoint %s:%s: there is no module %s to import; of a function of the script "
                'itself write entrypoint="__main__:%s", below it',
                module_name,
                attribute,
                module_name,
                attribute,
            )
        # A module that is being imported at this moment, by calling us, is waited for.
        undo.append(when_imported(module_name, wrap_in))
    return last_first(undo)


def _is_main(module_name: str) -> bool:
    """Tell whether the module is the script itself: `python -m package.module`, `python module.py`.

    Such a script, imported under its own name too, is another module, with functions of its own.
    """
    main = sys.modules.get("__main__")
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return bool(spec.name == module_name)
    return isinstance(file, str) and Path(file).stem == module_name


def _has_started() -> bool:
    """Tell whether the script is known: its folder is where imports look only from then on."""
    return getattr(sys.modules.get("__main__"), "__file__", None) is not None


def _can_be_found(module_name: str) -> bool:
    """Tell whether an import could find the module; of a package's only the package is looked for.

    To look further would import the package.
    """
    try:
        return find_spec(module_name.partition(".")[0]) is not None
    except (ImportError, ValueError):
        # A module that somebody has made by hand has no spec, and is there.
        return True


def _resolves(module: ModuleType, attribute: str) -> bool:
    owner, name = owner_of(module, attribute)
    return getattr(owner, name, None) is not None


def _wrap_attribute(module: ModuleType, attribute: str) -> Undo:
    undo = replace(module, attribute, lambda function: wrap(function, _begin))
    if undo is None:
        say(
            logging.WARNING,
            "entrypoint %s:%s is not there; runs are found by their calls alone",
            module.__name__,
            attribute,
        )
        return lambda: None
    return undo
