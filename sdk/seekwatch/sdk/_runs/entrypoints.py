"""Wraps the agent's own function by name, so that a run has a root without a change to its code.

The module may be imported before or after `instrument`: one that is there is wrapped at once, one
that is not is wrapped when it is imported.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, cast

from opentelemetry.context import Context

from seekwatch.sdk._guard import guard, logger
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._runtime import current
from seekwatch.sdk._shapes import as_list, get_field, is_list

from . import recorded
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


def read_answer(value: Any) -> tuple[str | None, Sequence[Any]]:
    """Read the answer and its citations from what an agent's function returned.

    A string is the answer; pieces of text that were yielded are joined; a mapping or object has
    it under `answer`, `output` or `content`, and citations under `citations` or `sources`.
    """
    if isinstance(value, str):
        return value, ()
    if is_list(value):
        items = as_list(value)
        if items and all(isinstance(item, str) for item in items):
            return "".join(items), ()
        return read_answer(items[-1]) if items else (None, ())
    for name in ("answer", "output", "content"):
        found = get_field(value, name)
        if isinstance(found, str):
            return found, _citations(value)
    return None, ()


def _citations(value: Any) -> Sequence[Any]:
    for name in ("citations", "sources"):
        found = get_field(value, name)
        if is_list(found):
            return [each for each in map(_citation, as_list(found)) if each is not None]
    return ()


def _citation(value: Any) -> Any:
    if isinstance(value, str):
        return value
    given = {name: get_field(value, name) for name in ("url", "title", "quote", "start", "end")}
    return given if isinstance(given["url"], str) else None


def _begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _RunScope | None:
    if current() is None:
        return None
    return _RunScope(recorded.first_string(args, kwargs))


def install(module_name: str, attribute: str) -> Callable[[], None]:
    """Wrap a function now, or when its module is imported; returns what undoes it."""
    undo: list[Callable[[], None]] = []

    def wrap_in(module: ModuleType) -> None:
        with guard("wrapping the entrypoint"):
            undo.append(_wrap_attribute(module, attribute))

    module = sys.modules.get(module_name)
    if module is None and _is_main(module_name):
        module = sys.modules["__main__"]
    if module is not None and _resolves(module, attribute):
        wrap_in(module)
    else:
        undo.append(when_imported(module_name, wrap_in))

    def restore() -> None:
        for each in reversed(undo):
            each()

    return restore


def _is_main(module_name: str) -> bool:
    """Tell whether the module is the script itself, run as `python -m package.module`."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == module_name


def _resolves(module: ModuleType, attribute: str) -> bool:
    holder: Any = module
    for part in attribute.split("."):
        holder = getattr(holder, part, None)
    return holder is not None


def _wrap_attribute(module: ModuleType, attribute: str) -> Callable[[], None]:
    *path, name = attribute.split(".")
    owner = cast("Any", module)
    for part in path:
        owner = getattr(owner, part, None)
    original: Any = getattr(owner, name, None)
    if not callable(original):
        logger.warning("entrypoint %s:%s is not there; no run is seen", module.__name__, attribute)
        return lambda: None
    kept: Any = owner.__dict__.get(name, original)
    # A static or class method is wrapped below its descriptor and put under one again.
    is_class_method = isinstance(kept, classmethod)
    function: Any = getattr(original, "__func__", original) if is_class_method else original
    wrapped: Any = wrap(function, _begin)
    if is_class_method:
        wrapped = classmethod(wrapped)
    elif isinstance(kept, staticmethod):
        wrapped = staticmethod(wrapped)
    setattr(owner, name, wrapped)

    def restore() -> None:
        if owner.__dict__.get(name) is wrapped:
            setattr(owner, name, kept)

    return restore
