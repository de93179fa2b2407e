"""A worker starts only on topics and options that allow what it promises."""

import logging
import uuid
from typing import Any

import pytest

from seekwatch.collector.kafka_client import KafkaSettings, consumer
from seekwatch.collector.kafka_log import KafkaTraceLog
from seekwatch.collector.kafka_outputs import KafkaOutputReader
from seekwatch.collector.kafka_topics import check_topics, create_topics
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import Output
from tests.services.kafka_broker import Kafka
from tests.services.log_worlds import kafka_settings

HOUR = 3600


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return kafka_settings(kafka.bootstrap, f"t{uuid.uuid4().hex[:8]}")


def ours(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [item.getMessage() for item in caplog.records if item.name.startswith("seekwatch")]


def test_topics_that_we_make_pass_our_own_checks(
    settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "seekwatch"):
        assert len(create_topics(settings, partitions=3, replication=1)) == 5
        assert check_topics(settings, hold=2 * HOUR) == 3
    assert ours(caplog) == []


def test_topics_that_are_there_are_left_as_they_are(kafka: Kafka, settings: KafkaSettings) -> None:
    kafka.create_topic(settings.topics.traces, partitions=2)
    assert settings.topics.traces not in create_topics(settings, partitions=2, replication=1)
    assert create_topics(settings, partitions=9, replication=1) == []
    assert check_topics(settings, hold=HOUR) == 2


def test_a_missing_topic_stops_the_start_with_its_name(settings: KafkaSettings) -> None:
    with pytest.raises(ConfigurationError, match=settings.topics.traces):
        KafkaTraceLog(settings, hold=HOUR)
    with pytest.raises(ConfigurationError, match=settings.topics.scores):
        KafkaOutputReader(settings, [Output.SCORES], "archive")


def test_unequal_partition_counts_stop_the_start(kafka: Kafka, settings: KafkaSettings) -> None:
    kafka.create_topic(settings.topics.logs, partitions=2)
    create_topics(settings, partitions=3, replication=1)
    with pytest.raises(ConfigurationError, match="2 partitions") as caught:
        KafkaTraceLog(settings, hold=HOUR)
    assert caught.value.value == settings.topics.logs


def test_a_retention_shorter_than_a_trace_may_hold_stops_the_start(
    kafka: Kafka, settings: KafkaSettings
) -> None:
    day = 24 * HOUR
    kafka.create_topic(
        settings.topics.traces,
        partitions=3,
        configuration={"retention.ms": (day + HOUR) * 1000},
    )
    create_topics(settings, partitions=3, replication=1)
    assert check_topics(settings, hold=HOUR) == 3
    with pytest.raises(ConfigurationError, match="set it to 90001000 or more") as caught:
        check_topics(settings, hold=HOUR + 1)
    assert settings.topics.traces in caught.value.key
    assert caught.value.value == (day + HOUR) * 1000


def test_a_topic_that_would_refuse_a_scorecard_stops_the_start(
    kafka: Kafka, settings: KafkaSettings
) -> None:
    kafka.create_topic(
        settings.topics.scores, partitions=1, configuration={"max.message.bytes": 500_000}
    )
    create_topics(settings, partitions=1, replication=1)
    with pytest.raises(ConfigurationError, match="a scorecard must always fit") as caught:
        check_topics(settings, hold=HOUR)
    assert settings.topics.scores in caught.value.key


def test_a_topic_that_keeps_everything_passes(kafka: Kafka, settings: KafkaSettings) -> None:
    for topic in (settings.topics.traces, settings.topics.logs):
        kafka.create_topic(topic, partitions=1, configuration={"retention.ms": -1})
    create_topics(settings, partitions=1, replication=1)
    assert check_topics(settings, hold=1000 * HOUR) == 1


def test_senders_timestamps_are_warned_about(
    kafka: Kafka, settings: KafkaSettings, caplog: pytest.LogCaptureFixture
) -> None:
    kafka.create_topic(settings.topics.logs, partitions=1)
    create_topics(settings, partitions=1, replication=1)
    with caplog.at_level(logging.WARNING, "seekwatch"):
        check_topics(settings, hold=HOUR)
    (message,) = ours(caplog)
    assert settings.topics.logs in message
    assert "LogAppendTime" in message


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"sasl_mechanismus": "PLAIN"}, "no option of this name"),
        ({"enable_auto_commit": True}, "leave it out"),
        ({"transactional_id": "mine"}, "leave it out"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], wanted: str) -> None:
    settings = KafkaSettings(options=options)
    with pytest.raises(ConfigurationError, match=wanted) as caught:
        settings.check()
    (name,) = options
    assert caught.value.key == f"kafka.options.{name}"


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"security_protocol": "sasl_ssl"}, "security_protocol"),
        ({"sasl_mechanism": "PLAIN"}, "sasl_mechanism"),
        ({"security_protocol": "SASL_PLAINTEXT", "ssl_cafile": "ca.pem"}, "ssl_cafile"),
    ],
)
def test_security_that_would_silently_not_be_is_refused(options: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        KafkaSettings(options=options).check()
    assert caught.value.key == f"kafka.options.{key}"


def test_a_value_that_the_client_refuses_is_a_configuration_error(kafka: Kafka) -> None:
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, options={"session_timeout_ms": 2000}
    )
    with pytest.raises(ConfigurationError, match="Heartbeat interval"):
        consumer(settings, group_id="g")


def test_a_missing_codec_is_told_before_a_topic_seems_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kafka.codec.has_snappy", lambda: False)
    with pytest.raises(ConfigurationError, match="snappy"):
        KafkaSettings().check()
