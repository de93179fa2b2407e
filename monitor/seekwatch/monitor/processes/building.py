"""Builds parts from settings: the one place that knows both the settings and the parts."""

from collections.abc import Callable, Sequence
from pathlib import Path

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.collector.partitioner import partition_of
from seekwatch.collector.receiver import Receiver
from seekwatch.collector.receiver import ReceiverSettings as ReceiverConfig
from seekwatch.collector.receiver_metrics import RequestResult, SpanResult, Transport
from seekwatch.collector.receiver_tls import Tls
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.policy import Policy, load_policy
from seekwatch.core.records import Appender, Output, OutputReader, TraceLog
from seekwatch.evidence.source import EvidenceSource
from seekwatch.evidence.truth import load_truth
from seekwatch.exporters.archive import ArchiveWriter
from seekwatch.exporters.consumer import Consumer, Sink
from seekwatch.exporters.evaluation import EvaluationSink
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.otlp_logs import logs_transport
from seekwatch.monitor.backoff import patiently
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer
from seekwatch.monitor.settings.model import LogKind, Settings
from seekwatch.monitor.worker.agent_memory import AgentMemory
from seekwatch.monitor.worker.health import Health
from seekwatch.monitor.worker.loop import Worker
from seekwatch.monitor.worker.observation import Observation
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.record_decoder import OwnsTrace

OpenReader = Callable[[Sequence[Output], str], OutputReader]
"""Makes a consumer's reader of some topics under a name."""


def closing_rules(settings: Settings) -> ClosingRules:
    """Return the rules by which traces close."""
    closing = settings.closing
    return ClosingRules(
        quiet=closing.quiet,
        idle=closing.idle,
        max_age=closing.max_age,
        late_window=closing.late_window,
        remember=closing.remember,
        span_cap=closing.span_cap,
        byte_cap=closing.byte_cap,
    )


def policy_from(settings: Settings) -> Policy:
    """Return the policy, checked.

    Raises:
        ConfigurationError: the file holds a wrong key or value.
    """
    return Policy() if settings.policy is None else load_policy(settings.policy)


def scorer_from(settings: Settings) -> EpisodeScorer:
    """Return what scores.

    Raises:
        ConfigurationError: policy or truth cannot be used.
    """
    return EpisodeScorer(
        policy_from(settings),
        truth=None if settings.truth is None else load_truth(settings.truth),
        keep_episodes=settings.worker.publish_episodes,
    )


def embedded_log(settings: Settings) -> EmbeddedLog:
    """Open the embedded log, making its file when it is missing."""
    embedded = settings.embedded
    if embedded.path.is_dir():
        raise ConfigurationError(
            "embedded.path", str(embedded.path), "is a directory; name a file in it"
        )
    made = not embedded.path.exists()
    return EmbeddedLog(
        embedded.path,
        # An existing file keeps its own number; asking for another would stop the start.
        partitions=embedded.partitions if made else None,
        max_bytes=embedded.max_bytes,
        retention=embedded.retention,
    )


def existing_log(settings: Settings) -> EmbeddedLog:
    """Open the embedded log for looking on.

    Raises:
        ConfigurationError: there is no such file.
    """
    path = settings.embedded.path
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        what = "is empty" if path.exists() else "no such file"
        raise ConfigurationError(
            "embedded.path",
            str(path),
            f"{what} in {path.absolute().parent}; start `seekwatch up` there, or name by --data "
            "the log of the one that runs: seekwatch.db in the folder that it was started in",
        )
    return embedded_log(settings)


def output_reader(
    settings: Settings,
    outputs: Sequence[Output] = (Output.SCORES,),
    consumer: str | None = None,
) -> OutputReader:
    """Return a consumer of output topics on the log that the settings name.

    Args:
        settings: everything.
        outputs: the topics to read.
        consumer: the name under which the position is kept; None reads all and keeps none.
    """
    if settings.log is LogKind.KAFKA:
        # Imported where it is needed: the library takes a third of a second to load.
        from . import kafka_building

        return patiently(lambda: kafka_building.output_reader(settings, outputs, consumer))
    return existing_log(settings).output_reader(outputs, consumer)


def receiver_from(
    settings: Settings,
    appender: Appender,
    gateway: MetricsGateway,
    is_ready: Callable[[], bool] | None = None,
) -> Receiver:
    """Return the OTLP receiver, not yet started."""
    receiver = settings.receiver
    tls = None
    if receiver.tls_cert is not None and receiver.tls_key is not None:
        authority = receiver.tls_client_ca
        tls = Tls(
            certificate=str(receiver.tls_cert),
            key=str(receiver.tls_key),
            client_ca=None if authority is None else str(authority),
        )
    config = ReceiverConfig(
        host=receiver.host,
        grpc_port=receiver.grpc_port,
        http_port=receiver.http_port,
        tls=tls,
        token=None if receiver.token is None else receiver.token.get_secret_value(),
        max_request_bytes=receiver.max_request_bytes,
    )
    return Receiver(appender, config, metrics=_ReceiverCounts(gateway), is_ready=is_ready)


def worker_from(
    settings: Settings,
    log: TraceLog,
    gateway: MetricsGateway,
    health: Health,
    *,
    scorer: EpisodeScorer,
    partitions: int,
    evidence: Sequence[EvidenceSource] = (),
) -> Worker:
    """Return a worker on `log`.

    Args:
        settings: everything.
        log: the worker closes it.
        gateway: owns the metrics.
        health: what probes are told.
        scorer: what scores.
        partitions: of the log, to find records on a wrong one.
        evidence: who looks things up outside the trace.
    """
    return Worker(
        log,
        scorer,
        settings=settings.worker,
        rules=closing_rules(settings),
        memory=settings.closing.memory,
        observation=Observation(gateway, health, memory=AgentMemory(_agents(settings), gateway)),
        health=health,
        evidence=evidence,
        owns=lambda partition: _owner(partition, partitions),
    )


def _agents(settings: Settings) -> Path | None:
    """Return the file of known agents: beside the embedded log when none is named."""
    named = settings.metrics.known_agents
    if named is None and settings.log is LogKind.EMBEDDED:
        path = settings.embedded.path
        return path.with_name(f"{path.name}.agents.json")
    return named


def consumers_from(
    settings: Settings, open_reader: OpenReader, gateway: MetricsGateway
) -> list[Consumer]:
    """Return the exporters that are switched on, not yet running."""
    consumers: list[Consumer] = []

    def add(name: str, output: Output, sink: Sink) -> None:
        reader = open_reader((output,), name)
        consumers.append(Consumer(name, reader, sink, count=gateway.exported))

    archive = settings.archive
    if archive.directory is not None:
        writer = ArchiveWriter(
            archive.directory, keep_days=archive.keep_days, keep_bytes=archive.keep_bytes
        )
        add("archive", Output.EPISODES, writer)
    evaluation = settings.evaluation
    if evaluation.endpoint:
        headers = {name: value.get_secret_value() for name, value in evaluation.headers.items()}
        transport = logs_transport(
            evaluation.endpoint, headers=headers, certificate=evaluation.certificate
        )
        add("evaluation", Output.SCORES, EvaluationSink(transport))
    return consumers


def _owner(partition: int, partitions: int) -> OwnsTrace:
    def owns(trace: bytes) -> bool:
        return partition_of(trace.hex().encode(), partitions) == partition

    return owns


class _ReceiverCounts:
    """The receiver's metrics, through the gateway."""

    def __init__(self, gateway: MetricsGateway) -> None:
        self._gateway = gateway

    def request(self, signal: str, transport: Transport, result: RequestResult) -> None:
        self._gateway.received(signal, str(transport), str(result))

    def spans(self, result: SpanResult, count: int) -> None:
        self._gateway.received_spans(str(result), count)
