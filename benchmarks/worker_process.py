"""One real `seekwatch worker` in a process of its own, whose CPU time can be read exactly.

It is stopped (SIGSTOP) while the load is appended, so that it meets a log that is already there,
as a worker does that catches up; its CPU time is that of all its threads, ended ones included.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from seekwatch.collector.kafka_client import KafkaSettings
from seekwatch.collector.kafka_outputs import KafkaOutputReader
from seekwatch.core.records import Output
from seekwatch.core.topics import unpack_scores
from tests.services.process import Service

QUIET_SECONDS: Final = 0.3
"""Of silence after which a trace closes here; the product's default only makes a run longer."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_READ_SECONDS: Final = 0.2
_PATIENCE: Final = 180.0


class WorkerProcess:
    """A worker on Kafka, and a reader of its scorecards.

    Args:
        settings: the same topics and group that the worker is told.
        directory: for its log.
    """

    def __init__(self, settings: KafkaSettings, directory: Path) -> None:
        told = [
            f"kafka.bootstrap_servers={settings.bootstrap_servers}",
            f"kafka.group_id={settings.group_id}",
            f"closing.quiet={QUIET_SECONDS}",
            "metrics.port=0",
            *(f"kafka.topics.{name}={topic}" for name, topic in asdict(settings.topics).items()),
        ]
        command = [sys.executable, "-m", "seekwatch.monitor.cli", "worker"]
        for assignment in told:
            command += ["--set", assignment]
        self._service = Service("worker", command, directory=directory)
        self._reader = KafkaOutputReader(settings, [Output.SCORES], from_end=True)
        self._clock = 0

    def start(self) -> None:
        """Start the process; it need not have joined the group yet."""
        self._service.start()
        self._clock = _cpu_clock(self._service.pid)

    def stop(self) -> None:
        """End the process and the reader."""
        self._service.stop()
        self._reader.close()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Keep the process from running."""
        self._service.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._service.signal(signal.SIGCONT)

    def cpu_seconds(self) -> float:
        """Return the CPU seconds (user and system) of the process since its start."""
        return time.clock_gettime(self._clock)

    def wait_for_scorecards(self, traces: Collection[str]) -> None:
        """Wait until each of `traces` has exactly one scorecard.

        Raises:
            RuntimeError: a scorecard came twice, of an unknown trace, or not at all in time.
        """
        missing = set(traces)
        until = time.monotonic() + _PATIENCE
        while missing:
            if time.monotonic() > until or not self._service.alive:
                raise RuntimeError(f"{len(missing)} scorecards are missing\n{self._service.tail()}")
            for record in self._reader.read(_READ_SECONDS):
                for entry in unpack_scores(record.value):
                    if entry.envelope.trace not in missing:
                        raise RuntimeError(f"trace {entry.envelope.trace} was not to be scored now")
                    missing.remove(entry.envelope.trace)


def _cpu_clock(process: int) -> int:
    """Return the id of a process's CPU clock (`clock_getcpuclockid(3)`)."""
    clock = ctypes.c_int()
    failure = _LIBC.clock_getcpuclockid(ctypes.c_int(process), ctypes.byref(clock))
    if failure:
        raise OSError(failure, os.strerror(failure))
    return clock.value
