"""What a receiver does with a request, whatever brought it: check, mask, split per trace, store.

A record of the log holds spans of exactly one trace, so that the key decides its partition.
"""

from collections.abc import Callable
from typing import Final

from seekwatch.collector.redaction import SpanRedaction
from seekwatch.core.errors import UndecodableError
from seekwatch.core.model import Record
from seekwatch.core.otlp.requests import RawItem, encode_request, log_trace, raw_items, span_head
from seekwatch.core.records import Appender, NewRecord, Signal

DEFAULT_MAX_RECORD_BYTES: Final = 4 << 20
"""A record of the log; below every `max.message.bytes` that our topics are made with."""

_GROUP_OVERHEAD: Final = 64
"""Bytes that the envelope around one span adds, at most."""


class Receipt(Record, frozen=True, kw_only=True):
    """What became of a request that was stored.

    Attributes:
        accepted: spans or log records stored.
        ignored: log records of no trace: nothing here will ever ask for them.
        rejected: spans or log records that are invalid, and would be at the next try.
        message: why the first of them was rejected; empty when none was.
    """

    accepted: int
    ignored: int = 0
    rejected: int = 0
    message: str = ""


class Intake:
    """Stores export requests.

    Args:
        appender: called from many threads.
        redaction: applied to everything before it is stored.
        max_record_bytes: a trace's spans of one request are split into records of this size at
            most; a span that alone is larger is rejected.
    """

    def __init__(
        self,
        appender: Appender,
        redaction: SpanRedaction | None = None,
        *,
        max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES,
    ) -> None:
        self._appender = appender
        self._redaction = redaction or SpanRedaction()
        self._max_record_bytes = max_record_bytes

    def store(self, value: bytes, signal: Signal) -> Receipt:
        """Store a request, protobuf or JSON; return when it is durable.

        Raises:
            UndecodableError: the value is no request of this signal.
            RetryableError: the log is full or unreachable; nothing was stored.
        """
        sorting = _Sorting(signal, self._redaction, self._max_record_bytes)
        for item in raw_items(value, signal):
            sorting.add(item)
        records = sorting.records()
        if records:
            self._appender.append(records)
        return sorting.receipt()


class _Sorting:
    """One request's items by trace, and the count of those that are none."""

    def __init__(self, signal: Signal, redaction: SpanRedaction, max_record_bytes: int) -> None:
        self._signal = signal
        self._mask = redaction.span if signal is Signal.TRACES else redaction.log_record
        self._resource = _remembered(redaction.resource)
        self._scope = _remembered(redaction.scope)
        self._max_record_bytes = max_record_bytes
        self._by_trace: dict[bytes, list[RawItem]] = {}
        self._accepted = self._ignored = self._rejected = 0
        self._message = ""

    def add(self, item: RawItem) -> None:
        """Take one item."""
        try:
            trace = self._trace(item.raw)
            if trace is None:
                self._ignored += 1
                return
            self._by_trace.setdefault(trace, []).append(self._masked(item))
        except UndecodableError as error:
            self._rejected += 1
            self._message = self._message or str(error)
        else:
            self._accepted += 1

    def records(self) -> list[NewRecord]:
        """Return the records to store."""
        return [
            NewRecord(signal=self._signal, key=trace.hex().encode(), value=encode_request(group))
            for trace, items in self._by_trace.items()
            for group in self._groups(items)
        ]

    def receipt(self) -> Receipt:
        """Return the counts."""
        return Receipt(
            accepted=self._accepted,
            ignored=self._ignored,
            rejected=self._rejected,
            message=self._message,
        )

    def _trace(self, raw: bytes) -> bytes | None:
        if self._signal is Signal.LOGS:
            return _trace_of_log(raw)
        head = span_head(raw)
        # All zeros is invalid by OTLP (`trace.proto`) and would collect the strays of every agent.
        if not any(head.trace) or not any(head.span):
            raise UndecodableError("span whose trace id or span id is zero", reason="span-id")
        return head.trace

    def _masked(self, item: RawItem) -> RawItem:
        masked = RawItem(
            raw=self._mask(item.raw),
            resource=self._resource(item.resource),
            scope=self._scope(item.scope),
        )
        size = _size(masked)
        if size > self._max_record_bytes:
            raise UndecodableError(
                f"{self._signal} item of {size} bytes; {self._max_record_bytes} fit into a record",
                reason="too-large",
            )
        return masked

    def _groups(self, items: list[RawItem]) -> list[list[RawItem]]:
        groups: list[list[RawItem]] = [[]]
        held = 0
        for item in items:
            if groups[-1] and held + _size(item) > self._max_record_bytes:
                groups.append([])
                held = 0
            groups[-1].append(item)
            held += _size(item)
        return groups


def _size(item: RawItem) -> int:
    return len(item.raw) + len(item.resource) + len(item.scope) + _GROUP_OVERHEAD


def _trace_of_log(raw: bytes) -> bytes | None:
    trace = log_trace(raw)
    return trace if len(trace) == 16 and any(trace) else None


def _remembered(mask: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Mask each resource and scope once, although every span of its group names it."""
    done: dict[bytes, bytes] = {}

    def masked(raw: bytes) -> bytes:
        if raw not in done:
            done[raw] = mask(raw)
        return done[raw]

    return masked
