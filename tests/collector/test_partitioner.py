"""Our partitioner agrees with Kafka's."""

import importlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seekwatch.collector.partitioner import murmur2, partition_of
from tests.services.kafka_client import default_partition

_kafka: Any = importlib.import_module("kafka.partitioner")


@given(st.binary(max_size=64))
def test_the_hash_is_kafkas(key: bytes) -> None:
    assert murmur2(key) == _kafka.murmur2(key)


@given(st.binary(min_size=16, max_size=16), st.integers(min_value=1, max_value=64))
def test_a_trace_id_goes_where_a_kafka_producer_sends_it(trace: bytes, partitions: int) -> None:
    key = trace.hex().encode()
    assert partition_of(key, partitions) == default_partition(key, partitions)


def test_a_known_value_of_kafkas_own_tests() -> None:
    assert murmur2(b"21") == 0xC5F61F0E or murmur2(b"21") - (1 << 32) == -973932308
