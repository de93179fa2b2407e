"""What we count about ourselves, read from the parts that count it.

The metrics have it by reason, the log and the spans in short.
"""

from collections import Counter
from collections.abc import Callable

from . import _guard
from ._export import health
from ._export.batching import BatchingProcessor
from ._runtime import Runtime


def reported(runtime: Runtime) -> health.Counts:
    """Return everything that we count about ourselves, as the metrics have it."""

    def summed(read: Callable[[BatchingProcessor], dict[str, int]]) -> dict[str, int]:
        total: Counter[str] = Counter()
        for processor in runtime.processors:
            total.update(read(processor))
        return dict(total)

    return {
        health.SPANS_EXPORTED: summed(lambda each: {"": each.exported}),
        health.SPANS_DROPPED: summed(lambda each: each.dropped_by),
        health.SPANS_REFUSED: summed(lambda each: each.refused_by),
        health.BODIES_DROPPED: {"queue_full": runtime.finisher.dropped},
        health.FAILURES: _guard.failures(),
    }


def lost_by(runtime: Runtime) -> dict[str, int]:
    """Return what did not reach the collector, and why not, in short."""
    unfinished = runtime.finisher.unfinished
    return {
        "bodies_dropped": runtime.finisher.dropped,
        "spans_dropped": sum(each.dropped + unfinished for each in runtime.processors),
        "spans_refused": sum(each.refused for each in runtime.processors),
    }
