"""Every setting of the monitor, as one typed model: the only place with names, units and defaults.

A setting says its unit and what zero (or empty) means in its own description, because
`docs/configuration.md` is written from here and a test holds the two together. Thresholds of
scoring are not settings: they are policy, and have a revision.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, cast

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from .declaring import Section, setting, without_empty
from .judges import JudgesSettings
from .pairs import alone

ENVIRONMENT_PREFIX: Final = "SEEKWATCH_"
NESTING: Final = "__"

_HOUR: Final = 3_600.0
_DAY: Final = 86_400.0
_MIB: Final = 1 << 20

Port = Annotated[int, Field(ge=0, le=65_535)]
Name = Annotated[str, Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")]


class TopicSettings(Section):
    """Names of the topics."""

    traces: Name = setting("otlp.traces", "Spans, written by the receiver or Collector.", unit="-")
    logs: Name = setting(
        "otlp.logs", "Log records; as many partitions as the topic of spans.", unit="-"
    )
    scores: Name = setting("seekwatch.scores", "Scorecards, as JSON Lines.", unit="-")
    episodes: Name = setting(
        "seekwatch.episodes", "Episodes with their evidence, compressed.", unit="-"
    )
    dead_letters: Name = setting(
        "seekwatch.dead-letters", "Records that could not be decoded.", unit="-"
    )


class KafkaSettings(Section):
    """How to reach Kafka, and under which names."""

    bootstrap_servers: str = setting(
        "localhost:9092", "Brokers to begin with, `host:port` joined by commas.", unit="-"
    )
    group_id: Name = setting(
        "seekwatch",
        "Consumer group of the workers; also the beginning of their transactional ids.",
        unit="-",
    )
    member: str | None = setting(
        None,
        "Name of this worker, unique in the group and best kept over a restart (the pod's name): "
        "what its last run left open then ends at once. Empty: a random one.",
        unit="-",
    )
    topics: TopicSettings = TopicSettings()
    partitions: int = setting(
        12, "Partitions of topics that we create; existing topics keep theirs.", unit="count", ge=1
    )
    replication: int = setting(
        1, "Replicas of topics that we create; 3 in production.", unit="count", ge=1
    )
    create_topics: bool = setting(
        True, "Create missing topics at start. False: a missing topic stops the start.", unit="-"
    )
    options: dict[str, Any] = setting(
        {},
        "Any option of kafka-python's clients by its own name, such as `security_protocol`, "
        "`sasl_mechanism`, `sasl_plain_username`, `ssl_cafile`, `client_rack`. Empty: its "
        "defaults.",
        unit="-",
    )

    @field_validator("bootstrap_servers", mode="before")
    @classmethod
    def _join(cls, value: Any) -> Any:
        return ",".join(map(str, cast("list[Any]", value))) if isinstance(value, list) else value


class LogKind(StrEnum):
    """The two logs."""

    EMBEDDED = "embedded"
    KAFKA = "kafka"


class EmbeddedSettings(Section):
    """The log in one file, for `seekwatch up`."""

    path: Path = setting(
        Path("seekwatch.db"), "File of the log; it is made when missing.", unit="path"
    )
    partitions: int = setting(
        4, "Partitions of a new log; an existing log keeps its own.", unit="count", ge=1, le=256
    )
    retention: float = setting(
        7 * _DAY,
        "How long records are kept. 0: for ever. It must be longer than max age, late window and "
        "a day together.",
        unit="seconds",
        ge=0,
    )
    max_bytes: int = setting(
        10 * 1024 * _MIB,
        "Size at which the log refuses new records until old ones have gone. 0: no limit.",
        unit="bytes",
        ge=0,
    )


class ReceiverSettings(Section):
    """Where agents send OTLP."""

    host: str = setting(
        "127.0.0.1",
        "Address to listen on; the default is reachable from this machine alone, `0.0.0.0` from "
        "everywhere.",
        unit="-",
    )
    grpc_port: Port | None = setting(
        4317, "Port of OTLP over gRPC. 0: a free one. Empty: not served.", unit="port"
    )
    http_port: Port | None = setting(
        4318, "Port of OTLP over HTTP. 0: a free one. Empty: not served.", unit="port"
    )
    tls_cert: Path | None = setting(None, "Certificate chain in PEM. Empty: no TLS.", unit="path")
    tls_key: Path | None = setting(None, "Private key in PEM; needed with `tls_cert`.", unit="path")
    tls_client_ca: Path | None = setting(
        None,
        "Authorities in PEM; senders must show a certificate of one of them. Empty: they need not.",
        unit="path",
    )
    token: SecretStr | None = setting(
        None, "Bearer token that senders must present. Empty: anyone may send.", unit="-"
    )
    max_request_bytes: int = setting(
        64 * _MIB, "Largest request, before and after decompression.", unit="bytes", ge=1024
    )

    @model_validator(mode="after")
    def _both_or_none(self) -> "ReceiverSettings":
        if self.tls_cert is not None and self.tls_key is None:
            raise alone("tls_cert", self.tls_cert, "receiver.tls_key")
        if self.tls_key is not None and self.tls_cert is None:
            raise alone("tls_key", self.tls_key, "receiver.tls_cert")
        return self


class ClosingSettings(Section):
    """When a trace is taken as finished; all times are on the log's clock."""

    quiet: float = setting(
        10.0,
        "Silence after the root has ended. 0: close at once, later spans are late.",
        unit="seconds",
        ge=0,
    )
    idle: float = setting(
        300.0, "Silence after which a trace without an ended root is closed.", unit="seconds", gt=0
    )
    max_age: float = setting(
        2 * _HOUR, "Age at which a trace is closed whatever happens.", unit="seconds", gt=0
    )
    late_window: float = setting(
        120.0,
        "How long after closing late spans still make a second revision. 0: never.",
        unit="seconds",
        ge=0,
    )
    remember: float = setting(
        600.0,
        "How long after the late window spans of a closed trace are still counted as late. 0: "
        "later ones would open the trace anew.",
        unit="seconds",
        ge=0,
    )
    span_cap: int = setting(
        10_000, "Spans of one trace; the rest is left out and counted.", unit="count", ge=1
    )
    byte_cap: int = setting(
        64 * _MIB, "Encoded size of one trace; the rest is left out.", unit="bytes", ge=1024
    )
    memory: int = setting(
        512 * _MIB,
        "Encoded spans held by one worker; beyond it the oldest traces are closed. 0: no limit.",
        unit="bytes",
        ge=0,
    )


class WorkerSettings(Section):
    """The loop that scores."""

    slice: float = setting(
        0.05, "Scoring between two polls; no new episode is begun after it.", unit="seconds", gt=0
    )
    poll: float = setting(0.5, "Longest wait for new records.", unit="seconds", gt=0, le=30)
    commit_interval: float = setting(
        1.0,
        "Longest time between scoring an episode and publishing it. 0: after every slice.",
        unit="seconds",
        ge=0,
    )
    commit_count: int = setting(
        500, "Scorecards after which a commit is made before its time.", unit="count", ge=1
    )
    evidence_deadline: float = setting(
        20.0,
        "How long an episode waits for what is looked up outside the trace. 0: nothing is looked "
        "up.",
        unit="seconds",
        ge=0,
    )
    publish_episodes: bool = setting(
        True,
        "Publish normalised episodes too. False: re-scoring and the archive are not possible.",
        unit="-",
    )
    stall_after: float = setting(
        60.0,
        "Lag without a record read after which /readyz says no. 0: never.",
        unit="seconds",
        ge=0,
    )
    shutdown: float = setting(
        10.0, "Longest time that an orderly end may take.", unit="seconds", gt=0
    )


class MetricsSettings(Section):
    """What Prometheus scrapes."""

    host: str = setting(
        "127.0.0.1",
        "Address to listen on; `0.0.0.0` so that a Prometheus elsewhere can scrape.",
        unit="-",
    )
    port: Port | None = setting(
        9464,
        "Port of /metrics, /healthz and /readyz. 0: a free one. Empty: not served.",
        unit="port",
    )
    agent_cap: int = setting(
        20,
        "Agents with a label of their own; the rest is `other`. 0: no agent has one.",
        unit="count",
        ge=0,
    )
    known_agents: Path | None = setting(
        None,
        "File that keeps the agents seen, so that their series are there from the first scrape "
        "after a restart. Empty: beside the embedded log; with Kafka they are learned from the "
        "latest scorecards.",
        unit="path",
    )


class ArchiveSettings(Section):
    """Files that re-scoring needs."""

    directory: Path | None = setting(
        None, "Folder for the JSON Lines archive. Empty: no archive is written.", unit="path"
    )
    keep_days: int = setting(
        30, "Days after which a day's files are deleted. 0: they are kept.", unit="days", ge=0
    )
    keep_bytes: int = setting(
        0,
        "Size above which the oldest files are deleted. 0: no bound.",
        unit="bytes",
        ge=0,
    )


class EvaluationSettings(Section):
    """Scores as `gen_ai.evaluation.result`, for any OTLP backend."""

    endpoint: str = setting(
        "",
        "OTLP endpoint, `http(s)://host:4318` or `grpc(s)://host:4317`. Empty: nothing is sent.",
        unit="URL",
        pattern=r"^((https?|grpcs?)://\S+)?$",
    )
    headers: dict[str, SecretStr] = setting(
        {}, "Headers to send, such as an API key. Empty: none.", unit="-"
    )
    certificate: Path | None = setting(
        None, "Authority to trust, in PEM. Empty: the system's.", unit="path"
    )


class LogLevel(StrEnum):
    """Names of logging's levels."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a line of our own log looks."""

    TEXT = "text"
    JSON = "json"


class LoggingSettings(Section):
    """What we write to standard error."""

    level: LogLevel = setting(LogLevel.INFO, "Least severe level that is written.", unit="-")
    format: LogFormat = setting(
        LogFormat.TEXT, "`text` for people, `json` for machines (one object a line).", unit="-"
    )


class Settings(BaseSettings):
    """Everything. Build it with `seekwatch.monitor.settings.reading.load_settings`."""

    log: LogKind = setting(
        LogKind.EMBEDDED,
        "The log of `receive`, `export`, `tail` and `doctor`. `up` is always embedded, `worker` "
        "always Kafka.",
        unit="-",
    )
    policy: Path | None = setting(None, "Policy file. Empty: the built-in policy.", unit="path")
    truth: Path | None = setting(
        None, "Truth records, JSON Lines or a YAML list. Empty: no truth is known.", unit="path"
    )
    kafka: KafkaSettings = KafkaSettings()
    embedded: EmbeddedSettings = EmbeddedSettings()
    receiver: ReceiverSettings = ReceiverSettings()
    closing: ClosingSettings = ClosingSettings()
    worker: WorkerSettings = WorkerSettings()
    metrics: MetricsSettings = MetricsSettings()
    archive: ArchiveSettings = ArchiveSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    judges: JudgesSettings = JudgesSettings()
    logging: LoggingSettings = LoggingSettings()

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter=NESTING,
    )

    @model_validator(mode="before")
    @classmethod
    def _empty_is_none(cls, values: Any) -> Any:
        return without_empty(cls, values)
