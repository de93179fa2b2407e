"""The harness's own promises about the Collector."""

import hashlib
from pathlib import Path

import pytest

from tests.services import otelcol
from tests.services.otelcol import Collector
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import ServiceDiedError


def test_a_second_look_builds_nothing(otelcol_binary: Path) -> None:
    made = otelcol_binary.stat().st_mtime_ns
    assert otelcol.otelcol_binary() == otelcol_binary
    assert otelcol_binary.stat().st_mtime_ns == made


def test_it_is_healthy_while_kafka_is_away(otelcol_binary: Path, tmp_path: Path) -> None:
    (nobody,) = free_ports(1)
    with Collector(otelcol_binary, directory=tmp_path, brokers=f"{LOOPBACK}:{nobody}") as collector:
        assert collector.metric("otelcol_process_uptime") >= 0
        assert collector.metric("otelcol_no_such_metric") == 0


def test_a_collector_that_cannot_start_shows_its_log(otelcol_binary: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("receivers: {nonesuch: {}}\n")
    collector = Collector(otelcol_binary, directory=tmp_path, brokers="", configuration=broken)
    with pytest.raises(ServiceDiedError, match="nonesuch"):
        collector.start()


@pytest.mark.nightly
def test_the_same_sources_give_the_same_bytes(
    otelcol_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKWATCH_TEST_CACHE", str(tmp_path))
    again = otelcol.otelcol_binary()
    assert again != otelcol_binary
    assert digest(again) == digest(otelcol_binary)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
