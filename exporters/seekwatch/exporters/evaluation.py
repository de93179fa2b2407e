"""Scores as `gen_ai.evaluation.result` events over OTLP, for any backend.

The event is a log record that carries the ids of the span it judges, as the GenAI conventions have
it, so a backend shows it beside that span: the query axis on the RETRIEVER span, the citation axis
on the LLM span that wrote the answer.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Final

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import (
    SEVERITY_NUMBER_INFO,
    LogRecord,
    ResourceLogs,
    ScopeLogs,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from seekwatch.core import attributes as names
from seekwatch.core.errors import UndecodableError
from seekwatch.core.records import Output, StoredOutput
from seekwatch.core.scorecard import Axis, AxisVerdict, ScoreEntry
from seekwatch.core.topics import unpack_scores
from seekwatch.core.verdicts import Verdict, is_score

from .identity import score_id
from .otlp_logs import LogsTransport

OUTCOME: Final = "outcome"
"""Name of the event that says how the run ended; the other four are named like their axis."""

EVALUATION_ID: Final = "seekwatch.evaluation.id"
"""The same for the same verdict however often it is delivered: what to deduplicate by."""
SCORER_REVISION: Final = "seekwatch.scorer.revision"
POLICY_REVISION: Final = "seekwatch.policy.revision"
TRACE_REVISION: Final = "seekwatch.trace.revision"

UNKNOWN_REGIME: Final = "unknown"
"""The regime of a run whose question is not known: the freshness event always names one."""

EVENTS_PER_REQUEST: Final = 1000
REQUEST_BYTES: Final = 1024 * 1024
"""A quarter of what gRPC servers take by default; above it they answer as if to try again later."""

_LATEST: Final = 2**64 - 1
"""OTLP has no later time; a hostile clock must not make an event impossible."""

_TRACE_ID_BYTES: Final = 16
_SPAN_ID_BYTES: Final = 8

Value = str | float | int


class EvaluationSink:
    """Delivers scores records as events; a sink of `Consumer`.

    Args:
        transport: to the backend; this object closes it.
    """

    def __init__(self, transport: LogsTransport) -> None:
        self._transport = transport

    def deliver(self, records: Sequence[StoredOutput]) -> None:
        """Send the events of all records.

        OTLP has no transactions: when a later request fails, what went before is sent again, and
        the event's `seekwatch.evaluation.id` tells.

        Raises:
            RetryableError: the backend is away or refuses us for now.
            PermanentError: it will never take this, or a record holds no scores.
        """
        events = [event for entry in _entries(records) for event in evaluation_events(entry)]
        for group in _groups(events):
            self._transport.send(evaluation_request(group))

    def close(self) -> None:
        """Close the transport; calling it again does nothing."""
        self._transport.close()


def evaluation_request(events: Iterable[LogRecord]) -> ExportLogsServiceRequest:
    """Wrap events in an export request under our own resource."""
    resource = Resource(attributes=[_pair(names.SERVICE_NAME, "seekwatch")])
    scope = InstrumentationScope(name="seekwatch.exporters.evaluation", version=_version())
    logs = ScopeLogs(scope=scope, log_records=list(events))
    return ExportLogsServiceRequest(
        resource_logs=[ResourceLogs(resource=resource, scope_logs=[logs])]
    )


def evaluation_events(entry: ScoreEntry) -> list[LogRecord]:
    """Return the events of one scorecard: each axis in order, then the outcome."""
    card = entry.scorecard
    outcome = _event(
        entry,
        OUTCOME,
        span=card.root,
        attributes={
            names.EVALUATION_LABEL: str(card.outcome),
            names.EVALUATION_EXPLANATION: card.outcome_evidence,
        },
    )
    return [*(_axis_event(entry, axis) for axis in card.axes), outcome]


def _axis_event(entry: ScoreEntry, axis: AxisVerdict) -> LogRecord:
    attributes: dict[str, Value] = {
        names.EVALUATION_LABEL: str(axis.verdict),
        names.EVALUATION_EXPLANATION: axis.evidence,
    }
    if axis.verdict is not Verdict.UNSCORABLE and axis.score is not None and is_score(axis.score):
        attributes[names.EVALUATION_SCORE] = float(axis.score)
    if axis.verdict is Verdict.UNSCORABLE:
        attributes[names.ERROR_TYPE] = str(axis.reason or Verdict.UNSCORABLE)
    if axis.axis is Axis.SOURCE_FRESHNESS:
        attributes[names.FRESHNESS_REGIME] = axis.notes.get("regime", UNKNOWN_REGIME)
    span = axis.spans[0] if axis.spans else entry.scorecard.root
    return _event(entry, str(axis.axis), span=span, attributes=attributes)


def _event(entry: ScoreEntry, name: str, *, span: str, attributes: dict[str, Value]) -> LogRecord:
    """Build one event; its time is that of closing, so that it is the same on every delivery."""
    card, envelope = entry.scorecard, entry.envelope
    at = min(max(envelope.closed_at, 0) * 1_000_000, _LATEST)
    common: dict[str, Value] = {
        names.EVALUATION_NAME: name,
        EVALUATION_ID: score_id(card.trace, name, card.scorer_revision, envelope.revision),
        SCORER_REVISION: card.scorer_revision,
        POLICY_REVISION: card.policy_revision,
        TRACE_REVISION: envelope.revision,
        names.AGENT_NAME: card.agent,
        names.LANE: card.lane,
    }
    return LogRecord(
        event_name=names.EVALUATION_EVENT,
        time_unix_nano=at,
        observed_time_unix_nano=at,
        severity_number=SEVERITY_NUMBER_INFO,
        trace_id=_id_bytes(card.trace, _TRACE_ID_BYTES),
        span_id=_id_bytes(span, _SPAN_ID_BYTES),
        attributes=[_pair(key, value) for key, value in (common | attributes).items()],
    )


def _groups(events: Iterable[LogRecord]) -> Iterator[list[LogRecord]]:
    """Divide events into requests, in order; one that is too large by itself is a request."""
    group: list[LogRecord] = []
    size = 0
    for event in events:
        more = event.ByteSize()
        if group and (len(group) == EVENTS_PER_REQUEST or size + more > REQUEST_BYTES):
            yield group
            group, size = [], 0
        group.append(event)
        size += more
    if group:
        yield group


def _entries(records: Iterable[StoredOutput]) -> Iterator[ScoreEntry]:
    for record in records:
        if record.output is not Output.SCORES:
            raise UndecodableError(f"{record.output} is no scores record", reason="archive")
        yield from unpack_scores(record.value)


def _pair(key: str, value: Value) -> KeyValue:
    if isinstance(value, str):
        return KeyValue(key=key, value=AnyValue(string_value=value))
    if isinstance(value, int):
        return KeyValue(key=key, value=AnyValue(int_value=value))
    return KeyValue(key=key, value=AnyValue(double_value=value))


def _id_bytes(text: str, length: int) -> bytes:
    """Return an id's bytes; empty, which is "not known", when it is none."""
    try:
        value = bytes.fromhex(text)
    except ValueError:
        return b""
    return value if len(value) == length else b""


def _version() -> str:
    return version("seekwatch")
