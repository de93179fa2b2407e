"""Counts the runs that sampling keeps from us: a monitor that is blind must say how blind it is.

A run is counted once, by its trace. Those that are seen are counted where a run of ours opens and,
from the first unseen one on, wherever a span of ours begins.
"""

import logging
import threading
import time
from collections import OrderedDict
from typing import Final

from opentelemetry.trace import SpanContext

from seekwatch.core import attributes
from seekwatch.sdk._guard import say

_REMEMBERED: Final = 4096
"""Traces that are known to be counted already."""
_LOG_SECONDS: Final = 3600.0


class RunCount:
    """How many runs of this process were sampled, and how many were not."""

    def __init__(self) -> None:
        self.sampled = 0
        self.unsampled = 0
        self._known: OrderedDict[int, None] = OrderedDict()
        self._logged: float | None = None
        self.reset_after_fork()

    def reset_after_fork(self) -> None:
        """Take a new lock in a forked child, and begin to count at zero: it counts for itself."""
        # Reentrant: the collector of garbage may begin a span of ours at any point.
        self._lock = threading.RLock()
        self.sampled = self.unsampled = 0

    @property
    def partial(self) -> bool:
        """Whether any run was not sampled."""
        return self.unsampled > 0

    def add(self, root: SpanContext) -> None:
        """Count the run that a span belongs to, if it is not counted yet."""
        if not root.is_valid:
            return
        with self._lock:
            if root.trace_id in self._known:
                return
            self._known[root.trace_id] = None
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            if root.trace_flags.sampled:
                self.sampled += 1
                return
            self.unsampled += 1
            now = time.monotonic()
            due = self._logged is None or now - self._logged > _LOG_SECONDS
            if due:
                self._logged = now
            unseen, total = self.unsampled, self.unsampled + self.sampled
        if due:
            say(
                logging.WARNING,
                "the monitor is blind to %d of %d runs so far: their traces are not sampled; to "
                "see all of them set OTEL_TRACES_SAMPLER=parentbased_always_on (and so in the "
                "services that call this one) and sample after Seekwatch",
                unseen,
                total,
            )

    def attributes(self) -> dict[str, int]:
        """Return what spans say of it; nothing while every run is seen."""
        if not self.unsampled:
            return {}
        return {
            attributes.UNSAMPLED_RUNS: self.unsampled,
            attributes.SAMPLED_RUNS: self.sampled,
        }
