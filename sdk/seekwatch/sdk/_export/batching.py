"""Takes ended spans from the tracer and hands them to the export stage in batches.

The stock batch processor is bounded in number only, logs on every drop and may hold a shutdown
for half a minute. An agent with a black-holed collector must not feel any of it: this one is
bounded in bytes too, counts its drops, and gives up at its deadline.
"""

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from opentelemetry.context import Context, attach, detach, get_current, set_value
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import Span as OpenSpan

from seekwatch.sdk._guard import guard, guarded, say
from seekwatch.sdk._threads import work_on

QUEUE_BYTES: Final = 64 * 1024 * 1024
"""Bound for what waits to be exported, by the length of its strings."""
SHUTDOWN_SECONDS: Final = 5.0
_SPAN_OVERHEAD: Final = 512
REASONS_DROPPED: Final = ("queue_full", "shutdown", "closed")
"""There was no room; the deadline of a shutdown came first; the span ended after the shutdown."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The knobs of OpenTelemetry's batch processor (`OTEL_BSP_*`), with its defaults."""

    schedule_seconds: float = 5.0
    queue_size: int = 2048
    batch_size: int = 512

    @classmethod
    def from_environment(cls) -> "Limits":
        """Read `OTEL_BSP_*`; a value that is no positive number is logged and not used."""
        default = cls()
        queue_size = _positive("OTEL_BSP_MAX_QUEUE_SIZE", default.queue_size)
        return cls(
            schedule_seconds=_positive("OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000,
            queue_size=queue_size,
            batch_size=min(
                queue_size, _positive("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", default.batch_size)
            ),
        )


def _positive(name: str, default: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if text.isdigit() and int(text) > 0:
        return int(text)
    say(logging.WARNING, "%s=%r is not a positive number; using %d", name, text, default)
    return default


class EndedSpan(NamedTuple):
    """A span on its way out."""

    span: ReadableSpan
    clean: frozenset[str]
    """Keys whose values the finisher has redacted already."""
    size: int
    """Estimated bytes."""


class Stage(Protocol):
    """What the batches go to."""

    exported: int
    """Spans that arrived."""
    refused: dict[str, int]
    """Spans that did not, by reason."""

    @property
    def nobody_at(self) -> str | None:
        """Where nobody listened when spans were sent last."""
        ...

    def hurry(self) -> None:
        """Wait for no collector that is not there any more: the process ends."""
        ...

    def export(self, batch: list[EndedSpan]) -> None:
        """Export a batch; called on the batching thread, with instrumentation suppressed."""
        ...

    def shutdown(self) -> None:
        """Close connections and count no more; interrupts an export that waits to be retried."""
        ...


_finishing = threading.local()
_NOTHING: Final[frozenset[str]] = frozenset()


def end_with_clean_keys(span: OpenSpan, end_time: int, clean: frozenset[str]) -> None:
    """End a span whose values under `clean` need no redaction any more."""
    _finishing.clean = clean
    try:
        span.end(end_time)
    finally:
        _finishing.clean = frozenset()


def is_finishing() -> bool:
    """Tell whether a span is being ended by `end_with_clean_keys`, so on the finisher's thread."""
    return bool(getattr(_finishing, "clean", _NOTHING))


class BatchingProcessor(SpanProcessor):
    """Our one span processor: a bounded queue and one daemon thread."""

    def __init__(
        self,
        stage: Stage,
        limits: Limits,
        *,
        before_flush: Callable[[float], object] | None = None,
        max_bytes: int = QUEUE_BYTES,
    ) -> None:
        self._stage = stage
        self._limits = limits
        self._max_bytes = max_bytes
        # Whoever flushes or shuts the provider down also waits for the spans being finished.
        self._before_flush = before_flush
        self._closed = False
        self._reset()

    def _reset(self) -> None:
        self.dropped_by: dict[str, int] = dict.fromkeys(REASONS_DROPPED, 0)
        """Spans that never got to the stage, by reason."""
        self._queue: deque[EndedSpan] = deque()
        self._bytes = 0
        self._taken = 0
        self._exported = 0
        self._flush_to = 0
        # Reentrant: the collector of garbage may end a span of somebody at any point. Where nobody
        # waits or is woken it is taken without the condition around it, which costs ten times more.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._closing = False

    @property
    def dropped(self) -> int:
        """Spans that were not exported because the queue was full or time was up."""
        return sum(self.dropped_by.values())

    @property
    def refused_by(self) -> dict[str, int]:
        """Spans that the collector did not take or may not get, by reason."""
        return self._stage.refused

    @property
    def refused(self) -> int:
        """Spans that the collector did not take or may not get."""
        return sum(self._stage.refused.values())

    @property
    def exported(self) -> int:
        """Spans that arrived."""
        return self._stage.exported

    def reset_after_fork(self, stage: Stage) -> None:
        """Begin anew in a forked child: queue, thread and connections belong to the parent.

        Args:
            stage: one with connections of its own.
        """
        self._stage = stage
        self._reset()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Do nothing; spans are taken when they end."""

    @guarded("taking an ended span")
    def on_end(self, span: ReadableSpan) -> None:
        """Queue a sampled span."""
        context = span.context
        if context is None or not context.trace_flags.sampled:
            return
        size = estimated_size(span)
        ended = EndedSpan(span, getattr(_finishing, "clean", _NOTHING), size)
        with self._lock:
            full = len(self._queue) >= self._limits.queue_size
            if full or self._closed or self._bytes + size > self._max_bytes:
                first = self.dropped == 0
                self.dropped_by["closed" if self._closed else "queue_full"] += 1
            else:
                first = False
                self._queue.append(ended)
                self._bytes += size
                self._taken += 1
                if self._thread is None:
                    self._start()
                if len(self._queue) == self._limits.batch_size:
                    self._changed.notify_all()
        if first and not self._closed:
            say(
                logging.WARNING,
                "the span queue is full; spans are dropped and counted from here on",
            )

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="seekwatch-export", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            # The interpreter is shutting down and takes no new threads.
            self._thread = None

    def _run(self) -> None:
        work_on("the exporting thread", self._work_off, self._thread_ended)

    def _thread_ended(self) -> None:
        with self._lock:
            if self._thread is threading.current_thread():
                # The next span starts another.
                self._thread = None

    def _work_off(self) -> bool:
        if not self._wait_for_work():
            return False
        self._export_suppressed()
        return True

    def _export_suppressed(self) -> None:
        token = attach(set_value("suppress_instrumentation", True, _suppressed()))
        try:
            self._export_next()
        finally:
            detach(token)

    def _wait_for_work(self) -> bool:
        """Wait for a full batch, the schedule, a flush or the end; False ends the thread."""
        due = time.monotonic() + self._limits.schedule_seconds
        with self._changed:
            while not self._closing and self._flush_to <= self._exported:
                remaining = due - time.monotonic()
                if len(self._queue) >= self._limits.batch_size:
                    return True
                if remaining <= 0:
                    if self._queue:
                        return True
                    # Nothing came: sleep until something does, with a fresh schedule.
                    due = time.monotonic() + self._limits.schedule_seconds
                    remaining = self._limits.schedule_seconds
                self._changed.wait(remaining)
            return bool(self._queue) or not self._closing

    def _export_next(self) -> None:
        with self._changed:
            count = min(len(self._queue), self._limits.batch_size)
            batch = [self._queue.popleft() for _ in range(count)]
        try:
            if batch:
                with guard("exporting spans"):
                    self._stage.export(batch)
        finally:
            with self._changed:
                # Counted against the bound until they are gone: they are still in memory.
                self._bytes -= sum(ended.size for ended in batch)
                self._exported += len(batch)
                if not batch:
                    self._flush_to = 0
                self._changed.notify_all()

    @property
    def nobody_at(self) -> str | None:
        """Where nobody listened when spans were sent last."""
        return self._stage.nobody_at

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export what has ended so far; returns whether it was done in time."""
        deadline = time.monotonic() + timeout_millis / 1000
        if self._before_flush is not None:
            self._before_flush(timeout_millis / 1000)
        with self._changed:
            target = self._taken
            if self._closed or self._exported >= target:
                return self._exported >= target
            self._flush_to = max(self._flush_to, target)
            self._changed.notify_all()
            if self._has_thread():
                return self._changed.wait_for(
                    lambda: self._exported >= target, max(0.0, deadline - time.monotonic())
                )
        self._export_here(deadline)
        return self._exported >= target

    def _has_thread(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _export_here(self, deadline: float) -> None:
        """Export on the caller's thread, where none of ours lives or can be started."""
        while self._queue and time.monotonic() < deadline:
            self._export_suppressed()

    def shutdown(self, timeout: float = SHUTDOWN_SECONDS) -> None:
        """Export what is there within `timeout` seconds, then stop; later calls do nothing."""
        deadline = time.monotonic() + timeout
        if self._closed:
            return
        self._stage.hurry()
        if self._before_flush is not None:
            # Half the time for bodies: a span without its body is worth more than none.
            self._before_flush(timeout / 2)
        with self._changed:
            self._closed = True
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(max(0.0, deadline - time.monotonic()))
        # The interpreter takes no threads at its end.
        if not self._has_thread():
            self._export_here(deadline)
        with guard("closing the exporter"):
            self._stage.shutdown()
        with self._changed:
            # What waits, and what hangs in an export that was given up: the stage, which is closed
            # by now, counts no more of it.
            self.dropped_by["shutdown"] += self._taken - self._stage.exported - self.refused
            self._queue.clear()


def _suppressed() -> Context:
    return set_value("suppress_http_instrumentation", True, _suppression_key_set())


def _suppression_key_set() -> Context:
    # The key that the SDK's own exporters set; its name is generated when the API is imported.
    from opentelemetry import context as api

    key: str | None = getattr(api, "_SUPPRESS_INSTRUMENTATION_KEY", None)
    return get_current() if key is None else set_value(key, True)


def held_attributes(span: ReadableSpan) -> Mapping[str, Any]:
    """Return a span's attributes as the plain dictionary they are kept in, where there is one.

    The public mapping takes a lock for every item, which counts on the agent's thread.
    """
    bounded: Any = getattr(span, "_attributes", None)
    held: Mapping[str, Any] | None = getattr(bounded, "_dict", None)
    return (span.attributes or {}) if held is None else held


def estimated_size(span: ReadableSpan) -> int:
    """Estimate a span's bytes on the wire from the length of its strings."""
    size = _SPAN_OVERHEAD
    for value in held_attributes(span).values():
        size += len(value) + 40 if type(value) is str else 60
    return size
