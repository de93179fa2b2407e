"""The same traffic has the same scorecards, byte for byte, whatever way it comes.

The traffic: our own SDK's runs, and what many instrumentors of other people really sent.
"""

import contextlib
import json
import subprocess
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import msgspec
import pytest

from seekwatch.core.records import Signal
from seekwatch.core.scorecard import ScoreEntry, encode_line
from tests.endtoend.reading import embedded_scores, kafka_scores
from tests.services.kafka_broker import Kafka
from tests.services.monitor_process import MonitorProcess, PatientSender, seekwatch, start_together
from tests.services.span_zoo import cases
from tests.services.traffic import runs
from tests.services.waiting import NotInTimeError, eventually

CLOSING = ("closing.quiet=2", "closing.idle=4", "closing.late_window=2")
Requests = list[tuple[Signal, bytes]]


@pytest.fixture(scope="module")
def own() -> Requests:
    """Requests of our SDK."""
    return [(Signal.TRACES, request) for run in runs(20) for request in run.requests]


@pytest.fixture(scope="module")
def foreign() -> Requests:
    """Requests of other people's instrumentors, as protobuf."""
    return [request for case in cases() for request in case.requests("binpb")]


@pytest.fixture(scope="module")
def offline(own: Requests, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Scorecards of `seekwatch score` by trace: ours from protobuf, the others' from JSON Lines."""
    directory = tmp_path_factory.mktemp("recorded")
    framed, lines = directory / "own.binpb", directory / "foreign.jsonl"
    framed.write_bytes(b"".join(len(v).to_bytes(4, "big") + v for _, v in own))
    documents = [value for case in cases() for _, value in case.requests("json")]
    lines.write_text("\n".join(json.dumps(json.loads(value)) for value in documents))
    command = seekwatch("score", "--json", str(framed), str(lines))
    answer = subprocess.run(command, capture_output=True, check=True, timeout=120)
    return {_trace(line): line for line in answer.stdout.splitlines()}


def _trace(line: bytes) -> str:
    return str(msgspec.json.decode(line)["trace"])


def _send(endpoint: str, requests: Requests) -> None:
    sender = PatientSender(endpoint)
    for signal, value in requests:
        if signal is Signal.TRACES:
            sender.send(value)
        else:
            answer = httpx.post(
                f"{endpoint}/v1/logs",
                content=value,
                headers={"content-type": "application/x-protobuf"},
                trust_env=False,
            )
            assert answer.is_success
    sender.close()


def _current(entries: Sequence[ScoreEntry]) -> dict[str, bytes]:
    return {entry.scorecard.trace: encode_line(entry.scorecard) for entry in entries}


def _all_of(
    offline: dict[str, bytes], read: Callable[[], Sequence[ScoreEntry]]
) -> dict[str, bytes]:
    """Return what is published once it is all, late spans included, or what it was at the end."""
    with contextlib.suppress(NotInTimeError):
        eventually(lambda: _current(read()) == offline, what="the same", timeout=60)
    return _current(read())


def test_a_file_and_the_embedded_log(
    tmp_path: Path, own: Requests, foreign: Requests, offline: dict[str, bytes]
) -> None:
    with MonitorProcess("up", tmp_path, CLOSING) as monitor:
        _send(monitor.otlp, own + foreign)
        live = _all_of(offline, lambda: embedded_scores(tmp_path / "seekwatch.db"))
    assert live == offline


def test_a_file_and_kafka(
    tmp_path: Path,
    kafka: Kafka,
    own: Requests,
    foreign: Requests,
    offline: dict[str, bytes],
) -> None:
    prefix = f"same-{uuid.uuid4().hex[:8]}"
    topics = ("traces", "logs", "scores", "episodes", "dead_letters")
    settings = (
        *CLOSING,
        "log=kafka",
        f"kafka.bootstrap_servers={kafka.bootstrap}",
        f"kafka.group_id={prefix}",
        "kafka.partitions=4",
        *(f"kafka.topics.{topic}={prefix}.{topic}" for topic in topics),
    )
    receiver, worker = (
        MonitorProcess(verb, tmp_path, settings, name=verb) for verb in ("receive", "worker")
    )
    start_together(receiver, worker)
    _send(receiver.otlp, own + foreign)
    live = _all_of(offline, lambda: kafka_scores(kafka.bootstrap, f"{prefix}.scores"))
    receiver.stop()
    worker.stop()
    assert live == offline
