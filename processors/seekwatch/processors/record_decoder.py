"""Records taken apart by trace, with what could not be read or lies in the wrong place.

Undecodable bytes become dead letters and cost nothing else. After a restart records are read again
(an open trace holds the committed position back); what was reported of them before is not reported
twice.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from seekwatch.core.errors import UndecodableError
from seekwatch.core.model import Record
from seekwatch.core.otlp.requests import (
    RawItem,
    SpanHead,
    encode_request,
    log_trace,
    raw_items,
    span_head,
)
from seekwatch.core.records import LogRecord, Signal

NO_TRACE: Final = b""
"""In place of a trace id: a key that names none, or a log record outside any trace."""

Item = tuple[SpanHead | None, RawItem]
"""A span with its head, or a log record without one."""

OwnsTrace = Callable[[bytes], bool]
"""Whether a trace id (16 bytes) belongs on this partition by the log's partitioner."""


class DeadLetter(Record, frozen=True, kw_only=True):
    """Bytes that could not be decoded, with where they came from and why."""

    record: LogRecord
    value: bytes
    reason: str
    message: str


class RecordDecoder:
    """Takes the records of one partition apart.

    Args:
        reported_before: per signal, the offset up to which an earlier run has published dead
            letters and counts.
        owns: the partitioner to check keys with; None: not checked.
    """

    def __init__(
        self, reported_before: Mapping[Signal, int], owns: OwnsTrace | None = None
    ) -> None:
        self._reported_before = reported_before
        self._owns = owns
        self._dead_letters: list[DeadLetter] = []
        self._misrouted = 0

    def decode(self, record: LogRecord) -> dict[bytes, list[Item]]:
        """Return the record's items by trace id, in their order."""
        by_trace: dict[bytes, list[Item]] = {}
        for item in self._items(record):
            try:
                head = span_head(item.raw) if record.signal is Signal.TRACES else None
                trace = log_trace(item.raw) if head is None else head.trace
            except UndecodableError as error:
                self._bury(record, encode_request([item]), error)
                continue
            by_trace.setdefault(trace, []).append((head, item))
        self._check_route(record, by_trace)
        return by_trace

    def reported(self, record: LogRecord) -> bool:
        """Tell whether an earlier run has published this record's by-products."""
        return record.offset < self._reported_before.get(record.signal, 0)

    def reported_until(self, applied: Mapping[Signal, int]) -> dict[Signal, int]:
        """Return up to where by-products are published once those of `applied` are.

        A replay that has not caught up with the earlier run takes nothing back.
        """
        return {
            signal: max(offset, self._reported_before.get(signal, 0))
            for signal, offset in applied.items()
        }

    def take_dead_letters(self) -> tuple[DeadLetter, ...]:
        """Return and forget the dead letters so far."""
        taken, self._dead_letters = self._dead_letters, []
        return tuple(taken)

    def take_misrouted(self) -> int:
        """Return and forget how many records were misrouted so far."""
        taken, self._misrouted = self._misrouted, 0
        return taken

    def _items(self, record: LogRecord) -> list[RawItem]:
        try:
            return raw_items(record.value, record.signal)
        except UndecodableError as error:
            self._bury(record, record.value, error)
            return []

    def _check_route(self, record: LogRecord, traces: Iterable[bytes]) -> None:
        key = key_trace(record)
        foreign = any(trace not in (key, NO_TRACE) for trace in traces)
        displaced = self._owns is not None and key != NO_TRACE and not self._owns(key)
        if (foreign or displaced) and not self.reported(record):
            self._misrouted += 1

    def _bury(self, record: LogRecord, value: bytes, error: UndecodableError) -> None:
        if not self.reported(record):
            self._dead_letters.append(
                DeadLetter(record=record, value=value, reason=error.reason, message=str(error))
            )


def key_trace(record: LogRecord) -> bytes:
    """Return the trace id that a record's key names, or `NO_TRACE`."""
    if record.key is None or len(record.key) != 32:
        return NO_TRACE
    try:
        return bytes.fromhex(record.key.decode("ascii"))
    except ValueError:
        return NO_TRACE
