"""Keeps span processors of the agent's own from breaking requests that would else have no span.

The stock instrumentation makes its spans in the middle of a request, and we are who turned it on: a
processor that raises there would end a request that went well without us.
"""

from collections.abc import Callable
from typing import Any, Final

from seekwatch.sdk._export.providers import innermost
from seekwatch.sdk._guard import failed
from seekwatch.sdk._replacing import Undo, replace_all

from .call import STOCK_SCOPES

_CALLED: Final = ("on_start", "_on_ending", "on_end")
"""What the SDK calls on its processors for each span."""


def install(provider: Any) -> Undo:
    """Fence the processors of a provider for stock spans of HTTP libraries; returns what undoes it.

    Spans of others are as they were: whoever makes one sees what its processors raise.
    """
    processor: Any = getattr(innermost(provider), "_active_span_processor", None)
    return replace_all([(processor, name, _fenced) for name in _CALLED])


def _fenced(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(span: Any, *more: Any, **options: Any) -> Any:
        scope: Any = getattr(span, "instrumentation_scope", None)
        if getattr(scope, "name", None) not in STOCK_SCOPES:
            return original(span, *more, **options)
        try:
            return original(span, *more, **options)
        except Exception as error:  # noqa: BLE001 - whatever a processor of the agent's raises
            failed("a span processor of the agent's own", error)
            return None

    return call
