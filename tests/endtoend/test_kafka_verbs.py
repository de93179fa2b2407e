"""The verbs of a production installation, each a process of its own around one Kafka."""

import json
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from seekwatch.core.errors import ConfigurationError
from seekwatch.exporters.archive_reader import read_archive
from tests.endtoend.reading import kafka_scores
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
    with MonitorProcess("receive", tmp_path, settings, name="receiver") as process:
        yield process


@pytest.fixture
def worker(
    tmp_path: Path, settings: tuple[str, ...], receiver: MonitorProcess
) -> Iterator[MonitorProcess]:
    with MonitorProcess("worker", tmp_path, settings, name="worker") as process:
        yield process


def _run(*words: str, settings: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    flags = [word for setting in settings for word in ("--set", setting)]
    return subprocess.run(
        seekwatch(*words, *flags), capture_output=True, text=True, check=False, timeout=90
    )


def _topic(settings: tuple[str, ...], name: str) -> str:
    return next(s.partition("=")[2] for s in settings if s.startswith(f"kafka.topics.{name}="))


def _doctor(
    settings: tuple[str, ...], worker: MonitorProcess
) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Return the exit code and the findings by subject."""
    port = f"metrics.port={worker.metrics.rsplit(':', 1)[1]}"
    answer = _run("doctor", "--json", settings=(*settings, port))
    found: dict[str, list[dict[str, str]]] = {}
    for line in answer.stdout.splitlines():
        finding = json.loads(line)
        found.setdefault(finding["subject"], []).append(finding)
    return answer.returncode, found


def test_receive_worker_export_tail_and_doctor_on_one_kafka(
    tmp_path: Path,
    kafka: Kafka,
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

    scores = _topic(settings, "scores")
    eventually(
        lambda: len(kafka_scores(kafka.bootstrap, scores)) == len(sent),
        what="every run is scored",
        timeout=60,
    )
    tail = _run("tail", "--no-follow", "--json", "-n", "99", settings=settings).stdout
    shown = [json.loads(line)["scorecard"]["trace"] for line in tail.splitlines()]
    assert sorted(shown) == sorted(run.trace for run in sent)

    archive = tmp_path / "archive"
    exporting = (*settings, f"archive.directory={archive}")
    with MonitorProcess("export", tmp_path, exporting, name="export") as exporter:
        eventually(
            lambda: len(list(read_archive(archive))) == len(sent),
            what="every run is archived",
            timeout=60,
            forgive=(ConfigurationError,),
        )
        turning = {
            process.service.name: "seekwatch_up 1.0" in process.page()
            for process in (receiver, worker, exporter)
        }
    assert turning == {"receiver": False, "worker": True, "export": False}
    again = subprocess.run(
        seekwatch("score", "--json", str(archive)), capture_output=True, check=True
    )
    assert set(again.stdout.splitlines()) == set(expected_scorecards(sent).values())

    code, found = _doctor(settings, worker)
    assert code == 0, [f for fs in found.values() for f in fs if f["status"] != "ok"]

    def says(subject: str, words: str) -> bool:
        return any(words in finding["what"] for finding in found[subject])

    assert says("kafka", f"{PARTITIONS} partitions each")
    assert says("spans", "agent-0")
    assert says("agent-1", "runs looked at")
    assert says("worker", "ready")

    garbage = [(sent[0].trace.encode(), b"\x0a\xff garbage")]
    produce(kafka.bootstrap, _topic(settings, "traces"), garbage)

    def letters() -> str | None:
        (finding,) = _doctor(settings, worker)[1]["dead letters"]
        return finding["what"] if finding["status"] == "wrong" else None

    what = eventually(letters, what="the doctor finds the dead letter", timeout=60)
    assert "protobuf 1" in what


def test_a_topic_that_forgets_too_early_stops_the_start(
    tmp_path: Path, kafka: Kafka, settings: tuple[str, ...]
) -> None:
    topic = _topic(settings, "traces")
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
