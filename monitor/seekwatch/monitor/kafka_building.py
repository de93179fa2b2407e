"""Builds the Kafka log from settings."""

from collections.abc import Sequence

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import Appender, Output, OutputReader, TraceLog

from .settings import Settings


def trace_log(settings: Settings) -> tuple[TraceLog, int]:
    """Return a member of the group, and the number of partitions."""
    raise ConfigurationError("log", settings.log, "not yet")


def appender(settings: Settings) -> Appender:
    """Return the receiver's side."""
    raise ConfigurationError("log", settings.log, "not yet")


def output_reader(
    settings: Settings, outputs: Sequence[Output], consumer: str | None
) -> OutputReader:
    """Return a consumer of output topics; None keeps no position and begins at the start."""
    raise ConfigurationError("log", settings.log, f"not yet {outputs} {consumer}")
