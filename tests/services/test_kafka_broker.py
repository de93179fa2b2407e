"""The harness's own promises about Kafka."""

import importlib
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import default_partition, produce, read_all
from tests.services.kafka_metadata import cluster_view


@pytest.fixture
def own_kafka(kafka: Kafka) -> Iterator[Kafka]:
    """A broker to be hurt; `kafka` is asked for so that a missing Java is told the same way."""
    with Kafka() as cluster:
        yield cluster


def append(cluster: Kafka, topic: str, *values: bytes) -> None:
    produce(cluster.bootstrap, topic, [(None, value) for value in values])


def values(cluster: Kafka, topic: str) -> list[bytes]:
    return [record.value or b"" for record in read_all(cluster.bootstrap, topic)]


def test_what_is_produced_is_read_back(kafka: Kafka, kafka_topic: str) -> None:
    append(kafka, kafka_topic, b"1", b"2", b"3")
    assert sorted(values(kafka, kafka_topic)) == [b"1", b"2", b"3"]


def test_keys_go_where_the_default_partitioner_says(kafka: Kafka, kafka_topic: str) -> None:
    keys = [f"{number:032x}".encode() for number in range(20)]
    produce(kafka.bootstrap, kafka_topic, [(key, b"") for key in keys])
    records = read_all(kafka.bootstrap, kafka_topic)
    assert len(records) == 20
    for record in records:
        assert record.key is not None
        assert record.partition == default_partition(record.key, 4)


def test_an_aborted_transaction_is_not_read(kafka: Kafka, kafka_topic: str) -> None:
    producer: Any = importlib.import_module("kafka").KafkaProducer(
        bootstrap_servers=kafka.bootstrap, transactional_id=kafka_topic
    )
    producer.init_transactions()
    for value, end in (
        (b"kept", producer.commit_transaction),
        (b"dropped", producer.abort_transaction),
    ):
        producer.begin_transaction()
        for partition in range(4):
            producer.send(kafka_topic, value, partition=partition).get(30)
        end()
    producer.close()
    assert values(kafka, kafka_topic) == [b"kept"] * 4
    everything = read_all(kafka.bootstrap, kafka_topic, committed_only=False)
    assert [record.value for record in everything] == [b"kept", b"dropped"] * 4


def test_topics_of_two_calls_have_different_names(kafka: Kafka) -> None:
    assert kafka.create_topic() != kafka.create_topic()


def test_a_killed_broker_comes_back_with_its_records(own_kafka: Kafka) -> None:
    topic = own_kafka.create_topic()
    append(own_kafka, topic, b"before")
    own_kafka.kill()
    assert not own_kafka.alive()
    own_kafka.restart()
    append(own_kafka, topic, b"after")
    assert values(own_kafka, topic) == [b"before", b"after"]


def test_a_stopped_broker_hangs_and_goes_on(own_kafka: Kafka) -> None:
    topic = own_kafka.create_topic()
    port = int(own_kafka.bootstrap.rpartition(":")[2])
    own_kafka.signal(signal.SIGSTOP)
    with pytest.raises(OSError, match="timed out"):
        cluster_view(port)
    own_kafka.signal(signal.SIGCONT)
    append(own_kafka, topic, b"1")


def test_a_setting_of_the_test_reaches_the_broker() -> None:
    with Kafka(settings={"auto.create.topics.enable": "true"}) as cluster:
        append(cluster, "made-on-demand", b"1")
        assert values(cluster, "made-on-demand") == [b"1"]


def test_no_process_is_left_after_the_end(own_kafka: Kafka) -> None:
    own_kafka.stop()
    assert not own_kafka.alive()
    assert not own_kafka.log().exists()


@pytest.mark.nightly
def test_three_nodes_serve_while_one_is_dead() -> None:
    with Kafka(3) as cluster:
        topic = cluster.create_topic(partitions=3)
        cluster.kill(1)
        append(cluster, topic, *(b"%d" % number for number in range(30)))
        cluster.restart(1)
        assert len(values(cluster, topic)) == 30
