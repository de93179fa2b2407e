"""Makes the span of LangChain's running step the current one, where its instrumentor does not.

OpenInference and traceAI keep LangChain's spans apart from OpenTelemetry's context. A search that a
tool sends would then have no parent, begin a trace of its own, and its run would be two runs.
LangChain and LangGraph run each step in a copy of the context, into which they put the step's
configuration; at that moment the span of the step goes there too, and ends with the copy.
"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import wrapt
from opentelemetry import trace

from seekwatch.sdk import _context
from seekwatch.sdk._guard import guard
from seekwatch.sdk._imports import when_imported
from seekwatch.sdk._replacing import Undo, last_first, put
from seekwatch.sdk._shapes import get_field

_ENTERED_BY: Final = (
    ("langchain_core.runnables.config", "_set_config_context"),
    ("langgraph._internal._runnable", "_set_config_context"),
)


def install(instrumentor: Any) -> Undo:
    """Follow LangChain's steps if the instrumentor knows their spans; returns what undoes it."""
    span_of_run = getattr(instrumentor, "get_span", None)
    if not callable(span_of_run):
        return lambda: None
    undo: list[Undo] = []
    for module, name in _ENTERED_BY:
        wrap = functools.partial(_wrap, name=name, span_of_run=span_of_run, undo=undo)
        undo.append(when_imported(module, wrap))
    return last_first(undo)


def _wrap(
    module: ModuleType,
    *,
    name: str,
    span_of_run: Callable[[Any], Any],
    undo: list[Undo],
) -> None:
    original = getattr(module, name, None)
    if original is None:
        return

    def enter(wrapped: Any, _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        entered = wrapped(*args, **kwargs)
        with guard("following a step of LangChain"):
            _make_current(args[0] if args else kwargs.get("config"), span_of_run)
        return entered

    undo.append(put(module, name, wrapt.FunctionWrapper(original, enter)))


def _make_current(config: Any, span_of_run: Callable[[Any], Any]) -> None:
    callbacks: Any = get_field(config, "callbacks")
    run = getattr(callbacks, "parent_run_id", None)
    span = None if run is None else span_of_run(run)
    if isinstance(span, trace.Span):
        # No detaching: the context is a copy of LangChain's, thrown away after the step.
        _context.attach(trace.set_span_in_context(span))
