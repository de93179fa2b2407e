"""Exporters on a real log deliver everything once, however often they are killed."""

import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core.records import Output, OutputRecord
from seekwatch.core.topics import pack_episodes, pack_scores
from seekwatch.exporters.archive_files import segments
from seekwatch.exporters.archive_reader import read_archive, read_lines
from seekwatch.exporters.consumer import Consumer
from seekwatch.exporters.evaluation import EVALUATION_ID, EvaluationSink
from seekwatch.exporters.otlp_logs import logs_transport
from tests.services.otlp_log_sink import HttpLogSink
from tests.services.scorecards import archive_entry, score_entry, trace_id_of
from tests.services.waiting import eventually

RUNS = 400
PER_COMMIT = 4

_EXPORTER = """
import sys
from pathlib import Path
from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core.records import Output
from seekwatch.exporters.archive import ArchiveWriter
from seekwatch.exporters.consumer import Consumer

log = EmbeddedLog(sys.argv[1])
writer = ArchiveWriter(Path(sys.argv[2]), segment_bytes=20_000, keep_days=0)
consumer = Consumer("archive", log.output_reader((Output.EPISODES,), "archive"), writer)
print("running", flush=True)
quiet = 0
while quiet < 3:
    quiet = quiet + 1 if consumer.step(0.05) == 0 else 0
"""


def publish(log: EmbeddedLog, *, pause: float = 0.0) -> None:
    """Publish all runs as a worker would, a few a commit."""
    trace_log = log.trace_log()
    trace_log.read(0)
    for first in range(0, RUNS, PER_COMMIT):
        numbers = range(first, first + PER_COMMIT)
        partition = first % log.partitions
        records = [
            OutputRecord(output=output, partition=partition, value=value)
            for output, values in (
                (Output.SCORES, pack_scores(score_entry(number) for number in numbers)),
                (Output.EPISODES, pack_episodes(archive_entry(number) for number in numbers)),
            )
            for value in values
        ]
        trace_log.commit({}, records)
        time.sleep(pause)
    trace_log.close()


def test_an_archive_exporter_that_is_killed_again_and_again_keeps_every_run_once(
    tmp_path: Path,
) -> None:
    log = EmbeddedLog(tmp_path / "log.db")
    publisher = threading.Thread(target=publish, args=(log,), kwargs={"pause": 0.02})
    publisher.start()
    command = [sys.executable, "-c", _EXPORTER, str(log.path), str(tmp_path / "archive")]
    chance = random.Random(5)
    for _ in range(6):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as exporter:
            assert exporter.stdout is not None
            assert exporter.stdout.readline() == "running\n"
            time.sleep(chance.uniform(0.01, 0.2))
            exporter.send_signal(signal.SIGKILL)
    publisher.join()
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    log.close()
    every = sorted(trace_id_of(number) for number in range(RUNS))
    assert sorted(entry.episode.trace for entry in read_archive(tmp_path / "archive")) == every
    lines = [line for file in segments(tmp_path / "archive") for line in read_lines(file.path)]
    assert len(lines) == RUNS
    assert sum(file.sealed for file in segments(tmp_path / "archive")) > 1


def test_evaluation_events_of_every_run_arrive_though_the_backend_stumbles(
    tmp_path: Path,
) -> None:
    log = EmbeddedLog(tmp_path / "log.db")
    publish(log)
    with HttpLogSink() as backend:
        backend.answers = [(503, {}), (200, {}), (429, {"Retry-After": "0"})]
        consumer = Consumer(
            "evaluation",
            log.output_reader((Output.SCORES,), "evaluation"),
            EvaluationSink(logs_transport(backend.url)),
            first_pause=0.01,
        )
        thread = threading.Thread(target=consumer.run)
        thread.start()
        eventually(lambda: len(backend.records) >= 5 * RUNS, what="all events have come")
        assert consumer.stop()
        thread.join()
        ids = {attributes[EVALUATION_ID] for attributes in backend.attributes}
    log.close()
    assert len(ids) == 5 * RUNS
    assert consumer.counts.delivered == RUNS // PER_COMMIT
