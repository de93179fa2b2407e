"""What one worker costs from real Kafka, as a ratio to bare protobuf decoding of the same bytes.

`python -m benchmarks.pipeline` starts a broker and one `seekwatch worker` and measures, in turns:

* the worker's process (user and system CPU, all threads) from the log to published scorecards, per
  dialect of the load, against `benchmarks.floor` on the same requests right before and after;
* the same way split into stages, in this process on the same broker;
* what larger pages add, what a start costs, and what an idle worker costs that holds the traces.

`docs/performance.md` says what the figures mean.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.floor import decoding_seconds
from benchmarks.load import DIALECTS, SPANS_PER_TRACE, Trace, traces
from benchmarks.rows import Row, argument_parser, median_row, ratios, report
from benchmarks.stages import STAGES, StagedWorker
from benchmarks.worker_process import WorkerProcess
from seekwatch.collector.kafka_append import KafkaAppender
from seekwatch.collector.kafka_client import KafkaSettings, Topics
from seekwatch.collector.kafka_log import KafkaTraceLog
from seekwatch.collector.kafka_topics import create_topics
from seekwatch.core.records import Appender, NewRecord, Signal, TraceLog
from tests.services.kafka_broker import Kafka

LARGE_PAGE_BYTES: Final = 40_000
_PARTITIONS: Final = 4
_CHUNK: Final = 100
"""Traces of one append."""
_HOLD: Final = 3 * 3600.0
_IDLE_SECONDS: Final = 4.0
_MILLION: Final = 1_000_000


class Sample(NamedTuple):
    """CPU seconds of one batch, and those of decoding its bytes."""

    cost: float
    floor: float


def append(appender: Appender, load: Sequence[Trace]) -> None:
    """Write a load to the log, a record a trace."""
    for at in range(0, len(load), _CHUNK):
        appender.append(
            [
                NewRecord(signal=Signal.TRACES, key=each.trace.encode(), value=each.request)
                for each in load[at : at + _CHUNK]
            ]
        )


def beside_the_floor(load: Sequence[Trace], work: Callable[[], float]) -> Sample:
    """Do `work`, which returns its CPU seconds, between two decodings of the same bytes."""
    requests = [each.request for each in load]
    before = decoding_seconds(requests)
    cost = work()
    return Sample(cost, statistics.fmean((before, decoding_seconds(requests))))


def worker_rows(settings: KafkaSettings, directory: Path, *, rounds: int, count: int) -> list[Row]:
    """Measure a worker in a process of its own."""
    worker = WorkerProcess(settings, directory)
    appender = KafkaAppender(settings)
    samples: dict[str, list[Sample]] = {dialect: [] for dialect in DIALECTS}
    worker.start()
    try:
        first = traces(1, dialect=DIALECTS[0], seed="first")
        append(appender, first)
        worker.wait_for_scorecards([first[0].trace])
        start = worker.cpu_seconds()
        for number in range(1 + rounds):
            for dialect in DIALECTS:
                load = traces(count, dialect=dialect, seed=f"worker-{number}")
                sample = beside_the_floor(load, lambda: _scored(worker, appender, load))  # noqa: B023
                if number:
                    samples[dialect].append(sample)
        held = (1 + rounds) * len(DIALECTS) * count
        idle = _idle_share(worker)
    finally:
        worker.stop()
        appender.close()
    rows = [row for dialect in DIALECTS for row in _cost_rows(dialect, samples[dialect], count)]
    rows.append(_single(f"idle worker that holds {held} closed traces", idle, "CPU share"))
    rows.append(_single("start of a worker until its first scorecard", start, "CPU s"))
    return rows


def _scored(worker: WorkerProcess, appender: Appender, load: Sequence[Trace]) -> float:
    with worker.paused():
        append(appender, load)
        before = worker.cpu_seconds()
    worker.wait_for_scorecards([each.trace for each in load])
    return worker.cpu_seconds() - before


def _idle_share(worker: WorkerProcess) -> float:
    before, began = worker.cpu_seconds(), time.monotonic()
    time.sleep(_IDLE_SECONDS)
    return (worker.cpu_seconds() - before) / (time.monotonic() - began)


def _cost_rows(dialect: str, samples: Sequence[Sample], count: int) -> Iterable[Row]:
    per_million = _MILLION / (count * SPANS_PER_TRACE)
    floor = statistics.median(sample.floor for sample in samples) * per_million
    yield median_row(
        f"worker from Kafka, {dialect}: CPU per million spans",
        [sample.cost * per_million for sample in samples],
        unit="s",
        better="lower",
        baseline=floor,
    )
    yield median_row(
        f"worker from Kafka, {dialect} / bare decoding",
        ratios([sample.cost for sample in samples], [sample.floor for sample in samples]),
        unit="ratio",
        better="lower",
        baseline=1.0,
    )


def stage_rows(log: TraceLog, appender: Appender, *, rounds: int, count: int) -> list[Row]:
    """Measure the stages in this process, and what larger pages add to two of them."""
    worker = StagedWorker(log)
    variants = {**dict.fromkeys(DIALECTS, 2_500), "large pages": LARGE_PAGE_BYTES}
    spent: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
    for number in range(1 + rounds):
        for name, page_bytes in variants.items():
            dialect = name if name in DIALECTS else DIALECTS[0]
            load = traces(
                count, dialect=dialect, seed=f"stages-{name}-{number}", page_bytes=page_bytes
            )
            append(appender, load)
            floor = decoding_seconds(each.request for each in load)
            stages = dict(worker.score(count))
            if number:
                spent[name].append({**stages, "floor": floor})
    rows = [
        _ratio(
            f"stage {stage}, {dialect} / bare decoding",
            [sample[stage] for sample in spent[dialect]],
            [sample["floor"] for sample in spent[dialect]],
        )
        for dialect in DIALECTS
        for stage in STAGES
    ]
    rows.append(
        _ratio(
            f"pages of {LARGE_PAGE_BYTES // 1000} KB / of 2.5 KB, normalise and score",
            *(
                [sample["normalise"] + sample["score"] for sample in spent[name]]
                for name in ("large pages", DIALECTS[0])
            ),
        )
    )
    return rows


def _ratio(name: str, above: Sequence[float], below: Sequence[float]) -> Row:
    return median_row(name, ratios(above, below), unit="ratio", better="lower")


def _single(name: str, value: float, unit: str) -> Row:
    return Row(name=name, value=value, unit=unit, better="lower", n=1)


def settings_for(bootstrap: str, group: str) -> KafkaSettings:
    """Return a group with topics of its own."""
    topics = Topics(**{part.name: f"{group}.{part.name}" for part in fields(Topics)})
    return KafkaSettings(bootstrap_servers=bootstrap, group_id=group, topics=topics)


def measure(
    bootstrap: str, directory: Path, *, rounds: int, count: int, group: str = "benchmark"
) -> list[Row]:
    """Measure everything.

    Args:
        bootstrap: a broker that has no topics under this group's name.
        directory: for the worker's log.
        rounds: samples of each.
        count: traces in a sample; half as many where stages are told apart.
        group: begins the names of groups and topics.
    """
    own, staged = (settings_for(bootstrap, f"{group}-{part}") for part in ("worker", "stages"))
    for settings in (own, staged):
        create_topics(settings, partitions=_PARTITIONS, replication=1)
    rows = worker_rows(own, directory, rounds=rounds, count=count)
    log, appender = KafkaTraceLog(staged, hold=_HOLD), KafkaAppender(staged)
    try:
        return rows + stage_rows(log, appender, rounds=rounds, count=max(1, count // 2))
    finally:
        log.close()
        appender.close()


def main() -> int:
    """Measure and report."""
    parser = argument_parser("CPU cost of a worker beside bare protobuf decoding")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each (default 5)")
    parser.add_argument(
        "--traces", type=int, default=400, help="traces in a sample (default 400: 4,400 spans)"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seekwatch-benchmark-") as name, Kafka() as broker:
        rows = measure(
            broker.bootstrap, Path(name), rounds=arguments.rounds, count=arguments.traces
        )
    return report(rows, arguments)


if __name__ == "__main__":
    sys.exit(main())
