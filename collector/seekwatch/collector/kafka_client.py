"""How Kafka's clients are made: one place for their options and for what the library needs cured.

kafka-python passes every setting by its own name, so security (SASL, TLS) and tuning are the
user's; what our guarantees rest on is not.
"""

import importlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from seekwatch.collector.kafka_errors import KafkaError, kafka_errors
from seekwatch.core.errors import ConfigurationError, RetryableError
from seekwatch.core.extras import install_command
from seekwatch.core.records import Output, Signal

_kafka: Any = importlib.import_module("kafka")
_compat: Any = importlib.import_module("kafka.net.compat")
_codec: Any = importlib.import_module("kafka.codec")
_errors: Any = importlib.import_module("kafka.errors")
_structs: Any = importlib.import_module("kafka.structs")

TopicPartition: Final[Any] = _kafka.TopicPartition
OffsetAndMetadata: Final[Any] = _structs.OffsetAndMetadata

MAX_RECORD_BYTES: Final = 16 << 20
"""The largest record that we send or fetch; each topic's own limit is lower (`kafka_topics`)."""

_DEFAULTS: Final[Mapping[str, Any]] = {
    # The library's half minute would be added to every outage.
    "reconnect_backoff_max_ms": 500,
    "bootstrap_timeout_ms": 15_000,
}
_OURS: Final = frozenset(
    {
        "acks",
        "allow_auto_create_topics",
        "auto_offset_reset",
        "bootstrap_servers",
        "default_offset_commit_callback",
        "enable_auto_commit",
        "enable_idempotence",
        "group_id",
        "isolation_level",
        "kafka_client",
        "key_deserializer",
        "key_serializer",
        "partition_assignment_strategy",
        "partitioner",
        "transactional_id",
        "value_deserializer",
        "value_serializer",
    }
)
"""Options that our guarantees rest on; the others are the user's."""

_SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_CODECS: Final = {
    "gzip": "has_gzip",
    "snappy": "has_snappy",
    "lz4": "has_lz4",
    "zstd": "has_zstd",
}

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Names of the topics."""

    traces: str = "otlp.traces"
    logs: str = "otlp.logs"
    scores: str = "seekwatch.scores"
    episodes: str = "seekwatch.episodes"
    dead_letters: str = "seekwatch.dead-letters"

    def of(self, topic: Signal | Output) -> str:
        """Return the name of one topic."""
        names: dict[Signal | Output, str] = {
            Signal.TRACES: self.traces,
            Signal.LOGS: self.logs,
            Output.SCORES: self.scores,
            Output.EPISODES: self.episodes,
            Output.DEAD_LETTERS: self.dead_letters,
        }
        return names[topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    """How to reach Kafka.

    Attributes:
        bootstrap_servers: `host:port` joined by commas.
        group_id: consumer group of the workers; consumers of outputs add their own name to it.
        topics: names.
        options: any option of kafka-python's clients by its own name; each client gets those that
            it knows.
        member: name of this worker, unique in the group and best kept over a restart, so that the
            next start ends at once what the last one left open. None: a random one.
        commit_deadline: seconds for one commit, after which it counts as failed.
        transaction_timeout: seconds after which the broker aborts what a dead worker left open;
            until then its partitions wait.
    """

    bootstrap_servers: str = "localhost:9092"
    group_id: str = "seekwatch"
    topics: Topics = field(default_factory=Topics)
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    member: str | None = None
    commit_deadline: float = 20.0
    transaction_timeout: float = 15.0

    def check(self) -> None:
        """Check the options' names, and that records of every codec can be read.

        Raises:
            ConfigurationError: an option that no client knows, one of ours, or a codec missing.
        """
        known = set(_kafka.KafkaConsumer.DEFAULT_CONFIG) | set(_kafka.KafkaProducer.DEFAULT_CONFIG)
        for name, value in self.options.items():
            if name in _OURS:
                raise ConfigurationError(
                    f"kafka.options.{name}", value, "Seekwatch sets this itself; leave it out"
                )
            if name not in known:
                raise ConfigurationError(
                    f"kafka.options.{name}", value, "kafka-python has no option of this name"
                )
        self._check_security()
        # Without its codec a consumer would poll a topic for ever and find nothing.
        for codec, present in _CODECS.items():
            if not getattr(_codec, present)():
                raise ConfigurationError(
                    "kafka", codec, f"this codec is not installed: {install_command('monitor')}"
                )

    def _check_security(self) -> None:
        """Check what kafka-python takes silently, to speak in the clear."""
        protocol = self.options.get("security_protocol", "PLAINTEXT")
        if protocol not in _SECURITY_PROTOCOLS:
            raise ConfigurationError(
                "kafka.options.security_protocol",
                protocol,
                f"name one of {', '.join(_SECURITY_PROTOCOLS)}",
            )
        for prefix, needed in (("sasl_", "SASL"), ("ssl_", "SSL")):
            idle = [name for name in self.options if name.startswith(prefix)]
            if idle and needed not in protocol:
                raise ConfigurationError(
                    f"kafka.options.{idle[0]}",
                    "given",
                    f"it has no effect while security_protocol is {protocol}; set a protocol with"
                    f" {needed}",
                )


class SafeClient(_compat.KafkaNetClient):  # type: ignore[misc]  # the library is untyped
    """Keeps a transaction from waiting for ever once its coordinator refused a connection.

    kafka-python 3.0.12 sends the request again only when `await_ready()` returns False; on a
    refused connection it raises, and the request is lost.
    """

    def await_ready(self, *args: Any, **options: Any) -> bool:
        """Return whether the node can be written to."""
        try:
            return bool(_compat.KafkaNetClient.await_ready(self, *args, **options))
        except _errors.RetriableError:
            return False


def consumer(settings: KafkaSettings, **ours: Any) -> Any:
    """Make a `KafkaConsumer`; `ours` are its options beside the user's.

    Raises:
        RetryableError: no broker answers.
        ConfigurationError: the client refuses an option.
    """
    ours = {
        "enable_auto_commit": False,
        "isolation_level": "read_committed",
        "allow_auto_create_topics": False,
        "auto_offset_reset": "earliest",
        "fetch_max_bytes": 4 * MAX_RECORD_BYTES,
        "max_partition_fetch_bytes": MAX_RECORD_BYTES,
    } | ours
    return _made(_kafka.KafkaConsumer, settings, ours)


def producer(settings: KafkaSettings, **ours: Any) -> Any:
    """Make a `KafkaProducer`; `ours` are its options beside the user's.

    Raises:
        RetryableError: no broker answers.
        ConfigurationError: the client refuses an option.
    """
    ours = {
        "kafka_client": SafeClient,
        "allow_auto_create_topics": False,
        "max_request_size": MAX_RECORD_BYTES,
        "compression_type": "lz4",
    } | ours
    return _made(_kafka.KafkaProducer, settings, ours)


def admin(settings: KafkaSettings) -> Any:
    """Make a `KafkaAdminClient`.

    Raises:
        RetryableError: no broker answers.
        ConfigurationError: the client refuses an option.
    """
    return _made(_kafka.KafkaAdminClient, settings, {})


def within(seconds: float, doing: str, call: Callable[[], _Result]) -> _Result:
    """Run a call that has no timeout of its own; give up waiting after `seconds`.

    Raises:
        RetryableError: it did not return in time; it may still be at work.
    """
    outcome: list[_Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            failure.append(error)

    thread = threading.Thread(target=run, name="seekwatch-kafka-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise RetryableError(f"Kafka, {doing}: no answer within {seconds:g} s")
    return outcome[0]


def close_quietly(client: Any, *arguments: Any, **options: Any) -> Exception | None:
    """Close a client that may be broken; return what it had to say about it."""
    try:
        client.close(*arguments, **options)
    except KafkaError as error:
        return error
    return None


def _made(kind: Any, settings: KafkaSettings, ours: Mapping[str, Any]) -> Any:
    known = kind.DEFAULT_CONFIG
    chosen = {**_DEFAULTS, **ours, **settings.options}
    options = {name: value for name, value in chosen.items() if name in known}
    network = _Network(options.get("kafka_client", _compat.KafkaNetClient))
    options |= {"bootstrap_servers": settings.bootstrap_servers, "kafka_client": network}
    with kafka_errors(f"connecting to {settings.bootstrap_servers}"):
        try:
            return kind(**options)
        except (_errors.KafkaConfigurationError, AssertionError, TypeError, ValueError) as error:
            network.close()
            raise ConfigurationError("kafka.options", dict(settings.options), str(error)) from error
        except BaseException:
            network.close()
            raise


class _Network:
    """Remembers the connections that a client makes, to close them when it cannot be made.

    A constructor of kafka-python that fails leaves its thread and its connections behind, one more
    at each attempt while the brokers are away.
    """

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._made: list[Any] = []

    def __call__(self, **configuration: Any) -> Any:
        """Make what the client asks for."""
        self._made.append(self._kind(**configuration))
        return self._made[-1]

    def close(self) -> None:
        """End what was made."""
        for network in self._made:
            network.close()
