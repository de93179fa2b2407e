"""Puts the calls that other instrumentations see under the run of their context, too.

An instrumentor of a model's library makes a span of each call. Where no framework is above it,
each call would be a trace, and so a run, of its own. What such a span is has to be on it when it
begins, as it is with OpenInference, OpenLLMetry and OpenTelemetry's own instrumentors.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import Tracer
from opentelemetry.trace import SpanKind, get_current_span

from seekwatch.core import attributes
from seekwatch.sdk._guard import guarded
from seekwatch.sdk._replacing import Undo, replace_all
from seekwatch.sdk._runtime import current

from .conversation import is_model_call
from .run import parent_context
from .stale import without_stale

_STEPS: Final = frozenset({attributes.KIND_LLM, attributes.KIND_RETRIEVER, attributes.KIND_TOOL})
_OPERATIONS: Final = frozenset({attributes.OPERATION_EXECUTE_TOOL, attributes.OPERATION_RETRIEVAL})


def install(provider: Any) -> Undo:
    """Watch the spans that begin at a provider; returns what undoes it.

    Args:
        provider: the one that ours go to. Spans of any other are left alone: its backend would
            never see the run above them.
    """
    processor: Any = getattr(provider, "_active_span_processor", None)

    def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
        def start_span(
            self: Tracer,
            name: str,
            context: Context | None = None,
            kind: SpanKind = SpanKind.INTERNAL,
            attributes: Mapping[str, Any] | None = None,
            *more: Any,
            **options: Any,
        ) -> Any:
            if context is None and attributes:
                context = _placed(self, processor, attributes)
            return original(self, name, context, kind, attributes, *more, **options)

        return start_span

    return replace_all([(Tracer, "start_span", wrap)])


@guarded("placing a call of another instrumentation")
def _placed(tracer: Tracer, processor: Any, described: Mapping[str, Any]) -> Context | None:
    """Return the context of a run for a call that has nothing above it, else None."""
    if tracer.span_processor is not processor:
        return None
    if not _is_step(described) or current() is None:
        return None
    if get_current_span(without_stale(get_current())).get_span_context().is_valid:
        return None
    return parent_context()


def _is_step(described: Mapping[str, Any]) -> bool:
    kind = described.get(attributes.SPAN_KIND)
    if kind is not None:
        return kind in _STEPS
    return described.get(attributes.OPERATION_NAME) in _OPERATIONS or is_model_call(described)
