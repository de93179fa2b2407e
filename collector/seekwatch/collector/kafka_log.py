"""The worker's side of the log on Kafka: one member of a consumer group, one transaction a commit.

Partition p of the two input topics always belongs to one member: the topics have equal counts and
the range assignor deals each out by number. Whatever goes wrong with a commit, the member goes back
to what the broker has as committed and hands out its partitions anew.
"""

import importlib
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from seekwatch.collector.kafka_client import (
    KafkaSettings,
    TopicPartition,
    close_quietly,
    consumer,
)
from seekwatch.collector.kafka_errors import KafkaError, kafka_errors
from seekwatch.collector.kafka_membership import Membership, is_stable
from seekwatch.collector.kafka_position import (
    offset_with_metadata,
    read_offset,
    scores_offset,
)
from seekwatch.collector.kafka_published import read_published
from seekwatch.collector.kafka_publisher import Publisher
from seekwatch.collector.kafka_sizes import fitted
from seekwatch.collector.kafka_topics import inspect_topics
from seekwatch.core.errors import FencedError, RetryableError
from seekwatch.core.records import (
    Assignment,
    Batch,
    LogRecord,
    OutputRecord,
    PartitionState,
    Position,
    RevocationListener,
    Signal,
)

_LOG: Final = logging.getLogger(__name__)

_assignors: Any = importlib.import_module("kafka.coordinator.assignors.range")

_JOINING_POLL_MS: Final = 500
"""Shorter polls while the group rebalances can leave kafka-python's consumer stuck for ever."""

_REQUEST_MS: Final = 5000
_END_SECONDS: Final = 1.0
"""How old the log's end may be for `at_end`. The log's clock is held 2 s back, which covers it."""

_CLOSE_MS: Final = 10_000
_STUCK_SECONDS: Final = 30.0
"""Beyond the time that a join may take, after which a consumer counts as stuck in it."""


class KafkaTraceLog:
    """One member of the group of workers. Used by one thread.

    Args:
        settings: how to reach Kafka.
        hold: seconds for which a trace may hold the commit: maximum age and late window.
        on_left_out: told of each episodes record that a commit left out because its topic does not
            take it.

    Raises:
        ConfigurationError: a topic or an option does not allow our guarantees.
        RetryableError: no broker answers.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        *,
        hold: float,
        on_left_out: Callable[[], None] = lambda: None,
    ) -> None:
        settings.check()
        self._on_left_out = on_left_out
        self._settings = settings
        topics = inspect_topics(settings, hold=hold)
        self.partitions: Final = topics.partitions
        self._limits: Final = topics.limits
        self._signals: Final = {settings.topics.of(signal): signal for signal in Signal}
        self._publisher = Publisher(settings)
        self._membership = Membership()
        self._consumer = self._joined()
        self._positions: dict[Any, int] = {}
        self._scores_ends: dict[int, int] = {}
        self._ends: dict[Any, int] = {}
        self._ends_at = float("-inf")
        self._stable_at = time.monotonic()
        self._closed = False

    def read(self, timeout: float) -> Batch:
        """Return what has come; see `TraceLog.read`."""
        if self._closed:
            raise RetryableError("the log is closed")
        self._replace_stuck_consumer()
        with kafka_errors("reading"):
            polled = self._poll(timeout)
        records = list(self._records(polled, self._membership.ready()))
        failure: RetryableError | None = None
        assigned: Sequence[Assignment] = ()
        try:
            with kafka_errors("taking partitions over"):
                assigned = self._take_over()
        except RetryableError as error:
            failure = error
        revoked, lost = self._membership.taken_away()
        for partition in {*revoked, *lost}:
            self._forget(partition)
        self._refresh_ends()
        if failure and not (records or revoked or lost):
            raise failure
        return Batch(
            records=records,
            assigned=assigned,
            revoked=revoked,
            lost=lost,
            states=[self._state(partition) for partition in self._membership.ready()],
        )

    def commit(
        self, positions: Mapping[int, Position], records: Sequence[OutputRecord]
    ) -> Mapping[int, int]:
        """Publish and move in one transaction; see `TraceLog.commit`."""
        if self._closed:
            raise RetryableError("the log is closed")
        touched = {*positions, *(record.partition for record in records)}
        foreign = touched.difference(self._membership.ready())
        if foreign:
            # What was pending for our own partitions is dropped with the rest, and begins anew.
            self._membership.start_over()
            raise FencedError(f"partitions {sorted(foreign)} are not ours")
        fitting = fitted(records, self._limits)
        try:
            ends = self._publisher.publish(
                fitting, self._offsets(positions), self._membership.group
            )
        except BaseException:
            self._membership.start_over()
            raise
        for _ in range(len(records) - len(fitting)):
            self._on_left_out()
        self._scores_ends.update(ends)
        return {partition: self._scores_ends.get(partition, 0) for partition in touched}

    def set_revocation_listener(self, listener: RevocationListener) -> None:
        """Tell `listener` before partitions are given away."""
        self._membership.listener = listener

    def close(self) -> None:
        """Leave the group, so that others take over at once; again: does nothing."""
        if self._closed:
            return
        # The listener is called in between and may commit.
        complaint = close_quietly(self._consumer, timeout_ms=_CLOSE_MS)
        if complaint is not None:
            _LOG.warning("leaving the group: %s", complaint)
        self._closed = True
        self._publisher.discard()

    def _joined(self) -> Any:
        made = consumer(
            self._settings,
            group_id=self._settings.group_id,
            partition_assignment_strategy=[_assignors.RangePartitionAssignor],
        )
        topics = list(self._signals)
        made.subscribe(topics, listener=self._membership.kafka_listener(made))
        try:
            with kafka_errors("looking for the topics"):
                # The first join must know the partitions, or the consumer can stick in it.
                for topic in topics:
                    made.partitions_for_topic(topic)
        except BaseException:
            close_quietly(made, timeout_ms=0)
            raise
        return made

    def _poll(self, timeout: float) -> Mapping[Any, Sequence[Any]]:
        milliseconds = int(timeout * 1000)
        if not is_stable(self._consumer):
            milliseconds = max(milliseconds, _JOINING_POLL_MS)
        polled: Mapping[Any, Sequence[Any]] = self._consumer.poll(timeout_ms=milliseconds)
        return polled

    def _replace_stuck_consumer(self) -> None:
        now = time.monotonic()
        if is_stable(self._consumer):
            self._stable_at = now
            return
        # A join may take as long as another member takes between two polls.
        patience = self._consumer.config["max_poll_interval_ms"] / 1000 + _STUCK_SECONDS
        if now - self._stable_at < patience:
            return
        _LOG.warning("not in the group for %.0f s: joining anew", patience)
        replacement = self._joined()
        self._stable_at = now
        self._membership.lose(set(self._membership.owned()))
        stuck, self._consumer = self._consumer, replacement
        close_quietly(stuck, timeout_ms=0)

    def _records(
        self, polled: Mapping[Any, Sequence[Any]], ready: Sequence[int]
    ) -> Iterable[LogRecord]:
        """Yield what was polled; partitions that are yet to be begun will be read again."""
        for partition, items in polled.items():
            if partition.partition not in ready:
                continue
            signal = self._signals[partition.topic]
            for item in items:
                yield LogRecord(
                    signal=signal,
                    partition=item.partition,
                    offset=item.offset,
                    timestamp=item.timestamp,
                    key=item.key,
                    value=item.value or b"",
                )
            if items:
                self._positions[partition] = items[-1].offset + 1

    def _take_over(self) -> Sequence[Assignment]:
        """Begin the partitions that are new, or that go back, at their committed position."""
        taken = self._membership.waiting()
        if not taken:
            return ()
        # Ends what an earlier producer of ours left open, which the next line would wait for.
        self._publisher.prepare()
        found = {partition: self._committed(partition) for partition in taken}
        published = read_published(
            self._settings, {item: position.scores_offset for item, position in found.items()}
        )
        for partition, position in found.items():
            for signal, offset in position.offsets.items():
                topic_partition = self._topic_partition(signal, partition)
                self._consumer.seek(topic_partition, offset)
                self._positions[topic_partition] = offset
            last = published[partition][-1:]
            self._scores_ends[partition] = last[0].offset + 1 if last else position.scores_offset
        self._membership.took_over(self._consumer, taken)
        self._ends_at = float("-inf")
        return [
            Assignment(partition=item, position=position, published=published[item])
            for item, position in found.items()
        ]

    def _committed(self, partition: int) -> Position:
        topic_partitions = {signal: self._topic_partition(signal, partition) for signal in Signal}
        committed = {
            signal: self._consumer.committed(item, metadata=True, timeout_ms=_REQUEST_MS)
            for signal, item in topic_partitions.items()
        }
        firsts = self._consumer.beginning_offsets(
            list(topic_partitions.values()), timeout_ms=_REQUEST_MS
        )
        offsets: dict[Signal, int] = {}
        for signal, item in topic_partitions.items():
            first = firsts[item]
            offset = first if committed[signal] is None else committed[signal].offset
            if offset < first:
                _LOG.error(
                    "%s-%d: records %d to %d were deleted before they were read",
                    item.topic,
                    partition,
                    offset,
                    first - 1,
                )
            offsets[signal] = max(offset, first)
        return Position(
            offsets=offsets,
            scores_offset=scores_offset(committed),
            read_offsets={signal: read_offset(value) for signal, value in committed.items()},
        )

    def _offsets(self, positions: Mapping[int, Position]) -> dict[Any, Any]:
        return {
            self._topic_partition(signal, partition): offset_with_metadata(
                offset, position.scores_offset, position.read_offsets.get(signal, 0)
            )
            for partition, position in positions.items()
            for signal, offset in position.offsets.items()
        }

    def _forget(self, partition: int) -> None:
        if partition in self._membership.owned():
            return
        for signal in Signal:
            self._positions.pop(self._topic_partition(signal, partition), None)
        self._scores_ends.pop(partition, None)

    def _refresh_ends(self) -> None:
        """Ask for the log's ends once a second: what a fetch said last may be long ago."""
        if time.monotonic() - self._ends_at < _END_SECONDS:
            return
        asked = [
            self._topic_partition(signal, partition)
            for partition in self._membership.ready()
            for signal in Signal
        ]
        if not asked:
            return
        asked_at = time.monotonic()
        try:
            self._ends.update(self._consumer.end_offsets(asked, timeout_ms=_REQUEST_MS))
            for partition in asked:
                # Markers of transactions take offsets too: only the consumer knows that it is past.
                if self._positions[partition] < self._ends[partition]:
                    position = self._consumer.position(partition, timeout_ms=_REQUEST_MS)
                    self._positions[partition] = max(self._positions[partition], position or 0)
        except KafkaError as error:
            _LOG.warning("the log's end is not known now: %s", error)
            self._ends_at = float("-inf")
            return
        # Known as of the question: the answer may be read much later, by a process that was frozen.
        self._ends_at = asked_at

    def _state(self, partition: int) -> PartitionState:
        read: dict[Signal, int] = {}
        end: dict[Signal, int] = {}
        for signal in Signal:
            item = self._topic_partition(signal, partition)
            read[signal] = self._positions[item]
            end[signal] = max(self._ends.get(item, 0), read[signal])
        known = time.monotonic() - self._ends_at < 2 * _END_SECONDS
        return PartitionState(
            partition=partition,
            read=read,
            end=end,
            at_end=known and read == end,
            end_known=known,
        )

    def _topic_partition(self, signal: Signal, partition: int) -> Any:
        return TopicPartition(self._settings.topics.of(signal), partition)
