"""Kafka as an onlooker sees it: a consumer without a group, so nobody's position moves."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from seekwatch.collector.kafka_client import TopicPartition, consumer
from seekwatch.collector.kafka_errors import kafka_errors
from seekwatch.collector.kafka_published import stored_output
from seekwatch.collector.kafka_topics import check_topics, topic_facts
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import Output, Signal, StoredOutput
from seekwatch.core.scorecard import ScoreEntry
from seekwatch.core.topics import unpack_scores
from seekwatch.monitor.processes.kafka_building import kafka_config
from seekwatch.monitor.settings.model import Settings

from .findings import Arrived, Finding, note, ok, wrong

_POLL_MS: Final = 500
_SECONDS: Final = 15.0
"""For reading the end of one topic."""


class KafkaSight:
    """Looks at the topics.

    Raises:
        ConfigurationError: an option that cannot be used.
        RetryableError: no broker answers.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._config = kafka_config(settings)
        self._config.check()
        self._consumer: Any = consumer(self._config)

    def checks(self) -> Iterable[Finding]:
        """Look at partitions, retention and timestamps."""
        closing = self._settings.closing
        servers = self._config.bootstrap_servers
        try:
            partitions = check_topics(self._config, hold=closing.max_age + closing.late_window)
        except ConfigurationError as error:
            yield wrong("kafka", f"{error.key} = {error.value!r}", error.fix)
            return
        yield ok("kafka", f"{servers}: all topics are there, with {partitions} partitions each")
        yield ok("codecs", "gzip, snappy, lz4 and zstd can be read")
        yield from self._inputs()

    def _inputs(self) -> Iterator[Finding]:
        """Look at what the input topics do to the log's clock and to old records."""
        names = [self._config.topics.of(signal) for signal in Signal]
        for name, facts in topic_facts(self._config, names).items():
            kind = facts.configuration.get("message.timestamp.type", "CreateTime")
            if kind != "LogAppendTime":
                yield note(
                    "kafka",
                    f"{name} has message.timestamp.type={kind}: a sender's wrong clock closes "
                    "traces too early or too late",
                    f"kafka-configs.sh --alter --topic {name} --add-config "
                    "message.timestamp.type=LogAppendTime",
                )
            if int(facts.configuration.get("retention.bytes", "-1")) >= 0:
                yield note(
                    "kafka",
                    f"{name} has retention.bytes: under load records go before their time",
                    "leave it unset, and bound the topic by retention.ms",
                )

    def spans(self, limit: int) -> Sequence[Arrived]:
        """Return the newest records of spans, oldest first."""
        return [
            Arrived(timestamp=record.timestamp, value=record.value or b"")
            for record in self._newest(self._config.topics.of(Signal.TRACES), limit)
        ]

    def first_arrival(self) -> float | None:
        """Return when the oldest span on the log arrived, in seconds since the epoch."""
        topic = self._config.topics.of(Signal.TRACES)
        with kafka_errors(f"looking at {topic}"):
            numbers = self._consumer.partitions_for_topic(topic) or ()
            partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
            self._consumer.assign(partitions)
            firsts = self._consumer.beginning_offsets(partitions)
            ends = self._consumer.end_offsets(partitions)
            for partition in partitions:
                self._consumer.seek(partition, firsts[partition])
            one = {item: min(end, firsts[item] + 1) for item, end in ends.items()}
            times = [record.timestamp for record in self._to_the_end(one)]
        return min(times) / 1000 if times else None

    def scores(self, limit: int) -> Sequence[ScoreEntry]:
        """Return the newest scorecards, oldest first."""
        records = self._newest(self._config.topics.of(Output.SCORES), limit)
        return [entry for record in records for entry in unpack_scores(record.value)][-limit:]

    def dead_letters(self, limit: int) -> Sequence[StoredOutput]:
        """Return the newest dead letters, oldest first."""
        records = self._newest(self._config.topics.of(Output.DEAD_LETTERS), limit)
        return [stored_output(Output.DEAD_LETTERS, record) for record in records]

    def close(self) -> None:
        """Let go of the broker."""
        self._consumer.close()

    def _newest(self, topic: str, limit: int) -> list[Any]:
        with kafka_errors(f"looking at {topic}"):
            numbers = self._consumer.partitions_for_topic(topic) or ()
            partitions = [TopicPartition(topic, number) for number in sorted(numbers)]
            self._consumer.assign(partitions)
            firsts = self._consumer.beginning_offsets(partitions)
            ends = self._consumer.end_offsets(partitions)
            each = max(1, limit // max(1, len(partitions)))
            for partition in partitions:
                self._consumer.seek(partition, max(firsts[partition], ends[partition] - each))
            return sorted(self._to_the_end(ends), key=lambda record: record.timestamp)

    def _to_the_end(self, ends: dict[Any, int]) -> list[Any]:
        found: list[Any] = []
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            if all(self._consumer.position(item) >= end for item, end in ends.items()):
                break
            for records in self._consumer.poll(timeout_ms=_POLL_MS).values():
                found += records
        return found
