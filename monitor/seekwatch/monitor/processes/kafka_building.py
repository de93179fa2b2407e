"""Builds the Kafka log from settings. Whoever imports this loads kafka-python, so few do early."""

from collections.abc import Callable, Sequence

from seekwatch.collector.kafka_append import KafkaAppender
from seekwatch.collector.kafka_client import KafkaSettings as KafkaConfig
from seekwatch.collector.kafka_client import Topics
from seekwatch.collector.kafka_log import KafkaTraceLog
from seekwatch.collector.kafka_outputs import KafkaOutputReader
from seekwatch.collector.kafka_topics import create_topics
from seekwatch.core.records import Output
from seekwatch.monitor.settings.kafka_options import typed_options
from seekwatch.monitor.settings.model import Settings


def kafka_config(settings: Settings) -> KafkaConfig:
    """Return how to reach Kafka."""
    kafka = settings.kafka
    return KafkaConfig(
        bootstrap_servers=kafka.bootstrap_servers,
        group_id=kafka.group_id,
        topics=Topics(**kafka.topics.model_dump()),
        options=typed_options(kafka.options),
        member=kafka.member,
    )


def trace_log(settings: Settings, on_left_out: Callable[[], None]) -> KafkaTraceLog:
    """Return a member of the group; missing topics are created where that is allowed.

    Args:
        settings: of the monitor.
        on_left_out: see `KafkaTraceLog`.

    Raises:
        ConfigurationError: a topic does not allow our guarantees.
        RetryableError: no broker answers.
    """
    config = kafka_config(settings)
    _create_topics(settings, config)
    closing = settings.closing
    return KafkaTraceLog(
        config, hold=closing.max_age + closing.late_window, on_left_out=on_left_out
    )


def appender(settings: Settings) -> KafkaAppender:
    """Return the receiver's side; missing topics are created where that is allowed.

    Raises:
        ConfigurationError: an option that cannot be used.
        RetryableError: no broker answers.
    """
    config = kafka_config(settings)
    _create_topics(settings, config)
    return KafkaAppender(config)


def output_reader(
    settings: Settings, outputs: Sequence[Output], consumer: str | None
) -> KafkaOutputReader:
    """Return a consumer of output topics; None keeps no position and begins at the start.

    Raises:
        ConfigurationError: a topic is missing.
        RetryableError: no broker answers.
    """
    return KafkaOutputReader(kafka_config(settings), outputs, consumer)


def _create_topics(settings: Settings, config: KafkaConfig) -> None:
    kafka = settings.kafka
    if kafka.create_topics:
        create_topics(config, partitions=kafka.partitions, replication=kafka.replication)
