"""What each long-running verb starts, and where it listens.

`seekwatch up` is all of it on the embedded log; in production each is a process of its own.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final

from prometheus_client import CollectorRegistry

from seekwatch.collector.receiver import Receiver
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import Appender
from seekwatch.evidence.source import EvidenceSource
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.metrics_server import MetricsServer, Readiness
from seekwatch.monitor.backoff import patiently
from seekwatch.monitor.settings.model import LogKind, Settings
from seekwatch.monitor.worker.health import Health
from seekwatch.processors.score import SCORER_REVISION

from . import building, evidence_building
from .running import Running

Addresses = dict[str, str]
"""What listens, or is read, where; to be shown to a person."""

_DISTRIBUTION: Final = "seekwatch"


def start_up(settings: Settings) -> tuple[Running, Addresses]:
    """Start receiver, worker, exporters and metrics on the embedded log.

    Raises:
        ConfigurationError: a setting that cannot be used, an address that is taken; what was
            started is ended again.
    """
    process = _Process(settings)
    with process.starting():
        scorer = building.scorer_from(settings)
        log = building.embedded_log(settings)
        process.running.add("log", lambda _deadline: log.close())
        process.addresses["log"] = str(settings.embedded.path)
        health = process.serve_worker_metrics(scorer.policy.revision)
        process.export(lambda outputs, name: log.output_reader(outputs, name))
        worker = building.worker_from(
            settings,
            log.trace_log(),
            process.gateway,
            health,
            scorer=scorer,
            partitions=log.partitions,
            evidence=process.evidence(),
        )
        stop = threading.Event()
        process.running.thread("worker", lambda: worker.run(stop), stop.set)
        process.receive(building.receiver_from(settings, log.appender(), process.gateway))
    return process.running, process.addresses


def start_worker(settings: Settings) -> tuple[Running, Addresses]:
    """Start one member of the Kafka group and its metrics.

    Raises:
        ConfigurationError: as `start_up`.
    """
    from . import kafka_building

    process = _Process(settings)
    with process.starting():
        scorer = building.scorer_from(settings)
        log = patiently(
            lambda: kafka_building.trace_log(
                settings, lambda: process.gateway.dead_letter("episode-too-large")
            )
        )
        process.running.add("log", lambda _deadline: log.close())
        process.addresses["kafka"] = settings.kafka.bootstrap_servers
        health = process.serve_worker_metrics(scorer.policy.revision)
        worker = building.worker_from(
            settings,
            log,
            process.gateway,
            health,
            scorer=scorer,
            partitions=log.partitions,
            evidence=process.evidence(),
        )
        stop = threading.Event()
        process.running.thread("worker", lambda: worker.run(stop), stop.set)
    return process.running, process.addresses


def start_receiver(settings: Settings) -> tuple[Running, Addresses]:
    """Start the OTLP receiver in front of the log that the settings name.

    Raises:
        ConfigurationError: as `start_up`.
    """
    process = _Process(settings)
    with process.starting():
        appender = process.appender()
        process.serve_metrics(Readiness(ready=True))
        process.receive(building.receiver_from(settings, appender, process.gateway))
    return process.running, process.addresses


def start_exporters(settings: Settings) -> tuple[Running, Addresses]:
    """Start the exporters that the settings switch on.

    Raises:
        ConfigurationError: none is switched on; or as `start_up`.
    """
    if settings.archive.directory is None and not settings.evaluation.endpoint:
        raise ConfigurationError(
            "archive.directory or evaluation.endpoint",
            None,
            "nothing to export: --set archive.directory=FOLDER or "
            "--set evaluation.endpoint=https://HOST:4318",
        )
    process = _Process(settings)
    with process.starting():
        process.serve_metrics(Readiness(ready=True))
        process.export(lambda outputs, name: building.output_reader(settings, outputs, name))
    return process.running, process.addresses


class _Process:
    """The parts that a process collects while it starts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.running = Running(settings.worker.shutdown)
        self.gateway = MetricsGateway(CollectorRegistry(), agent_cap=settings.metrics.agent_cap)
        self.addresses: Addresses = {}

    @contextmanager
    def starting(self) -> Generator[None]:
        """Listen to signals, and end what was started when the rest cannot be."""
        self.running.catch_signals()
        try:
            yield
            self.running.started()
        except BaseException:
            self.running.end()
            raise

    def appender(self) -> Appender:
        """Open the log that the settings name for appending."""
        settings = self._settings
        if settings.log is LogKind.KAFKA:
            from . import kafka_building

            appender = patiently(lambda: kafka_building.appender(settings))
            self.running.add("log", lambda _deadline: appender.close())
            self.addresses["kafka"] = settings.kafka.bootstrap_servers
            return appender
        log = building.embedded_log(settings)
        self.running.add("log", lambda _deadline: log.close())
        self.addresses["log"] = str(settings.embedded.path)
        return log.appender()

    def evidence(self) -> list[EvidenceSource]:
        """Start what looks things up outside a trace."""
        sources = evidence_building.sources_from(self._settings, self.gateway)
        for source in sources:
            self.running.add("evidence", _closing(source))
        return sources

    def serve_worker_metrics(self, policy_revision: str) -> Health:
        """Serve metrics with the probes of a worker; return what the worker reports to."""
        self.gateway.build_info(version(_DISTRIBUTION), SCORER_REVISION, policy_revision)
        health = Health(self._settings.worker.stall_after)
        self._serve(health.ready, health.alive)
        return health

    def serve_metrics(self, state: Readiness) -> None:
        """Serve metrics with probes that always say the same."""
        self._serve(lambda: state, lambda: state)

    def _serve(self, ready: Callable[[], Readiness], alive: Callable[[], Readiness]) -> None:
        metrics = self._settings.metrics
        if metrics.port is None:
            return
        server = MetricsServer(
            metrics.host, metrics.port, self.gateway, readiness=ready, health=alive
        )
        server.start()
        self.running.add("metrics", server.stop)
        self.addresses["metrics"] = f"http://{metrics.host}:{server.port}/metrics"

    def export(self, open_reader: building.OpenReader) -> None:
        """Start the exporters."""
        names: list[str] = []
        for consumer in building.consumers_from(self._settings, open_reader, self.gateway):
            self.running.thread(consumer.name, consumer.run, consumer.stop)
            names.append(consumer.name)
        if names:
            self.addresses["exporters"] = ", ".join(names)

    def receive(self, receiver: Receiver) -> None:
        """Start the receiver; the last to come and the first to go."""
        receiver.start()
        self.running.add("receiver", receiver.stop)
        host = self._settings.receiver.host
        if receiver.grpc_port:
            self.addresses["OTLP/gRPC"] = f"{host}:{receiver.grpc_port}"
        if receiver.http_port:
            scheme = "http" if self._settings.receiver.tls_cert is None else "https"
            self.addresses["OTLP/HTTP"] = f"{scheme}://{host}:{receiver.http_port}"


def _closing(source: EvidenceSource) -> Callable[[float], None]:
    return lambda _deadline: source.close()
