"""The topics: how they are made, and what a worker insists on before it reads them."""

import importlib
import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from seekwatch.collector.kafka_client import KafkaSettings, admin
from seekwatch.collector.kafka_errors import kafka_errors
from seekwatch.core.errors import ConfigurationError, RetryableError
from seekwatch.core.records import Output, Signal

_admin: Any = importlib.import_module("kafka.admin")
_errors: Any = importlib.import_module("kafka.errors")

_LOG: Final = logging.getLogger(__name__)

_DAY: Final = 24 * 3600
_SCORES_LIMIT: Final = 1_000_000
"""Bytes of a record batch: the largest score entry (`SCORE_BYTES`) and what is around it."""

_TOPICS: Final[tuple[Signal | Output, ...]] = (*Signal, *Output)


class TopicDefaults(NamedTuple):
    """Settings with which a topic is made.

    Attributes:
        retention: seconds.
        max_message_bytes: of a record batch; above what we put into one record.
    """

    retention: int
    max_message_bytes: int


DEFAULTS: Final[Mapping[Signal | Output, TopicDefaults]] = {
    Signal.TRACES: TopicDefaults(3 * _DAY, 8 << 20),
    Signal.LOGS: TopicDefaults(3 * _DAY, 8 << 20),
    Output.SCORES: TopicDefaults(30 * _DAY, 2 << 20),
    Output.EPISODES: TopicDefaults(7 * _DAY, 16 << 20),
    # The original value, and what is said about it.
    Output.DEAD_LETTERS: TopicDefaults(14 * _DAY, 12 << 20),
}


class TopicFacts(NamedTuple):
    """What the broker says of a topic."""

    partitions: int
    configuration: Mapping[str, str]


def create_topics(settings: KafkaSettings, *, partitions: int, replication: int) -> list[str]:
    """Create those of our topics that are missing; return their names.

    The log's clock needs `LogAppendTime`: a sender's clock may be wrong.

    Raises:
        RetryableError: no broker answers.
        PermanentError: the broker refuses.
    """
    client = admin(settings)
    try:
        with kafka_errors("creating topics"):
            present = set(client.list_topics())
            wanted = {
                settings.topics.of(topic): {
                    "num_partitions": partitions,
                    "replication_factor": replication,
                    "configs": _configuration(defaults),
                }
                for topic, defaults in DEFAULTS.items()
            }
            missing = {name: how for name, how in wanted.items() if name not in present}
            if missing:
                _create(client, missing)
    finally:
        client.close()
    return list(missing)


class TopicReport(NamedTuple):
    """What a worker needs to know of topics that passed the checks.

    Attributes:
        partitions: of each topic.
        limits: the largest record batch that an output's topic takes, in bytes.
    """

    partitions: int
    limits: Mapping[Output, int]


def check_topics(settings: KafkaSettings, *, hold: float) -> int:
    """Check as `inspect_topics`; return the number of partitions."""
    return inspect_topics(settings, hold=hold).partitions


def inspect_topics(settings: KafkaSettings, *, hold: float) -> TopicReport:
    """Check what our guarantees need of the topics, and describe them.

    Args:
        settings: how to reach Kafka.
        hold: seconds for which a trace may hold the commit (maximum age and late window). A day
            more must be kept, so that a worker that was down can still read it.

    Raises:
        ConfigurationError: a topic is missing, keeps records for too short a time, or has another
            number of partitions.
        RetryableError: no broker answers.
    """
    names = [settings.topics.of(topic) for topic in _TOPICS]
    facts = topic_facts(settings, names)
    first = names[0]
    for name in names:
        if name not in facts:
            raise ConfigurationError(
                "kafka.topics",
                name,
                "there is no such topic; create it, or set kafka.create_topics",
            )
        if facts[name].partitions != facts[first].partitions:
            raise ConfigurationError(
                "kafka.topics",
                name,
                f"it has {facts[name].partitions} partitions and {first} has"
                f" {facts[first].partitions}; all topics need the same number",
            )
    for signal in Signal:
        name = settings.topics.of(signal)
        _check_retention(name, facts[name].configuration, hold + _DAY)
        _warn_of_timestamps(name, facts[name].configuration)
    limits = {
        output: int(facts[settings.topics.of(output)].configuration["max.message.bytes"])
        for output in Output
    }
    if limits[Output.SCORES] < _SCORES_LIMIT:
        raise ConfigurationError(
            f"max.message.bytes of topic {settings.topics.scores}",
            limits[Output.SCORES],
            f"a scorecard must always fit; set it to {_SCORES_LIMIT} or more",
        )
    return TopicReport(facts[first].partitions, limits)


def _configuration(defaults: TopicDefaults) -> dict[str, str]:
    return {
        "cleanup.policy": "delete",
        "retention.ms": str(defaults.retention * 1000),
        "max.message.bytes": str(defaults.max_message_bytes),
        "message.timestamp.type": "LogAppendTime",
    }


def _create(client: Any, topics: Mapping[str, Mapping[str, Any]]) -> None:
    try:
        client.create_topics(dict(topics), wait_for_metadata=True)
    except _errors.TopicAlreadyExistsError:
        # Another worker started at the same time; what matters is checked afterwards.
        _LOG.info("topics %s were created by somebody else", ", ".join(topics))


def _check_retention(name: str, configuration: Mapping[str, str], needed: float) -> None:
    if "delete" not in configuration.get("cleanup.policy", "delete"):
        return
    retention = int(configuration.get("retention.ms", "-1"))
    if 0 <= retention < needed * 1000:
        raise ConfigurationError(
            f"retention.ms of topic {name}",
            retention,
            f"a record may be needed again for {needed:.0f} s (closing.max_age, closing.late_window"
            f" and a day); set it to {needed * 1000:.0f} or more",
        )
    if int(configuration.get("retention.bytes", "-1")) >= 0:
        _LOG.warning("topic %s has retention.bytes: records may go before their time", name)


def _warn_of_timestamps(name: str, configuration: Mapping[str, str]) -> None:
    kind = configuration.get("message.timestamp.type", "CreateTime")
    if kind != "LogAppendTime":
        _LOG.warning(
            "topic %s has message.timestamp.type=%s: a sender's wrong clock closes traces too early"
            " or too late; set LogAppendTime",
            name,
            kind,
        )


def topic_facts(settings: KafkaSettings, names: list[str]) -> dict[str, TopicFacts]:
    """Return what the broker says of the topics that exist, by name.

    Raises:
        RetryableError: no broker answers.
    """
    client = admin(settings)
    try:
        with kafka_errors("describing topics"):
            described = client.describe_topics(names)
            counts = {
                topic["name"]: len(topic["partitions"])
                for topic in described
                if not topic.get("error_code")
            }
            return {
                name: TopicFacts(counts[name], _described_configuration(client, name))
                for name in counts
            }
    finally:
        client.close()


def _described_configuration(client: Any, name: str) -> dict[str, str]:
    resource = _admin.ConfigResource(_admin.ConfigResourceType.TOPIC, name)
    described = client.describe_configs([resource], config_filter="all")
    try:
        entries = described["topic"][name]
    except (KeyError, TypeError) as error:
        raise RetryableError(f"Kafka does not describe topic {name}: {described!r}") from error
    return {key: str(entry["value"]) for key, entry in entries.items()}
