"""`seekwatch` as a process of its own, and sending it spans as a patient agent does."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service

_ANSWER_SECONDS = 10.0
_PAUSE_SECONDS = 0.1


def seekwatch(*words: str) -> list[str]:
    """Return the command line of a verb, run by this interpreter."""
    return [sys.executable, "-m", "seekwatch.monitor.cli", *words]


class MonitorProcess:
    """`seekwatch VERB` on free ports of loopback; started again it keeps them. A context manager.

    Args:
        verb: `up`, `worker` or `receive`.
        directory: where it runs and logs.
        assignments: further `--set` flags.
        name: of its log, where several run in one directory.
    """

    def __init__(
        self,
        verb: str,
        directory: Path,
        assignments: Sequence[str] = (),
        *,
        name: str = "seekwatch",
    ) -> None:
        grpc, http, metrics = free_ports(3)
        self.grpc = f"{LOOPBACK}:{grpc}"
        self.otlp = f"http://{LOOPBACK}:{http}"
        self.metrics = f"http://{LOOPBACK}:{metrics}"
        settings = [
            f"receiver.grpc_port={grpc}",
            f"receiver.http_port={http}",
            f"metrics.port={metrics}",
            *assignments,
        ]
        flags = [word for setting in settings for word in ("--set", setting)]
        self.service = Service(name, seekwatch(verb, *flags), directory=directory)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self, *, timeout: float = 60.0) -> None:
        """Start it and wait until it is ready."""
        start_together(self, timeout=timeout)

    def is_ready(self) -> bool:
        """Ask /readyz."""
        try:
            return httpx.get(f"{self.metrics}/readyz", trust_env=False).is_success
        except httpx.HTTPError:
            return False

    def page(self) -> str:
        """Return /metrics."""
        return httpx.get(f"{self.metrics}/metrics", trust_env=False).text

    def kill(self) -> None:
        """End it as a crash would (kill -9)."""
        self.service.kill()

    def stop(self) -> None:
        """Ask it to end (SIGTERM) and wait."""
        self.service.stop()


def start_together(*processes: MonitorProcess, timeout: float = 60.0) -> None:
    """Start some at once, and wait until all of them are ready."""
    for process in processes:
        process.service.start()
    for process in processes:
        process.service.wait_ready(process.is_ready, timeout=timeout)


class PatientSender:
    """Sends OTLP requests one after the other; what is not answered with success comes again.

    Args:
        endpoint: OTLP over HTTP.
        patience: seconds for one request, the monitor's absence included.
    """

    def __init__(self, endpoint: str, *, patience: float = 60.0) -> None:
        self._url = f"{endpoint}/v1/traces"
        self._patience = patience
        self._client = httpx.Client(timeout=_ANSWER_SECONDS, trust_env=False)
        self.repeated = 0

    def send(self, request: bytes) -> None:
        """Send until it is answered with success.

        Raises:
            TimeoutError: it never was.
        """
        end = time.monotonic() + self._patience
        while time.monotonic() < end:
            try:
                answer = self._client.post(
                    self._url,
                    content=request,
                    headers={"content-type": "application/x-protobuf"},
                )
                if answer.is_success:
                    return
            except httpx.HTTPError:
                pass
            self.repeated += 1
            time.sleep(_PAUSE_SECONDS)
        raise TimeoutError(f"{self._url} took nothing for {self._patience:g} s")

    def close(self) -> None:
        """Release the connection."""
        self._client.close()
