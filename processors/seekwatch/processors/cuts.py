"""A cut: what a trace held when it was closed, and how it is found again after a restart."""

from collections.abc import Mapping

from seekwatch.core.model import Record
from seekwatch.core.otlp.requests import RawItem
from seekwatch.core.scorecard import CloseReason, Envelope


class Cut(Record, frozen=True, kw_only=True):
    """One closed trace, still encoded.

    Attributes:
        trace: trace id, 32 hex characters.
        spans: each span id once, in the order of (start time, span id) only after normalisation.
        logs: log records that carry the trace's id.
        truncated_spans: spans that a cap left out.
        last_end: nanoseconds since the epoch, the latest end of a span in it.
        envelope: how it reached us.
    """

    trace: str
    spans: tuple[RawItem, ...]
    logs: tuple[RawItem, ...] = ()
    truncated_spans: int = 0
    last_end: int = 0
    envelope: Envelope


class RecordedCut(Record, frozen=True, kw_only=True):
    """A cut that was published before, as its envelope tells it; replays reproduce it.

    Attributes:
        revision: the highest one published.
    """

    first_offsets: Mapping[str, int]
    last_offsets: Mapping[str, int]
    reason: CloseReason
    closed_at: int
    revision: int

    @classmethod
    def of(cls, envelope: Envelope) -> "RecordedCut":
        """Take what a replay needs from a published envelope."""
        return cls(
            first_offsets=envelope.first_offsets,
            last_offsets=envelope.last_offsets,
            reason=envelope.reason,
            closed_at=envelope.closed_at,
            revision=envelope.revision,
        )
