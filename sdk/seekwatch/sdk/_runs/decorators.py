"""`@retriever`, `@tool` and `@llm`, for agents that know which of their functions are which.

What a function was given and what it returned is noted on the agent's thread, because either may
change afterwards; masking and encoding happen on the finisher's.
"""

import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast, overload

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, set_span_in_context

from seekwatch.core import attributes
from seekwatch.sdk._export.batching import end_with_clean_keys
from seekwatch.sdk._runtime import Masked, Runtime, current
from seekwatch.sdk._search.documents import document_attributes

from . import recorded
from .errors import mark_error
from .run import parent_context
from .wrapping import Begin, wrap

_F = TypeVar("_F", bound=Callable[..., Any])
Read = Callable[[Any], Any]
"""Takes from a value what is wanted of it, on the agent's thread, keeping no reference to it."""
Tell = Callable[[Any], Masked]
"""Makes attributes of what was taken, on the finisher's thread."""


_RETRIEVER: Final = (attributes.KIND_RETRIEVER, attributes.OPERATION_RETRIEVAL)
_TOOL: Final = (attributes.KIND_TOOL, attributes.OPERATION_EXECUTE_TOOL)
_LLM: Final = (attributes.KIND_LLM, attributes.OPERATION_CHAT)


_ESTIMATED_BYTES: Final = 1024
"""What a decorated call is counted with in the finisher's queue: measuring costs more."""


class _SpanScope:
    """One span around one call of a decorated function, and the job that finishes it."""

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        kind: tuple[str, str],
        describe: Callable[[], dict[str, Any]],
        read: Read,
        tell: Tell | None = None,
    ) -> None:
        self._runtime = runtime
        self._read = read
        self._tell = tell
        self._taken: Any = None
        self._end_ns = 0
        self.size = _ESTIMATED_BYTES
        context = parent_context()
        described = {
            **runtime.common,
            attributes.SPAN_KIND: kind[0],
            attributes.OPERATION_NAME: kind[1],
        }
        # What runs inside is the user's. Where the provider is, too, its processors see the span
        # start when it does.
        start = runtime.tracer.start_span if runtime.shared else runtime.start_span
        self._span: Span = start(
            name, context, SpanKind.INTERNAL, described, start_time=time.time_ns()
        )
        try:
            # What is not sampled is not looked at.
            self._values = describe() if self._span.is_recording() else {}
        except Exception:
            self._span.end()
            raise
        self._context = set_span_in_context(self._span, context)

    @property
    def otel_context(self) -> Context | None:
        return self._context

    def result(self, value: Any) -> None:
        if self._span.is_recording():
            self._taken = self._read(value)

    def close(self, error: BaseException | None = None) -> None:
        span, runtime = self._span, self._runtime
        if not span.is_recording():
            return
        if error is not None and not isinstance(error, GeneratorExit):
            mark_error(span, error, runtime)
        self._end_ns = time.time_ns()
        runtime.finisher.submit(self)

    def finish(self) -> None:
        span, values, taken = self._span, self._values, self._taken
        masked = None
        if taken is not None:
            if self._tell is None:
                values.update(taken)
            else:
                masked = self._tell(taken)
        prepared = self._runtime.prepared(values, masked)
        span.set_attributes(prepared)
        end_with_clean_keys(span, self._end_ns, frozenset(prepared))

    def abandon(self, reason: str) -> None:
        self._span.set_attribute(attributes.CONTENT_OMITTED, reason)
        self._span.end(self._end_ns)

    @property
    def open_spans(self) -> int:
        return int(self._span.is_recording())


def _decorate(function: _F, begin: Begin) -> _F:
    # The wrapper takes and returns what the function does.
    return cast("_F", wrap(function, begin))


def _named(function: Callable[..., Any], name: str | None) -> str:
    return name or str(getattr(function, "__name__", type(function).__name__))


@overload
def retriever(function: _F, /) -> _F: ...
@overload
def retriever(*, name: str | None = None) -> Callable[[_F], _F]: ...
def retriever(function: _F | None = None, /, *, name: str | None = None) -> _F | Callable[[_F], _F]:
    """Make a RETRIEVER span of each call: the first string argument is the query.

    What it returns or yields are the results: mappings or objects with a URL (`url`, `link`,
    `source`) and what is known of title, published date, score and text; or plain URLs.

    Args:
        function: when used without parentheses.
        name: what the span is called instead of the function's name.
    """

    def decorate(target: _F) -> _F:
        label = _named(target, name)

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _SpanScope | None:
            runtime = current()
            if runtime is None:
                return None
            return _SpanScope(
                runtime,
                f"retrieval {label}",
                _RETRIEVER,
                lambda: _asked(label, recorded.first_string(args, kwargs)),
                recorded.documents_of,
                lambda documents: document_attributes(runtime, documents, label),
            )

        return _decorate(target, begin)

    return decorate if function is None else decorate(function)


@overload
def tool(function: _F, /) -> _F: ...
@overload
def tool(*, name: str | None = None) -> Callable[[_F], _F]: ...
def tool(function: _F | None = None, /, *, name: str | None = None) -> _F | Callable[[_F], _F]:
    """Make a TOOL span of each call, with its arguments and its result as JSON.

    Args:
        function: when used without parentheses.
        name: the tool's name instead of the function's.
    """

    def decorate(target: _F) -> _F:
        label = _named(target, name)
        signature = _signature(target)

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _SpanScope | None:
            runtime = current()
            if runtime is None:
                return None

            def describe() -> dict[str, Any]:
                given = recorded.to_json(_arguments(signature, args, kwargs))
                return {
                    attributes.GENAI_TOOL_NAME: label,
                    attributes.TOOL_NAME: label,
                    attributes.TOOL_CALL_ARGUMENTS: given,
                }

            return _SpanScope(
                runtime, f"execute_tool {label}", _TOOL, describe, recorded.tool_result
            )

        return _decorate(target, begin)

    return decorate if function is None else decorate(function)


@overload
def llm(function: _F, /) -> _F: ...
@overload
def llm(*, name: str | None = None, provider: str | None = None) -> Callable[[_F], _F]: ...
def llm(
    function: _F | None = None, /, *, name: str | None = None, provider: str | None = None
) -> _F | Callable[[_F], _F]:
    """Make an LLM span of each call.

    A `model` argument is the model, a list of messages or the first string the input. What it
    returns is the output: text, pieces of text, or a response in OpenAI's shape (a mapping, or an
    object with `model_dump`) from which usage is read.

    Args:
        function: when used without parentheses.
        name: what the span is called instead of the function's name.
        provider: `gen_ai.provider.name`.
    """

    def decorate(target: _F) -> _F:
        label = _named(target, name)
        signature = _signature(target)

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _SpanScope | None:
            runtime = current()
            if runtime is None:
                return None

            def describe() -> dict[str, Any]:
                said = recorded.model_input(_arguments(signature, args, kwargs))
                return said if provider is None else {**said, attributes.PROVIDER_NAME: provider}

            return _SpanScope(runtime, f"chat {label}", _LLM, describe, recorded.model_output)

        return _decorate(target, begin)

    return decorate if function is None else decorate(function)


def _asked(label: str, query: str | None) -> dict[str, Any]:
    values = {attributes.DATA_SOURCE_ID: label}
    if query is not None:
        values[attributes.SEARCH_QUERY] = query
        values[attributes.RETRIEVAL_QUERY_TEXT] = query
        values[attributes.INPUT_VALUE] = query
    return values


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _arguments(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    if signature is not None:
        try:
            bound = signature.bind_partial(*args, **kwargs).arguments
        except TypeError:
            # The call itself will raise it, in the agent's own frame.
            pass
        else:
            # The object a method belongs to is no argument of the tool.
            return {name: bound[name] for name in bound if name not in {"self", "cls"}}
    return {**{str(index): value for index, value in enumerate(args)}, **kwargs}
