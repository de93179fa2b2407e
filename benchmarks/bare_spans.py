"""Bare OpenTelemetry spans that say what ours say: alone in a loop, or around a request.

A span around a request costs a third more than one in a loop of nothing but spans: what lies
between its two ends takes the processor's caches. What an agent would pay for spans of its own
around its requests is so taken where it arises.
"""

import time
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider


def like(spans: Sequence[ReadableSpan], provider: TracerProvider) -> Callable[[], None]:
    """Return what makes bare spans with the same names, attributes and nesting."""
    tracer = provider.get_tracer("bare")
    told = [(span.name, dict(span.attributes or {})) for span in reversed(spans)]

    def make(index: int = 0) -> None:
        if index == len(told):
            return
        name, attributes = told[index]
        with tracer.start_as_current_span(name) as span:
            make(index + 1)
            span.set_attributes(attributes)

    return make


class Pieces:
    """CPU time of this thread in the pieces of its work that are asked for."""

    def __init__(self) -> None:
        self._rounds: list[int] = [0]
        self._began = 0

    def begin(self) -> None:
        """Begin a piece."""
        self._began = time.thread_time_ns()

    def end(self) -> None:
        """End the piece."""
        self._rounds[-1] += time.thread_time_ns() - self._began

    def next(self) -> None:
        """Begin to count anew for the next round."""
        self._rounds.append(0)

    def seconds(self, last: int) -> float:
        """Return the time of the last so many rounds, each of two pieces."""
        clock = Pieces()
        for _ in range(1000):
            clock.begin()
            clock.end()
        # To read the clock is a call of the system, which is not the span's.
        reading = 2 * clock._rounds[-1] / 1000
        return sum(each - reading for each in self._rounds[-last:]) / 1e9


def around(
    spans: Sequence[ReadableSpan],
    provider: TracerProvider,
    work: Callable[[], None],
    pieces: Pieces,
) -> Callable[[], None]:
    """Return what makes such spans around the work, and times them without it."""
    tracer = provider.get_tracer("bare")
    told = [(span.name, dict(span.attributes or {})) for span in reversed(spans)]

    def make(index: int = 0) -> None:
        if index == len(told):
            pieces.end()
            work()
            pieces.begin()
            return
        name, attributes = told[index]
        with tracer.start_as_current_span(name) as span:
            make(index + 1)
            span.set_attributes(attributes)

    def timed() -> None:
        pieces.next()
        pieces.begin()
        make()
        pieces.end()

    return timed
