"""What the SDK lost, as metrics: observable counters, read when the user's reader collects.

They are counted where the loss happens, in plain integers, so a metric costs the agent nothing. An
instrument cannot be taken off a meter again; so each provider gets them once, and they report on
whatever is instrumented at the time.
"""

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from opentelemetry.metrics import CallbackOptions, Observation

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._version import SCOPE, version

SPANS_EXPORTED: Final = "seekwatch.sdk.spans.exported"
SPANS_DROPPED: Final = "seekwatch.sdk.spans.dropped"
SPANS_REFUSED: Final = "seekwatch.sdk.spans.refused"
BODIES_DROPPED: Final = "seekwatch.sdk.bodies.dropped"
FAILURES: Final = "seekwatch.sdk.failures"

Counts = Mapping[str, Mapping[str, int]]
"""By metric, then by reason (or by kind, for our own failures; an empty name has no label)."""

_DESCRIBED: Final = {
    SPANS_EXPORTED: ("{span}", "Spans that the collector took."),
    SPANS_DROPPED: ("{span}", "Spans that were never sent, by reason."),
    SPANS_REFUSED: ("{span}", "Spans that were sent in vain, or must not be sent, by reason."),
    BODIES_DROPPED: ("{body}", "Page bodies that their spans had to go without."),
    FAILURES: ("{failure}", "Failures of the SDK's own code, by kind; the agent saw none of them."),
}
_LABEL: Final = {FAILURES: "kind"}


class _Source:
    """Where a provider's instruments read from, now."""

    counts: Callable[[], Counts] | None = None


_sources: "weakref.WeakKeyDictionary[Any, _Source]" = weakref.WeakKeyDictionary()


def observe(provider: Any, counts: Callable[[], Counts]) -> Callable[[], None]:
    """Report `counts` through a MeterProvider; returns what undoes it."""
    source = _sources.get(provider)
    if source is None:
        source = _sources[provider] = _Source()
        meter = provider.get_meter(SCOPE, version())
        for name, (unit, description) in _DESCRIBED.items():
            meter.create_observable_counter(
                name, [_reader(source, name)], unit=unit, description=description
            )
    source.counts = counts
    held = source

    def restore() -> None:
        if held.counts is counts:
            held.counts = None

    return restore


def _reader(source: _Source, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
    label = _LABEL.get(name, "reason")

    @guarded("reading our own counts")
    def observed() -> list[Observation]:
        counted: Mapping[str, int] = {}
        if source.counts is not None:
            counted = source.counts().get(name, {})
        return [
            Observation(count, {label: reason} if reason else {})
            for reason, count in counted.items()
        ]

    def read(_: CallbackOptions) -> list[Observation]:
        return observed() or []

    return read
