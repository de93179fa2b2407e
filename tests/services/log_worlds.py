"""The two logs behind one face, for tests that hold for both and for processes that are killed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.collector.kafka_append import KafkaAppender
from seekwatch.collector.kafka_client import KafkaSettings, Topics
from seekwatch.collector.kafka_log import KafkaTraceLog
from seekwatch.collector.kafka_outputs import KafkaOutputReader
from seekwatch.core.records import Appender, Output, OutputReader, TraceLog

QUICK: Mapping[str, Any] = {
    # A member that dies is noticed soon, and a group forms at once.
    "session_timeout_ms": 3000,
    "heartbeat_interval_ms": 200,
}


class LogWorld(Protocol):
    """Makes the parts of one log; every call makes a new one."""

    @property
    def partitions(self) -> int:
        """Partitions of each topic."""
        ...

    def appender(self) -> Appender:
        """Return the receiver's side."""
        ...

    def trace_log(self) -> TraceLog:
        """Return the worker's side."""
        ...

    def output_reader(
        self, outputs: Sequence[Output], consumer: str | None = None, *, from_end: bool = False
    ) -> OutputReader:
        """Return a consumer of outputs."""
        ...

    def describe(self) -> str:
        """Return what `described()` makes the same world of, in another process."""
        ...


class EmbeddedWorld:
    """A log in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = EmbeddedLog(path)

    @property
    def partitions(self) -> int:
        return self._log.partitions

    def appender(self) -> Appender:
        return self._log.appender()

    def trace_log(self) -> TraceLog:
        return self._log.trace_log()

    def output_reader(
        self, outputs: Sequence[Output], consumer: str | None = None, *, from_end: bool = False
    ) -> OutputReader:
        return self._log.output_reader(outputs, consumer, from_end=from_end)

    def describe(self) -> str:
        return json.dumps({"path": str(self._path)})


class KafkaWorld:
    """Topics of their own on a broker; they are there already."""

    def __init__(
        self,
        bootstrap: str,
        prefix: str,
        partitions: int,
        options: Mapping[str, Any] | None = None,
        *,
        commit_deadline: float = 20.0,
    ) -> None:
        self._spec: dict[str, Any] = {
            "bootstrap": bootstrap,
            "prefix": prefix,
            "partitions": partitions,
            "options": dict(options or {}),
        }
        self.prefix = prefix
        self.partitions = partitions
        self.settings = kafka_settings(bootstrap, prefix, options, commit_deadline=commit_deadline)

    def appender(self) -> Appender:
        return KafkaAppender(self.settings)

    def trace_log(self) -> TraceLog:
        return KafkaTraceLog(self.settings, hold=3600)

    def output_reader(
        self, outputs: Sequence[Output], consumer: str | None = None, *, from_end: bool = False
    ) -> OutputReader:
        return KafkaOutputReader(self.settings, outputs, consumer, from_end=from_end)

    def describe(self) -> str:
        return json.dumps(self._spec)


def kafka_settings(
    bootstrap: str,
    prefix: str,
    options: Mapping[str, Any] | None = None,
    *,
    commit_deadline: float = 20.0,
) -> KafkaSettings:
    """Return settings whose names begin with `prefix`."""
    return KafkaSettings(
        bootstrap_servers=bootstrap,
        group_id=f"{prefix}-group",
        topics=Topics(
            traces=f"{prefix}-traces",
            logs=f"{prefix}-logs",
            scores=f"{prefix}-scores",
            episodes=f"{prefix}-episodes",
            dead_letters=f"{prefix}-dead-letters",
        ),
        options={**QUICK, **(options or {})},
        commit_deadline=commit_deadline,
        transaction_timeout=3.0,
    )


def described(description: str) -> LogWorld:
    """Return the world that another process described."""
    spec = json.loads(description)
    if "path" in spec:
        return EmbeddedWorld(Path(spec["path"]))
    return KafkaWorld(spec["bootstrap"], spec["prefix"], spec["partitions"], spec["options"])
