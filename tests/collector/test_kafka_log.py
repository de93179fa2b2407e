"""The Kafka log on a real broker: the contract of every log, and what only a group can show."""

import os
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from seekwatch.collector.kafka_client import (
    KafkaSettings,
    OffsetAndMetadata,
    TopicPartition,
    consumer,
)
from seekwatch.collector.kafka_log import KafkaTraceLog
from seekwatch.collector.kafka_outputs import KafkaOutputReader
from seekwatch.collector.kafka_topics import create_topics
from seekwatch.core.errors import FencedError, PermanentError, RetryableError
from seekwatch.core.records import NewRecord, Output, OutputRecord, Signal, StoredOutput
from tests.collector.log_contract import (
    PATIENCE,
    LogContract,
    Reading,
    append,
    new,
    read_outputs,
    score,
    start_worker,
    values,
    wait_for_line,
)
from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import produce, read_all
from tests.services.log_worlds import KafkaWorld


def made_world(kafka: Kafka, **options: object) -> KafkaWorld:
    made = KafkaWorld(kafka.bootstrap, f"w{uuid.uuid4().hex[:8]}", 4, options)
    create_topics(made.settings, partitions=4, replication=1)
    return made


@pytest.fixture
def world(kafka: Kafka) -> KafkaWorld:
    return made_world(kafka)


@pytest.fixture(scope="module")
def broker_to_hurt(kafka: Kafka) -> Iterator[Kafka]:
    """A broker of this module; `kafka` is asked for so that a missing Java is told the same way."""
    with Kafka() as cluster:
        yield cluster


@pytest.fixture
def own_kafka(broker_to_hurt: Kafka) -> Iterator[Kafka]:
    """A broker that a test may hurt; it is well again for the next one."""
    yield broker_to_hurt
    broker_to_hurt.signal(signal.SIGCONT)
    if not broker_to_hurt.alive():
        broker_to_hurt.restart()


class TestContract(LogContract):
    """The contract, on Kafka."""


def scores(world: KafkaWorld, count: int) -> list[StoredOutput]:
    reader = world.output_reader([Output.SCORES])
    try:
        return read_outputs(reader, count)
    finally:
        reader.close()


class Committing:
    """A revocation listener that commits what was read, as the worker does."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.told: list[list[int]] = []
        self.failures: list[Exception] = []

    def on_revoke(self, partitions: Sequence[int]) -> None:
        self.told.append(list(partitions))
        positions = {item: self.reading.end_position(item) for item in partitions}
        try:
            self.reading.log.commit(positions, [score(item, b"last") for item in partitions])
        except (FencedError, RetryableError) as error:
            self.failures.append(error)


def joined(world: KafkaWorld, count: int = 4) -> Reading:
    return Reading(world.trace_log()).until_assigned(count)


def polled_in_background(reading: Reading, stop: threading.Event) -> threading.Thread:
    def run() -> None:
        while not stop.is_set():
            reading.once()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.nightly
def test_two_members_share_the_partitions_and_all_is_published_once(
    world: KafkaWorld, tmp_path: Path
) -> None:
    total = 400
    append(world, *(new(number) for number in range(total // 2)))
    first, second = tmp_path / "first.log", tmp_path / "second.log"
    workers = [start_worker(world, first)]
    try:
        wait_for_line(first, "committed")
        workers.append(start_worker(world, second))
        wait_for_line(second, "started")
        deadline = time.monotonic() + PATIENCE
        number = total // 2
        appender = world.appender()
        while number < total or "committed" not in second.read_text():
            assert time.monotonic() < deadline, second.read_text()
            appender.append([new(number)])
            number += 1
        appender.close()
        found = scores(world, number)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert sorted(values(found)) == sorted(new(item).value for item in range(number))


def test_a_member_killed_inside_a_transaction_leaves_nothing_behind(
    world: KafkaWorld, tmp_path: Path
) -> None:
    append(world, *(new(number) for number in range(40)))
    said = tmp_path / "worker.log"
    worker = start_worker(world, said, "--open-transaction")
    wait_for_line(said, "transaction open")
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    topic = world.settings.topics.scores
    assert len(read_all(world.settings.bootstrap_servers, topic, committed_only=False)) == 40
    successor = start_worker(world, said)
    try:
        found = scores(world, 40)
    finally:
        successor.kill()
        successor.wait()
    assert sorted(values(found)) == sorted(new(number).value for number in range(40))


def test_partitions_are_given_away_after_the_last_commit_of_their_owner(world: KafkaWorld) -> None:
    append(world, *(new(number) for number in range(12)))
    first = joined(world).until_records(12)
    listener = Committing(first)
    first.log.set_revocation_listener(listener)
    stop = threading.Event()
    polling = polled_in_background(first, stop)
    second = joined(world, 2)
    stop.set()
    polling.join()
    assert listener.failures == []
    assert listener.told == [[0, 1, 2, 3]]
    for partition, assignment in second.assigned.items():
        assert assignment.position.offsets == first.end_position(partition).offsets
        assert values(assignment.published) == [b"last"]
    # The first has the other two, handed out anew at their committed position.
    assert {state.partition for state in first.last.states}.isdisjoint(second.assigned)
    second.once(1.0)
    assert second.records == []
    first.log.close()
    second.log.close()


def test_a_commit_for_partitions_of_somebody_else_is_fenced(world: KafkaWorld) -> None:
    first = joined(world)
    stop = threading.Event()
    polling = polled_in_background(first, stop)
    second = joined(world, 2)
    stop.set()
    polling.join()
    (theirs, *_) = second.assigned
    with pytest.raises(FencedError):
        first.log.commit({theirs: second.assigned[theirs].position}, [score(theirs, b"stale")])
    first.log.close()
    second.log.close()


def test_a_member_that_slept_too_long_is_fenced_by_the_broker(kafka: Kafka) -> None:
    world = made_world(kafka, max_poll_interval_ms=1500)
    append(world, *(new(number) for number in range(8)))
    sleeper = joined(world).until_records(8)
    time.sleep(2.5)
    successor = joined(world).until_records(8)
    done = {item: successor.end_position(item) for item in range(4)}
    successor.log.commit(done, [score(item, b"good") for item in range(4)])
    # The sleeper still believes that it owns everything.
    with pytest.raises(FencedError):
        sleeper.log.commit(
            {item: sleeper.end_position(item) for item in range(4)},
            [score(item, b"stale") for item in range(4)],
        )
    stop = threading.Event()
    polling = polled_in_background(successor, stop)
    sleeper.until(lambda it: bool(it.last.lost or it.last.revoked))
    stop.set()
    polling.join()
    found = scores(world, 4)
    assert values(found) == [b"good"] * 4
    sleeper.log.close()
    successor.log.close()


def test_after_a_failed_commit_partitions_are_handed_out_anew(world: KafkaWorld) -> None:
    append(world, *(new(number) for number in range(8)))
    reading = joined(world).until_records(8)
    (partition, *_) = {record.partition for record in reading.records}
    too_large = OutputRecord(output=Output.SCORES, partition=partition, value=bytes(17 << 20))
    position = reading.end_position(partition)
    with pytest.raises(PermanentError):
        reading.log.commit({partition: position}, [score(partition, b"gone"), too_large])
    reading.assigned.clear()
    reading.records.clear()
    reading.until_assigned(4).until_records(8)
    assert reading.assigned[partition].position.offsets[Signal.TRACES] == 0
    assert reading.assigned[partition].published == ()
    # It works again at once.
    reading.log.commit({partition: reading.end_position(partition)}, [score(partition, b"s")])
    found = scores(world, 1)
    assert values(found) == [b"s"]
    reading.log.close()


def test_a_record_that_its_topic_does_not_take_stops_nothing(kafka: Kafka) -> None:
    names = KafkaWorld(kafka.bootstrap, f"w{uuid.uuid4().hex[:8]}", 4)
    for topic in (names.settings.topics.dead_letters, names.settings.topics.episodes):
        kafka.create_topic(topic, partitions=4, configuration={"max.message.bytes": 20_000})
    create_topics(names.settings, partitions=4, replication=1)
    append(names, new(1))
    left_out: list[None] = []
    log = KafkaTraceLog(names.settings, hold=3600, on_left_out=lambda: left_out.append(None))
    reading = Reading(log).until_assigned(4).until_records(1)
    partition = reading.records[0].partition
    body = os.urandom(30_000)
    dead = OutputRecord(
        output=Output.DEAD_LETTERS, partition=partition, value=body, headers=(("offset", b"0"),)
    )
    reading.log.commit(
        {partition: reading.end_position(partition)},
        [
            dead,
            score(partition, body, Output.EPISODES),
            score(partition, b"small", Output.EPISODES),
            score(partition, b"s"),
        ],
    )
    reader = names.output_reader(list(Output))
    found = {record.output: record for record in read_outputs(reader, 3)}
    reader.close()
    letter = found[Output.DEAD_LETTERS]
    assert (letter.value, letter.headers) == (b"", (("offset", b"0"), ("omitted-bytes", b"30000")))
    assert found[Output.EPISODES].value == b"small"
    assert found[Output.SCORES].value == b"s"
    assert len(left_out) == 1
    reading.log.close()


@pytest.mark.nightly
def test_a_broker_that_dies_and_comes_back_costs_no_record_and_doubles_none(
    own_kafka: Kafka, tmp_path: Path
) -> None:
    world = made_world(own_kafka)
    append(world, *(new(number) for number in range(100)))
    said = tmp_path / "worker.log"
    worker = start_worker(world, said)
    try:
        wait_for_line(said, "committed")
        own_kafka.kill()
        time.sleep(1.0)
        own_kafka.restart()
        append(world, *(new(number) for number in range(100, 200)))
        found = scores(world, 200)
    finally:
        worker.kill()
        worker.wait()
    assert sorted(values(found)) == sorted(new(number).value for number in range(200))


def test_a_commit_has_a_deadline_when_the_broker_hangs(own_kafka: Kafka) -> None:
    world = made_world(own_kafka)
    world = KafkaWorld(
        own_kafka.bootstrap, world.prefix, 4, {"request_timeout_ms": 2000}, commit_deadline=3.0
    )
    append(world, new(1))
    reading = joined(world).until_records(1)
    partition = reading.records[0].partition
    position = reading.end_position(partition)
    reading.log.commit({partition: position}, [score(partition, b"before")])
    own_kafka.signal(signal.SIGSTOP)
    begun = time.monotonic()
    with pytest.raises(RetryableError):
        reading.log.commit({partition: position}, [score(partition, b"hung")])
    assert time.monotonic() - begun < 20
    own_kafka.signal(signal.SIGCONT)
    reading.assigned.clear()
    reading.until_assigned(4)
    committed = values(reading.assigned[partition].published)
    assert committed in ([b"before"], [b"before", b"hung"])
    found = scores(world, len(committed))
    assert values(found) == committed
    reading.log.close()


@pytest.mark.nightly
def test_a_member_that_is_stuck_outside_its_group_joins_anew(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seekwatch.collector.kafka_log._STUCK_SECONDS", 1.0)
    world = made_world(kafka, max_poll_interval_ms=1000, session_timeout_ms=1000)
    append(world, new(1))
    reading = joined(world).until_records(1)
    log = reading.log
    assert isinstance(log, KafkaTraceLog)
    # As after the library's own fault: no member, no assignment, and no poll brings either.
    log._consumer.unsubscribe()  # pyright: ignore[reportPrivateUsage]
    reading.assigned.clear()
    reading.records.clear()
    lost: set[int] = set()
    deadline = time.monotonic() + PATIENCE
    while len(reading.assigned) < 4:
        assert time.monotonic() < deadline, reading.last
        lost.update(reading.once().lost)
    assert lost == {0, 1, 2, 3}
    reading.until_records(1)
    partition = reading.records[0].partition
    log.commit({partition: reading.end_position(partition)}, [score(partition, b"s")])
    assert values(scores(world, 1)) == [b"s"]
    log.close()


def test_offsets_reset_by_hand_make_the_worker_learn_all_scores(world: KafkaWorld) -> None:
    append(world, new(1))
    reading = joined(world).until_records(1)
    partition = reading.records[0].partition
    end = reading.log.commit({}, [score(partition, b"1")])[partition]
    position = reading.end_position(partition, scores_offset=end)
    reading.log.commit({partition: position}, [score(partition, b"2")])
    reading.log.close()
    reset_offsets(world.settings, partition)
    again = joined(world)
    assert values(again.assigned[partition].published) == [b"1", b"2"]
    assert again.assigned[partition].position.offsets[Signal.TRACES] == 0
    again.log.close()


def test_records_of_every_codec_are_read(kafka: Kafka, world: KafkaWorld) -> None:
    reading = joined(world)
    topic = world.settings.topics.traces
    codecs = ["gzip", "snappy", "lz4", "zstd"]
    for codec in codecs:
        produce(kafka.bootstrap, topic, [(b"k", codec.encode() * 100)], compression=codec)
    reading.until_records(4)
    assert values(reading.records) == [codec.encode() * 100 for codec in codecs]
    reading.log.close()


def test_members_of_one_consumer_share_the_outputs(world: KafkaWorld) -> None:
    reading = joined(world)
    readers = [world.output_reader([Output.SCORES], "archive") for _ in range(2)]
    found: Counter[bytes] = Counter()
    deadline = time.monotonic() + PATIENCE
    published = 0
    shares = [0, 0]
    while not all(shares):
        assert time.monotonic() < deadline, shares
        reading.log.commit({}, [score(item, b"%d-%d" % (published, item)) for item in range(4)])
        reading.once(0.0)
        published += 1
        for index, reader in enumerate(readers):
            records = reader.read(0.6)
            if records and not found.keys() & {record.value for record in records}:
                shares[index] += len(records)
            found.update(record.value for record in records)
    assert all(found.values())
    for reader in readers:
        reader.close()
    reading.log.close()


def test_an_append_larger_than_the_topic_takes_is_permanent_and_harms_no_other(
    world: KafkaWorld,
) -> None:
    appender = world.appender()
    with pytest.raises(PermanentError):
        appender.append([NewRecord(signal=Signal.TRACES, key=b"k", value=bytes(17 << 20))])
    appender.append([new(1)])
    appender.close()
    reading = joined(world).until_records(1)
    assert len(reading.records) == 1
    reading.log.close()


def test_an_append_to_a_broker_that_hangs_is_retryable_and_works_when_it_answers(
    own_kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seekwatch.collector.kafka_append._DELIVERY_MS", 2000)
    world = made_world(own_kafka)
    appender = world.appender()
    appender.append([new(1)])
    own_kafka.signal(signal.SIGSTOP)
    with pytest.raises(RetryableError):
        appender.append([new(2)])
    own_kafka.signal(signal.SIGCONT)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            appender.append([new(3)])
            break
        except RetryableError:
            assert time.monotonic() < deadline
    appender.close()
    reading = joined(world).until_records(2)
    assert {new(1).value, new(3).value} <= set(values(reading.records))
    reading.log.close()


def reset_offsets(settings: KafkaSettings, partition: int) -> None:
    """Do what an operator does with Kafka's own tool: set an offset, without our metadata."""
    client = consumer(settings, group_id=settings.group_id)
    item = TopicPartition(settings.topics.traces, partition)
    client.assign([item])
    client.commit({item: OffsetAndMetadata(0, "", -1)})
    client.close()


def test_a_log_without_a_broker_is_retryable_and_leaves_no_thread_behind() -> None:
    settings = KafkaSettings(bootstrap_servers="127.0.0.1:1", options={"bootstrap_timeout_ms": 300})
    before = threading.active_count()
    for _ in range(2):
        with pytest.raises(RetryableError):
            KafkaTraceLog(settings, hold=3600)
        with pytest.raises(RetryableError):
            KafkaOutputReader(settings, [Output.SCORES])
    assert threading.active_count() == before
