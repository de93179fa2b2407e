"""Two workers of one group, one ends in the middle of a load: the other takes over.

The runs come in several records, some are never finished, some records come twice.
"""

import random
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest

from seekwatch.core.scorecard import encode_line
from tests.endtoend.reading import kafka_scores, twice
from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import produce
from tests.services.monitor_process import MonitorProcess, start_together
from tests.services.traffic import Run, expected_scorecards, runs
from tests.services.waiting import eventually

PARTITIONS = 4
PACE = 0.4
"""Seconds between two batches: so slow that the load lasts over the end of a worker."""
TOPICS = ("traces", "logs", "scores", "episodes", "dead_letters")


def _mixed(sent: Sequence[Run]) -> list[tuple[bytes, bytes]]:
    """Return records of all runs, ten runs at a time mixed; every ninth record comes twice."""
    chance = random.Random(11)
    records: list[tuple[bytes, bytes]] = []
    for at in range(0, len(sent), 10):
        queues = [[(r.trace.encode(), v) for v in r.requests] for r in sent[at : at + 10]]
        while queues:
            record = chance.choice(queues).pop(0)
            records += [record, record] if len(records) % 9 == 0 else [record]
            queues = [left for left in queues if left]
    return records


def _load(bootstrap: str, topic: str, records: list[tuple[bytes, bytes]]) -> None:
    for at in range(0, len(records), 12):
        produce(bootstrap, topic, records[at : at + 12])
        time.sleep(PACE)


@pytest.mark.parametrize(
    ("end", "count"),
    [
        ("kill -9", 80),
        pytest.param("SIGTERM", 80, marks=pytest.mark.nightly),
        pytest.param("kill -9", 400, marks=pytest.mark.nightly),
    ],
)
def test_each_run_has_one_scorecard_when_a_worker_ends(
    tmp_path: Path, kafka: Kafka, end: str, count: int
) -> None:
    prefix = f"kill-{uuid.uuid4().hex[:8]}"
    settings = (
        "closing.quiet=2",
        "closing.idle=5",
        "closing.late_window=3",
        "worker.commit_interval=0.2",
        "log=kafka",
        f"kafka.bootstrap_servers={kafka.bootstrap}",
        f"kafka.group_id={prefix}",
        f"kafka.partitions={PARTITIONS}",
        "kafka.options.session_timeout_ms=6000",
        "kafka.options.heartbeat_interval_ms=1000",
        *(f"kafka.topics.{topic}={prefix}.{topic}" for topic in TOPICS),
    )
    workers = [
        MonitorProcess("worker", tmp_path, (*settings, f"kafka.member={name}"), name=name)
        for name in ("first", "second")
    ]
    start_together(*workers)
    sent = runs(count)
    load = threading.Thread(
        target=_load, args=(kafka.bootstrap, f"{prefix}.traces", _mixed(sent)), daemon=True
    )
    load.start()
    eventually(
        lambda: len(kafka_scores(kafka.bootstrap, f"{prefix}.scores")) >= count // 4,
        what="a quarter is scored",
        timeout=60,
    )
    assert load.is_alive()
    if end == "kill -9":
        workers[0].kill()
    else:
        workers[0].stop()
    load.join(120)
    assert not load.is_alive()
    eventually(
        lambda: (
            {e.scorecard.trace for e in kafka_scores(kafka.bootstrap, f"{prefix}.scores")}
            == {run.trace for run in sent}
        ),
        what="every run is scored",
        timeout=120,
    )
    workers[1].stop()
    entries = kafka_scores(kafka.bootstrap, f"{prefix}.scores")
    assert not twice(entries)
    current = {e.scorecard.trace: encode_line(e.scorecard) for e in entries}
    assert current == expected_scorecards(sent)
    assert sum(e.envelope.revision == 1 for e in entries) == count
