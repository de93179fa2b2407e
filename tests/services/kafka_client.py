"""Writing and reading a topic in a test, with types.

kafka-python ships no type information; this is the harness's one place that touches it. The
product's own client is not used here: what it writes is what these functions have to judge.
"""

import importlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.services.waiting import eventually

_kafka: Any = importlib.import_module("kafka")

# The default of half a minute outlasts most tests' outages.
_RECONNECT_MS = 500
_POLL_MS = 500
_FETCH_BYTES = 64 << 20


class Record(NamedTuple):
    """A record as it lies in a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp_ms: int = 0


def create_topic(
    bootstrap: str,
    name: str | None = None,
    *,
    partitions: int = 1,
    configuration: Mapping[str, str | int] | None = None,
) -> str:
    """Create a topic, by default under a name never used before, and return its name."""
    topic = name or f"test-{uuid.uuid4().hex[:12]}"
    configs = {key: str(value) for key, value in (configuration or {}).items()}
    with _kafka.KafkaAdminClient(
        bootstrap_servers=bootstrap, reconnect_backoff_max_ms=_RECONNECT_MS
    ) as admin:
        admin.create_topics(
            {topic: {"num_partitions": partitions, "configs": configs}}, wait_for_metadata=True
        )
    return topic


def produce(
    bootstrap: str,
    topic: str,
    records: Iterable[tuple[bytes | None, bytes]],
    *,
    partition: int | None = None,
    compression: str | None = None,
    timeout: float = 30.0,
) -> list[tuple[int, int]]:
    """Append (key, value) records and return the (partition, offset) of each, in order."""
    with _kafka.KafkaProducer(
        bootstrap_servers=bootstrap,
        reconnect_backoff_max_ms=_RECONNECT_MS,
        max_request_size=_FETCH_BYTES,
        compression_type=compression,
    ) as producer:
        futures = [
            producer.send(topic, value=value, key=key, partition=partition)
            for key, value in records
        ]
        answers = [future.get(timeout) for future in futures]
    return [(answer.partition, answer.offset) for answer in answers]


def read_all(
    bootstrap: str, topic: str, *, committed_only: bool = True, timeout: float = 60.0
) -> list[Record]:
    """Return every record that lies in the topic now, by partition and offset.

    Raises:
        NotInTimeError: reading took longer than `timeout` seconds.
    """
    with _kafka.KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        reconnect_backoff_max_ms=_RECONNECT_MS,
        isolation_level="read_committed" if committed_only else "read_uncommitted",
        fetch_max_bytes=_FETCH_BYTES,
        max_partition_fetch_bytes=_FETCH_BYTES,
    ) as consumer:
        partitions: Iterable[int] = consumer.partitions_for_topic(topic) or ()
        assigned = [_kafka.TopicPartition(topic, partition) for partition in partitions]
        consumer.assign(assigned)
        consumer.seek_to_beginning(*assigned)
        ends: dict[Any, int] = consumer.end_offsets(assigned)
        records: list[Record] = []

        def at_the_end() -> bool:
            batches: Mapping[Any, Sequence[Any]] = consumer.poll(timeout_ms=_POLL_MS)
            records.extend(_record(raw) for batch in batches.values() for raw in batch)
            return all(consumer.position(partition) >= end for partition, end in ends.items())

        eventually(at_the_end, what=f"all of {topic} read", timeout=timeout)
    return sorted(records, key=lambda record: (record.partition, record.offset))


def read_until(bootstrap: str, topic: str, *, at_least: int, timeout: float = 60.0) -> list[Record]:
    """Return every record of the topic once it holds `at_least` so many.

    Raises:
        NotInTimeError: it did not within `timeout` seconds.
    """

    def enough() -> list[Record] | None:
        records = read_all(bootstrap, topic)
        return records if len(records) >= at_least else None

    return eventually(enough, what=f"{at_least} records in {topic}", timeout=timeout)


def default_partition(key: bytes, partitions: int) -> int:
    """Return where the default partitioner of kafka-python, Java's, puts a key."""
    hashed: int = importlib.import_module("kafka.partitioner").murmur2(key)
    return (hashed & 0x7FFFFFFF) % partitions


def _record(raw: Any) -> Record:
    return Record(
        partition=raw.partition,
        offset=raw.offset,
        key=raw.key,
        value=raw.value,
        headers=tuple(raw.headers),
        timestamp_ms=raw.timestamp,
    )
