"""Spans that the agent's thread only announces and the finisher's thread makes.

To start a span of OpenTelemetry's SDK costs the agent's thread ten times what it needs of one while
a call goes on: an identity that what starts beneath can name as its parent. So the sampler is
asked and the identity made at once, and the span itself when it is first touched: by the finisher,
which has all of its attributes to set anyway, or by a hook or a transport of the user's that finds
it current. It then has the identity, the parent, the start and the sampler's answer that it would
have had. What a span processor does when a span starts is done at that moment.
"""

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Tracer
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import DEFAULT_ON, Decision, Sampler, SamplingResult
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    TraceFlags,
    TraceState,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace import Tracer as AnyTracer
from opentelemetry.util.types import Attributes, AttributeValue

from ._export.batching import held_attributes

_RANDOM: Final = int(getattr(TraceFlags, "RANDOM_TRACE_ID", 0))
"""The flag that newer releases hand down from a parent."""
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
_SAMPLED_RANDOM: Final = TraceFlags(TraceFlags.SAMPLED | _RANDOM)


def start_span(
    tracer: AnyTracer,
    name: str,
    context: Context,
    kind: SpanKind,
    attributes: dict[str, Any],
    start_time: int,
) -> Span:
    """Start a span, deferred where that is possible.

    It is where the tracer is the SDK's own and the span has a parent. A root's start is what
    processors watch for that keep whole traces together, so a root is made at once.

    Args:
        tracer: what makes the span, now or later.
        name: the span's name.
        context: what it belongs to.
        kind: the span's kind.
        attributes: what a sampler may want to know; not changed by the caller afterwards.
        start_time: nanoseconds since the epoch.
    """
    parent = get_current_span(context).get_span_context()
    if type(tracer) is not Tracer or not parent.is_valid:
        return tracer.start_span(name, context, kind, attributes, start_time=start_time)
    flags = parent.trace_flags
    sampled: SamplingResult | None = None
    trace_state: TraceState | None = parent.trace_state
    if tracer.sampler is not DEFAULT_ON or not flags & TraceFlags.SAMPLED:
        # The default one says yes beneath whatever is sampled, and looks at nothing else.
        sampled = tracer.sampler.should_sample(context, parent.trace_id, name, kind, attributes, ())
        trace_state = sampled.trace_state
    identity = SpanContext(
        parent.trace_id,
        tracer.id_generator.generate_span_id(),
        False,
        _SAMPLED_RANDOM if flags & _RANDOM else _SAMPLED,
        trace_state,
    )
    plan = (tracer, name, context, kind, attributes, start_time)
    span = DeferredSpan(plan, parent, identity, sampled)
    if sampled is None or sampled.decision is Decision.RECORD_AND_SAMPLE:
        return span
    return span.real()


Plan = tuple[Tracer, str, Context, SpanKind, dict[str, Any], int]
"""Tracer, name, context, kind, attributes and start of a span."""


class DeferredSpan(Span):
    """A span that is known by its identity and made when it is first touched.

    Args:
        plan: what it is made of.
        parent: of its context, as it was when the span began.
        identity: its own.
        sampled: the sampler's answer; None for a plain yes.
    """

    __slots__ = ("_identity", "_lock", "_parent", "_plan", "_real", "_sampled")

    def __init__(
        self,
        plan: Plan,
        parent: SpanContext,
        identity: SpanContext,
        sampled: SamplingResult | None,
    ) -> None:
        self._plan = plan
        self._parent = parent
        self._identity = identity
        self._sampled = sampled
        self._real: Span | None = None
        # Reentrant: a processor that sees the span start may reach for it again.
        self._lock = threading.RLock()

    def real(self) -> Span:
        """Return the span itself, made by now."""
        if self._real is None:
            with self._lock:
                if self._real is None:
                    self._real = self._make()
        return self._real

    def _make(self) -> Span:
        tracer, name, context, kind, attributes, start_time = self._plan
        if get_current_span(context).get_span_context() != self._parent:
            # LlamaIndex's instrumentor makes a stand-in current, which is another span later on.
            context = set_span_in_context(NonRecordingSpan(self._parent), context)
        # The tracer's own way of making spans, with what it would draw and ask for told to it.
        identity, sampled = self._identity, self._sampled
        if sampled is None:
            yes = Decision.RECORD_AND_SAMPLE
            sampled = SamplingResult(yes, attributes, identity.trace_state)
        told = _Told(identity, sampled)
        teller = copy.copy(tracer)
        teller.id_generator = told
        teller.sampler = told
        return teller.start_span(name, context, kind, start_time=start_time)

    @property
    def described(self) -> Mapping[str, Any]:
        """Its attributes so far, for which it is not made."""
        real = self._real
        return held_attributes(real) if isinstance(real, ReadableSpan) else self._plan[4]

    def get_span_context(self) -> SpanContext:
        """Return the identity, which needs no span."""
        return self._identity

    def is_recording(self) -> bool:
        """Tell whether the span has not ended."""
        return self._real is None or self._real.is_recording()

    def end(self, end_time: int | None = None) -> None:
        """End the span."""
        self.real().end(end_time)

    def set_attributes(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Set attributes."""
        self.real().set_attributes(attributes)

    def set_attribute(self, key: str, value: AttributeValue) -> None:
        """Set one attribute."""
        self.real().set_attribute(key, value)

    def add_event(
        self, name: str, attributes: Attributes = None, timestamp: int | None = None
    ) -> None:
        """Add an event."""
        self.real().add_event(name, attributes, timestamp)

    def add_link(self, context: SpanContext, attributes: Attributes = None) -> None:
        """Add a link."""
        self.real().add_link(context, attributes)

    def update_name(self, name: str) -> None:
        """Change the name."""
        self.real().update_name(name)

    def set_status(self, status: Any, description: str | None = None) -> None:
        """Set the status."""
        self.real().set_status(status, description)

    def record_exception(
        self,
        exception: BaseException,
        attributes: Attributes = None,
        timestamp: int | None = None,
        escaped: bool = False,
    ) -> None:
        """Record an exception as an event."""
        self.real().record_exception(exception, attributes, timestamp, escaped)

    def __getattr__(self, name: str) -> Any:
        """Find what the SDK's spans have beside OpenTelemetry's interface, such as attributes."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.real(), name)


class _Told(IdGenerator, Sampler):
    """Draws the identity that a span has already and answers what its sampler did."""

    def __init__(self, identity: SpanContext, sampled: SamplingResult) -> None:
        self._identity = identity
        self._sampled = sampled

    def generate_span_id(self) -> int:
        return self._identity.span_id

    def generate_trace_id(self) -> int:
        return self._identity.trace_id

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: Any = None,
    ) -> SamplingResult:
        return self._sampled

    def get_description(self) -> str:
        return "seekwatch deferred"
