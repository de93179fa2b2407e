"""What the scores topic holds already, for a worker that takes partitions over."""

import time
from collections.abc import Mapping
from typing import Any, Final

from seekwatch.collector.kafka_client import KafkaSettings, TopicPartition, consumer
from seekwatch.collector.kafka_errors import kafka_errors
from seekwatch.core.errors import RetryableError
from seekwatch.core.records import Output, StoredOutput

_WAIT_SECONDS: Final = 5.0
"""Of one attempt. A transaction that a dead worker left open ends within its timeout; meanwhile the
group must be polled."""

_POLL_MS: Final = 200
_REQUEST_MS: Final = 5000


def read_published(
    settings: KafkaSettings, starts: Mapping[int, int]
) -> dict[int, tuple[StoredOutput, ...]]:
    """Return the committed scores of each partition from its start offset to the end.

    The end is that of all records, committed or not: offsets and scores of one transaction become
    visible one after the other, and scores that are not seen would be published twice.

    Raises:
        RetryableError: no broker answers, or a transaction is open on one of the partitions.
    """
    topic = settings.topics.of(Output.SCORES)
    partitions = {TopicPartition(topic, partition): start for partition, start in starts.items()}
    with kafka_errors("reading what is published"):
        ends = _ends(settings, list(partitions))
        reader = consumer(settings)
        try:
            reader.assign(list(partitions))
            for partition, start in partitions.items():
                reader.seek(partition, min(start, ends[partition]))
            return _read(reader, ends)
        finally:
            reader.close()


def stored_output(output: Output, record: Any) -> StoredOutput:
    """Return a consumed record as ours."""
    return StoredOutput(
        output=output,
        partition=record.partition,
        offset=record.offset,
        timestamp=record.timestamp,
        value=record.value or b"",
        key=record.key,
        headers=tuple((name, value or b"") for name, value in record.headers),
    )


def _ends(settings: KafkaSettings, partitions: list[Any]) -> dict[Any, int]:
    looker = consumer(settings, isolation_level="read_uncommitted")
    try:
        ends: dict[Any, int] = looker.end_offsets(partitions, timeout_ms=_REQUEST_MS)
    finally:
        looker.close()
    return ends


def _read(reader: Any, ends: Mapping[Any, int]) -> dict[int, tuple[StoredOutput, ...]]:
    found: dict[int, list[StoredOutput]] = {partition.partition: [] for partition in ends}
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        waiting = [
            partition
            for partition, end in ends.items()
            if (reader.position(partition, timeout_ms=_REQUEST_MS) or 0) < end
        ]
        if not waiting:
            return {partition: tuple(records) for partition, records in found.items()}
        polled = reader.poll(timeout_ms=_POLL_MS)
        for partition, records in polled.items():
            deadline = time.monotonic() + _WAIT_SECONDS
            found[partition.partition] += [stored_output(Output.SCORES, item) for item in records]
        if time.monotonic() > deadline:
            raise RetryableError(
                "a transaction is still open on the scores of partitions "
                + ", ".join(str(partition.partition) for partition in waiting)
            )
