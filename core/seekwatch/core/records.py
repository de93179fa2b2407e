"""Records of the log, and the log itself as the one small interface that a worker needs.

Two implementations exist (Kafka and an embedded file); whatever reads through this interface cannot
tell them apart, and one contract suite tests both.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from seekwatch.core.model import Record


class Signal(StrEnum):
    """What a record of the input holds. The two are two topics with equal partition counts."""

    TRACES = "traces"
    LOGS = "logs"


class LogRecord(Record, frozen=True, kw_only=True):
    """One record of the input.

    Attributes:
        timestamp: milliseconds since the epoch, as the log stamped it.
        key: trace id as 32 lower-case hex characters, or None (logs without a trace).
        value: an OTLP export request, protobuf or JSON.
    """

    signal: Signal
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes


class Output(StrEnum):
    """Topics that a worker writes to."""

    SCORES = "scores"
    EPISODES = "episodes"
    DEAD_LETTERS = "dead-letters"


class OutputRecord(Record, frozen=True, kw_only=True):
    """One record to publish with a commit, to the same partition number as its input."""

    output: Output
    partition: int
    value: bytes
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()


class Position(Record, frozen=True, kw_only=True):
    """Where a partition stands for the next start.

    Attributes:
        offsets: per signal, the offset to read from.
        scores_offset: where to begin reading the scores partition, so as to learn what is
            published already.
        read_offsets: per signal, the read position of the commit. Records before it are read again
            after a restart (an open trace holds `offsets` back), yet their dead letters are
            published and their counts are counted already. Kept, like `scores_offset`, in the
            commit's metadata.
    """

    offsets: Mapping[Signal, int]
    scores_offset: int = 0
    read_offsets: Mapping[Signal, int] = msgspec.field(default_factory=dict[Signal, int])


class StoredOutput(Record, frozen=True, kw_only=True):
    """One record of an output topic, as a consumer reads it."""

    output: Output
    partition: int
    offset: int
    timestamp: int
    value: bytes
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()


class Assignment(Record, frozen=True, kw_only=True):
    """A partition that this reader now owns.

    Attributes:
        position: where reading starts.
        published: what the scores partition holds from `position.scores_offset` on, oldest first.
    """

    partition: int
    position: Position
    published: tuple[StoredOutput, ...] = ()


class PartitionState(Record, frozen=True, kw_only=True):
    """Where reading stands on one partition, from the read position.

    Attributes:
        read: per signal, the next offset to be read.
        end: per signal, the log's end as last seen.
        at_end: every signal was read to its end when this batch was made.
        end_known: `end` was asked for lately. While it is not known, nothing counts as read to its
            end, and the partition's clock stands at its records.
    """

    partition: int
    read: Mapping[Signal, int]
    end: Mapping[Signal, int]
    at_end: bool
    end_known: bool = True


class Batch(Record, frozen=True, kw_only=True):
    """What one `read()` brought; to be applied in the order lost, revoked, assigned, records.

    A partition may be in several of them. One that is assigned begins anew at its position, also
    when it was held before: a log goes back after a commit that failed.

    Attributes:
        revoked: partitions that another reader takes over in good order; what is pending for them
            was to be committed in `on_revoke`.
        lost: partitions that were taken away; drop what is pending for them.
    """

    records: Sequence[LogRecord] = ()
    assigned: Sequence[Assignment] = ()
    revoked: Sequence[int] = ()
    lost: Sequence[int] = ()
    states: Sequence[PartitionState] = ()


class RevocationListener(Protocol):
    """What a log calls from inside `read()` before it gives partitions away."""

    def on_revoke(self, partitions: Sequence[int]) -> None:
        """Commit or drop what is pending for `partitions`, now."""


class TraceLog(Protocol):
    """The log: it owns the commit."""

    def read(self, timeout: float) -> Batch:
        """Return what has come, waiting up to `timeout` seconds for something.

        Records of one signal and partition come in the order of their offsets. `states` has an
        entry for every partition that is assigned, also when nothing came.

        Raises:
            RetryableError: the log cannot be reached now; call again after a pause.
        """
        ...

    def commit(
        self, positions: Mapping[int, Position], records: Sequence[OutputRecord]
    ) -> Mapping[int, int]:
        """Publish `records` and move `positions` in one atomic step.

        Returns:
            The end offset of the scores partition after this commit, per partition of `records`
            and `positions`.

        Raises:
            FencedError: another reader owns a partition of this commit; nothing was published.
                Drop what is pending and go on reading.
            RetryableError: nothing is known to be published.
            PermanentError: a record can never be published (too large, not allowed).

        After any of them the log goes back to what is committed, and hands out the partitions that
        it still has anew with one of the next `read()`.
        """
        ...

    def set_revocation_listener(self, listener: RevocationListener) -> None:
        """Set the object that is told before partitions are given away."""
        ...

    def close(self) -> None:
        """Leave in good order; calling it again does nothing."""
        ...


class Appender(Protocol):
    """The receiver's side of a log."""

    def append(self, records: Sequence["NewRecord"]) -> None:
        """Store all records durably, or none.

        Raises:
            RetryableError: full or unreachable; nothing was stored.
        """
        ...

    def close(self) -> None:
        """Flush and release; calling it again does nothing."""
        ...


class NewRecord(Record, frozen=True, kw_only=True):
    """A record on its way into the log; the log chooses partition (by key), offset and time."""

    signal: Signal
    key: bytes | None
    value: bytes


class OutputReader(Protocol):
    """A consumer's side of the output topics, with offsets of its own."""

    def read(self, timeout: float) -> Sequence[StoredOutput]:
        """Return committed records in order per partition, waiting up to `timeout` seconds.

        Raises:
            RetryableError: the log cannot be reached now.
        """
        ...

    def commit(self) -> None:
        """Remember everything returned so far as done.

        Raises:
            RetryableError: the log cannot be reached now; the records come again.
        """
        ...

    def close(self) -> None:
        """Release; calling it again does nothing."""
        ...
