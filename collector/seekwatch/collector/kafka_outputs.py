"""A consumer of the output topics on Kafka, with a group of its own."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from seekwatch.collector.kafka_client import (
    KafkaSettings,
    OffsetAndMetadata,
    TopicPartition,
    close_quietly,
    consumer,
)
from seekwatch.collector.kafka_errors import kafka_errors
from seekwatch.collector.kafka_membership import is_stable
from seekwatch.collector.kafka_published import stored_output
from seekwatch.core.errors import ConfigurationError, RetryableError
from seekwatch.core.records import Output, StoredOutput

_LOG: Final = logging.getLogger(__name__)

_JOINING_POLL_MS: Final = 500
_REQUEST_MS: Final = 5000
_CLOSE_MS: Final = 5000


class KafkaOutputReader:
    """Reads committed records of some outputs. Used by one thread.

    Args:
        settings: how to reach Kafka.
        outputs: the topics to read.
        name: of the consumer; several of one name share the partitions. None reads all of them and
            keeps no position.
        from_end: where the first reading begins, when no position is kept yet.

    Raises:
        ConfigurationError: a topic is missing, or the client refuses an option.
        RetryableError: no broker answers.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        outputs: Sequence[Output],
        name: str | None = None,
        *,
        from_end: bool = False,
    ) -> None:
        settings.check()
        self._outputs: Final = {settings.topics.of(output): output for output in outputs}
        self._name = name
        self._positions: dict[Any, int] = {}
        self._closed = False
        self._consumer = consumer(
            settings,
            group_id=None if name is None else f"{settings.group_id}-{name}",
            auto_offset_reset="latest" if from_end else "earliest",
        )
        try:
            self._begin(from_end=from_end)
        except BaseException:
            self._consumer.close(timeout_ms=_CLOSE_MS)
            raise

    def read(self, timeout: float) -> Sequence[StoredOutput]:
        """Return what was committed since the last call; see `OutputReader.read`."""
        if self._closed:
            raise RetryableError("the log is closed")
        milliseconds = int(timeout * 1000)
        with kafka_errors("reading outputs"):
            if self._name is not None and not is_stable(self._consumer):
                milliseconds = max(milliseconds, _JOINING_POLL_MS)
            polled = self._consumer.poll(timeout_ms=milliseconds)
        found: list[StoredOutput] = []
        for partition, records in polled.items():
            output = self._outputs[partition.topic]
            found += [stored_output(output, record) for record in records]
            if records:
                self._positions[partition] = records[-1].offset + 1
        return found

    def commit(self) -> None:
        """Keep the position; see `OutputReader.commit`."""
        if self._name is None:
            return
        assigned = self._consumer.assignment()
        done = {
            partition: OffsetAndMetadata(offset, "", -1)
            for partition, offset in self._positions.items()
            if partition in assigned
        }
        if done:
            with kafka_errors("keeping the position of outputs"):
                self._consumer.commit(done, timeout_ms=_REQUEST_MS)
        self._positions.clear()

    def close(self) -> None:
        """Leave; calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        complaint = close_quietly(self._consumer, timeout_ms=_CLOSE_MS)
        if complaint is not None:
            _LOG.warning("closing a consumer of outputs: %s", complaint)

    def _begin(self, *, from_end: bool) -> None:
        partitions: list[Any] = []
        with kafka_errors("looking for the output topics"):
            if self._name is not None:
                self._consumer.subscribe(list(self._outputs))
            for topic in self._outputs:
                numbers = self._consumer.partitions_for_topic(topic)
                if not numbers:
                    raise ConfigurationError("kafka.topics", topic, "there is no such topic yet")
                partitions += [TopicPartition(topic, number) for number in sorted(numbers)]
            if self._name is not None:
                return
            self._consumer.assign(partitions)
            if from_end:
                # Now, not at the first poll: what comes in between is to be seen.
                ends = self._consumer.end_offsets(partitions, timeout_ms=_REQUEST_MS)
                for partition, end in ends.items():
                    self._consumer.seek(partition, end)
            else:
                self._consumer.seek_to_beginning(*partitions)
