"""The verbs of a production installation, each a process of its own around one Kafka."""

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import create_topic, produce
from tests.services.monitor_process import MonitorProcess, PatientSender, seekwatch
from tests.services.traffic import expected_scorecards, runs
from tests.services.waiting import eventually

PARTITIONS = 3
TOPICS = ("traces", "logs", "scores", "episodes", "dead_letters")


@pytest.fixture
def settings(kafka: Kafka) -> tuple[str, ...]:
    """Settings with topics and a group that no other test uses."""
    prefix = f"verbs-{uuid.uuid4().hex[:8]}"
    return (
        "log=kafka",
        "closing.quiet=1",
        f"kafka.bootstrap_servers={kafka.bootstrap}",
        f"kafka.group_id={prefix}",
        f"kafka.partitions={PARTITIONS}",
        *(f"kafka.topics.{topic}={prefix}.{topic}" for topic in TOPICS),
    )


@pytest.fixture
def receiver(tmp_path: Path, settings: tuple[str, ...]) -> Iterator[MonitorProcess]:
    process = MonitorProcess("receive", tmp_path, settings, name="receiver")
    process.start()
    yield process
    process.stop()


@pytest.fixture
def worker(
    tmp_path: Path, settings: tuple[str, ...], receiver: MonitorProcess
) -> Iterator[MonitorProcess]:
    process = MonitorProcess("worker", tmp_path, settings, name="worker")
    process.start()
    yield process
    process.stop()


def _run(*words: str, settings: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    flags = [word for setting in settings for word in ("--set", setting)]
    return subprocess.run(
        seekwatch(*words, *flags), capture_output=True, text=True, check=False, timeout=90
    )


def test_receive_worker_export_tail_and_doctor_on_one_kafka(
    tmp_path: Path,
    settings: tuple[str, ...],
    receiver: MonitorProcess,
    worker: MonitorProcess,
) -> None:
    sent = runs(12, open_every=99)
    sender = PatientSender(receiver.otlp)
    for run in sent:
        for request in run.requests:
            sender.send(request)
    sender.close()

    def shown() -> list[str]:
        answer = _run("tail", "--no-follow", "--json", "-n", "99", settings=settings)
        return answer.stdout.splitlines()

    eventually(lambda: len(shown()) == len(sent), what="every run is shown", timeout=60)
    assert {json.loads(line)["scorecard"]["trace"] for line in shown()} == {r.trace for r in sent}

    archive = tmp_path / "archive"
    exporter = MonitorProcess(
        "export", tmp_path, (*settings, f"archive.directory={archive}"), name="export"
    )
    exporter.start()

    def archived() -> set[bytes]:
        answer = subprocess.run(
            seekwatch("score", "--json", str(archive)), capture_output=True, check=False
        )
        return set(answer.stdout.splitlines())

    expected = set(expected_scorecards(sent).values())
    eventually(lambda: archived() == expected, what="every run is archived", timeout=60)
    exporter.stop()

    ports = (f"metrics.port={worker.metrics.rsplit(':', 1)[1]}",)
    answer = _run("doctor", "--json", settings=(*settings, *ports))
    findings = [json.loads(line) for line in answer.stdout.splitlines()]
    assert answer.returncode == 0, findings
    said = {(finding["subject"], finding["what"]) for finding in findings}

    def says(subject: str, words: str) -> bool:
        return any(about == subject and words in what for about, what in said)

    assert says("kafka", f"{PARTITIONS} partitions each")
    assert says("spans", "agent-0")
    assert says("agent-1", "runs looked at")
    assert says("worker", "ready")


def test_a_record_that_is_no_otlp_becomes_a_dead_letter_that_the_doctor_finds(
    kafka: Kafka, settings: tuple[str, ...], worker: MonitorProcess
) -> None:
    run = runs(1, open_every=99)[0]
    topic = next(s.partition("=")[2] for s in settings if s.startswith("kafka.topics.traces="))
    key = run.trace.encode()
    produce(kafka.bootstrap, topic, [(key, b"\x0a\xff garbage"), *((key, r) for r in run.requests)])

    def doctor() -> list[dict[str, str]]:
        ports = (f"metrics.port={worker.metrics.rsplit(':', 1)[1]}",)
        answer = _run("doctor", "--json", settings=(*settings, *ports))
        return [json.loads(line) for line in answer.stdout.splitlines()]

    def dead() -> dict[str, str] | None:
        found = {finding["subject"]: finding for finding in doctor()}
        letters = found.get("dead letters")
        scored = run is not None and "agent-0" in found
        return letters if letters and letters["status"] == "wrong" and scored else None

    finding = eventually(dead, what="the doctor finds the dead letter", timeout=60)
    assert "protobuf 1" in finding["what"]


def test_a_topic_that_forgets_too_early_stops_the_start(
    tmp_path: Path, kafka: Kafka, settings: tuple[str, ...]
) -> None:
    topic = next(s.partition("=")[2] for s in settings if s.startswith("kafka.topics.traces="))
    create_topic(
        kafka.bootstrap, topic, partitions=PARTITIONS, configuration={"retention.ms": 3_600_000}
    )
    answer = _run("worker", settings=(*settings, "metrics.port=0"))
    assert answer.returncode == 2
    assert f"retention.ms of topic {topic}" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_without_a_broker_the_start_waits_and_then_says_so(settings: tuple[str, ...]) -> None:
    nowhere = ("kafka.bootstrap_servers=127.0.0.1:1", "kafka.options.bootstrap_timeout_ms=500")
    answer = _run("doctor", "--json", settings=(*settings, *nowhere))
    assert answer.returncode == 1
    assert json.loads(answer.stdout.splitlines()[0])["status"] == "wrong"
