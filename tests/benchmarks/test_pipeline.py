"""A short run of the pipeline benchmark on a real broker: every row is there, whatever it says."""

from pathlib import Path

from benchmarks.load import DIALECTS
from benchmarks.pipeline import measure
from benchmarks.stages import STAGES
from tests.services.kafka_broker import Kafka


def test_a_short_run_gives_every_row(kafka: Kafka, tmp_path: Path) -> None:
    rows = measure(kafka.bootstrap, tmp_path, rounds=1, count=6, group="benchmark-test")
    names = [row.name for row in rows]
    assert len(names) == len(set(names))
    for dialect in DIALECTS:
        assert f"worker from Kafka, {dialect} / bare decoding" in names
        assert all(f"stage {stage}, {dialect} / bare decoding" in names for stage in STAGES)
    assert all(row.value is not None and row.value >= 0 for row in rows)
    assert all(row.holds is None for row in rows)
