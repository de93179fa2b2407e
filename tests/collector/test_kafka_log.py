"""The Kafka log keeps the contract of every log, on a real broker."""

import uuid

import pytest

from seekwatch.collector.kafka_topics import create_topics
from tests.collector.log_contract import LogContract
from tests.services.kafka_broker import Kafka
from tests.services.log_worlds import KafkaWorld


@pytest.fixture
def world(kafka: Kafka) -> KafkaWorld:
    made = KafkaWorld(kafka.bootstrap, f"w{uuid.uuid4().hex[:8]}", 4)
    create_topics(made.settings, partitions=4, replication=1)
    return made


class TestContract(LogContract):
    """The contract, on Kafka."""
