"""The real OpenTelemetry Collector on loopback, built from what `otelcol_sources/` pins.

It is built with exactly the components that `collector/otelcol.yaml` names, so that a component
that the file needs and a user's distribution may lack shows here.
"""

import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from tests.services.cache import cached
from tests.services.plain_http import answers, get
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service
from tests.services.unavailable import UnavailableError

SOURCES = Path(__file__).parent / "otelcol_sources"
CONFIGURATION = Path(__file__).resolve().parents[2] / "collector" / "otelcol.yaml"

_KINDS = ("receivers", "processors", "exporters", "extensions", "connectors")


class _Component(msgspec.Struct):
    name: str


def otelcol_binary() -> Path:
    """Return the Collector, building it when the cache has none of these sources and this Go.

    The first build takes some four minutes on two idle cores; Go's own caches make the next quick.

    Raises:
        UnavailableError: there is no Go, or the build failed.
    """
    go = shutil.which("go")
    if go is None:
        raise UnavailableError("the Collector is built by Go 1.25 or newer, and there is no `go`")
    version = subprocess.run(
        [go, "env", "GOVERSION"], cwd=SOURCES, capture_output=True, text=True, check=True
    ).stdout.strip()
    digest = hashlib.sha256(version.encode())
    for path in sorted([*SOURCES.glob("*.go"), SOURCES / "go.mod", SOURCES / "go.sum"]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return cached(f"otelcol-{digest.hexdigest()[:12]}", lambda part: _build(go, part))


def components(binary: Path) -> dict[str, set[str]]:
    """Return what a Collector was built with, by kind (`receivers`, ...)."""
    listed = msgspec.yaml.decode(_run(binary, "components").stdout, type=dict[str, Any])
    lists = {kind: msgspec.convert(listed[kind] or [], list[_Component]) for kind in _KINDS}
    return {kind: {component.name for component in built} for kind, built in lists.items()}


def named_components(configuration: Path = CONFIGURATION) -> dict[str, set[str]]:
    """Return what a configuration names, by kind."""
    written = msgspec.yaml.decode(configuration.read_bytes(), type=dict[str, dict[str, Any] | None])
    return {kind: {name.partition("/")[0] for name in written.get(kind) or {}} for kind in _KINDS}


def validate(binary: Path, *configurations: Path) -> subprocess.CompletedProcess[str]:
    """Run `validate` on files merged in order; the caller judges the exit status and message."""
    arguments = [word for path in configurations for word in ("--config", str(path))]
    return _run(binary, "validate", *arguments)


class Collector:
    """A Collector on loopback; a context manager.

    Args:
        binary: from the fixture `otelcol_binary`.
        directory: gets the queue and the log; kept at the end, so that a test can look.
        brokers: Kafka's bootstrap addresses.
        traces_topic: topic for spans; it must exist.
        logs_topic: topic for log records; it must exist.
        environment: further variables that `otelcol.yaml` reads.
        overlays: further `--config` arguments, merged over the file (`yaml:` texts or files).
        configuration: another file instead of `collector/otelcol.yaml`.
    """

    def __init__(
        self,
        binary: Path,
        *,
        directory: Path,
        brokers: str,
        traces_topic: str = "otlp.traces",
        logs_topic: str = "otlp.logs",
        environment: Mapping[str, str] | None = None,
        overlays: Sequence[str] = (),
        configuration: Path = CONFIGURATION,
    ) -> None:
        grpc, http, health, metrics, agents = free_ports(5)
        self.grpc = f"{LOOPBACK}:{grpc}"
        self.http = f"http://{LOOPBACK}:{http}"
        self.agent_metrics = f"{LOOPBACK}:{agents}"
        self._health = f"http://{LOOPBACK}:{health}/"
        self._metrics = f"http://{LOOPBACK}:{metrics}/metrics"
        command: list[str | Path] = [binary, "--config", configuration]
        for overlay in overlays:
            command += ["--config", overlay]
        self._service = Service(
            "otelcol",
            command,
            directory=directory,
            environment={
                "OTELCOL_GRPC": self.grpc,
                "OTELCOL_HTTP": f"{LOOPBACK}:{http}",
                "OTELCOL_HEALTH": f"{LOOPBACK}:{health}",
                "OTELCOL_METRICS_PORT": str(metrics),
                "OTELCOL_AGENT_METRICS": self.agent_metrics,
                "OTELCOL_QUEUE_DIRECTORY": str(directory / "queue"),
                "KAFKA_BROKERS": brokers,
                "KAFKA_TRACES_TOPIC": traces_topic,
                "KAFKA_LOGS_TOPIC": logs_topic,
                **(environment or {}),
            },
        )

    @property
    def log(self) -> Path:
        """The Collector's own log, JSON lines."""
        return self._service.log

    def metric(self, name: str) -> float:
        """Return the sum over all series of one of its own metrics; 0 when there is none."""
        total = 0.0
        for line in get(self._metrics).decode().splitlines():
            series, _, value = line.rpartition(" ")
            if series.partition("{")[0] in (name, f"{name}_total"):
                total += float(value)
        return total

    def start(self) -> Self:
        """Start and wait until it is healthy (which says nothing about Kafka)."""
        self._service.start()
        self._service.wait_ready(lambda: answers(self._health))
        return self

    def kill(self) -> None:
        """End it as a crash would."""
        self._service.kill()

    def stop(self) -> None:
        """End it cleanly; what could not be delivered stays in the queue on disk."""
        self._service.stop()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._service.signal(number)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.kill()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()


def _build(go: str, part: Path) -> None:
    command = [go, "build", "-trimpath", "-mod=readonly", "-ldflags=-s -w -buildid="]
    result = subprocess.run(
        [*command, "-o", str(part), "."],
        cwd=SOURCES,
        # Static, and so the same bytes from the same sources and Go on any machine.
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise UnavailableError(f"the Collector could not be built:\n{result.stderr[-2000:]}")


def _run(binary: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(binary), *arguments], capture_output=True, text=True, check=False)
