"""Puts the calls that other instrumentations see under the run of their context, too.

An instrumentor of a model's library makes a span of each call. Where no framework is above it,
each call would be a trace, and so a run, of its own. What such a span is has to be on it when it
begins, as it is with OpenInference, OpenLLMetry and OpenTelemetry's own instrumentors; one that
says it only later is known by its name.

So it is with the span of a request that OpenTelemetry's instrumentor of an HTTP library makes where
it was switched on after us, and lies around us: what we make of the request is below that span.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import Tracer
from opentelemetry.trace import SpanKind, get_current_span

from seekwatch.core import attributes
from seekwatch.sdk._export.providers import innermost
from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.call import STOCK_SCOPES, is_told
from seekwatch.sdk._replacing import Undo, replace_all
from seekwatch.sdk._runtime import current
from seekwatch.sdk._stacks.texts import TextRequest

from .conversation import is_model_call
from .run import parent_context
from .stale import without_stale

_STEPS: Final = frozenset({attributes.KIND_LLM, attributes.KIND_RETRIEVER, attributes.KIND_TOOL})
_OPERATIONS: Final = frozenset({attributes.OPERATION_EXECUTE_TOOL, attributes.OPERATION_RETRIEVAL})
_NAMED: Final[Mapping[str, frozenset[str]]] = {
    "openinference.instrumentation.litellm": frozenset(
        {
            "completion",
            "acompletion",
            "completion_with_retries",
            "acompletion_with_retries",
            "responses",
            "aresponses",
            "messages.create",
        }
    ),
}
"""Names of the model calls of instrumentors that say what a span is after it began, by scope."""
_METHODS: Final = (attributes.HTTP_METHOD, "http.method")
_URLS: Final = (attributes.URL_FULL, "http.url")
"""By the newer conventions, and by those that the instrumentors still keep to."""


def install(provider: Any) -> Undo:
    """Watch the spans that begin at a provider; returns what undoes it.

    Args:
        provider: the one that ours go to. Spans of any other are left alone: its backend would
            never see the run above them.
    """
    processor: Any = getattr(innermost(provider), "_active_span_processor", None)

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
            if context is None:
                context = _placed(self, processor, name, attributes or {})
            return original(self, name, context, kind, attributes, *more, **options)

        return start_span

    return replace_all([(Tracer, "start_span", wrap)])


@guarded("placing a call of another instrumentation")
def _placed(
    tracer: Tracer, processor: Any, name: str, described: Mapping[str, Any]
) -> Context | None:
    """Return the context of a run for a call that has nothing above it, else None."""
    if tracer.span_processor is not processor:
        return None
    if get_current_span(without_stale(get_current())).get_span_context().is_valid:
        return None
    scope = _scope(tracer)
    is_step = _is_step(described) or name in _NAMED.get(scope, ())
    if not (is_step or scope in STOCK_SCOPES) or current() is None:
        return None
    return parent_context() if is_step or _is_told(described) else None


def _is_step(described: Mapping[str, Any]) -> bool:
    kind = described.get(attributes.SPAN_KIND)
    if kind is not None:
        return kind in _STEPS
    return described.get(attributes.OPERATION_NAME) in _OPERATIONS or is_model_call(described)


def _scope(tracer: Tracer) -> str:
    scope: Any = getattr(tracer, "_instrumentation_scope", None)
    return str(getattr(scope, "name", ""))


def _is_told(described: Mapping[str, Any]) -> bool:
    """Tell whether a span is of a request that we are about to see: no other opens a run."""
    method = next((described[name] for name in _METHODS if name in described), None)
    url = next((described[name] for name in _URLS if name in described), None)
    if not isinstance(method, str) or not isinstance(url, str):
        return False
    try:
        return is_told(TextRequest(method, url, {}))
    except ValueError:
        # No URL that the library could send anything to.
        return False
