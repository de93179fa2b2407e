"""Starts and stops the demo's processes: the monitor, the agent, Prometheus."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import httpx

from demo.web import MODEL_NAME

ROOT: Final = Path(__file__).resolve().parents[1]
RULES: Final = ROOT / "rules" / "generated" / "demo"
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 8.0


class StackError(Exception):
    """A part of the demo did not start or died; the message has the end of its log."""


class Program:
    """One child process that writes its output to a file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603 - the demo's own commands
                command,
                cwd=ROOT,
                env={**os.environ, **(environment or {})},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise `StackError` when the process has ended."""
        code = self._process.poll()
        if code is not None:
            raise StackError(f"{self.name} ended with exit code {code}:\n{self.tail()}")

    def tail(self, lines: int = 15) -> str:
        """Return the end of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def stop(self) -> None:
        """End the process, gently first."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if self._process.poll() is not None:
                return
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_SECONDS)


class Monitor(Program):
    """`seekwatch up` with short closing times and a price for the local model."""

    def __init__(self, folder: Path) -> None:
        self.otlp_port, self.metrics_port = free_ports(2)
        policy = folder / "policy.yaml"
        policy.write_text(
            json.dumps({"prices": {"models": {MODEL_NAME: {"input": 0.15, "output": 0.6}}}})
        )
        self.settings = {
            "SEEKWATCH_EMBEDDED__PATH": str(folder / "log.db"),
            "SEEKWATCH_RECEIVER__HTTP_PORT": str(self.otlp_port),
            "SEEKWATCH_RECEIVER__GRPC_PORT": "",
            "SEEKWATCH_METRICS__PORT": str(self.metrics_port),
            "SEEKWATCH_CLOSING__QUIET": "1",
            "SEEKWATCH_ARCHIVE__DIRECTORY": str(folder / "archive"),
            "SEEKWATCH_POLICY": str(policy),
        }
        super().__init__(
            "monitor", [*_PYTHON, "-m", "seekwatch.monitor.cli", "up"], folder, self.settings
        )
        wait_for(f"{self.url}/readyz", self)

    @property
    def url(self) -> str:
        """Where `/metrics` and `/readyz` are."""
        return f"http://127.0.0.1:{self.metrics_port}"

    @property
    def otlp(self) -> str:
        """Where agents send OTLP over HTTP."""
        return f"http://127.0.0.1:{self.otlp_port}"

    def metrics(self) -> str:
        """Scrape the monitor once."""
        response = httpx.get(f"{self.url}/metrics", timeout=5, trust_env=False)
        response.raise_for_status()
        return response.text

    def worst_traces(self, agent: str, axis: str, count: int) -> list[dict[str, Any]]:
        """Ask `seekwatch tail` for the worst traces, as an on-call engineer would."""
        options = ["--agent", agent, "--axis", axis, "--worst", str(count), "--json"]
        result = subprocess.run(  # noqa: S603 - the demo's own command
            [*_PYTHON, "-m", "seekwatch.monitor.cli", "tail", *options],
            cwd=ROOT,
            env={**os.environ, **self.settings},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if result.returncode:
            raise StackError(f"seekwatch tail failed:\n{result.stderr}")
        return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


class Prometheus(Program):
    """Prometheus with the demo profile of the rules, scraping the monitor every second."""

    def __init__(self, binary: Path, monitor: Monitor, folder: Path) -> None:
        [self._port] = free_ports(1)
        configuration = folder / "prometheus.yml"
        configuration.write_text(
            json.dumps(
                {
                    "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                    "rule_files": [f"{RULES}/*.yaml"],
                    "scrape_configs": [
                        {
                            "job_name": "seekwatch",
                            "static_configs": [{"targets": [f"127.0.0.1:{monitor.metrics_port}"]}],
                        }
                    ],
                }
            )
        )
        super().__init__(
            "prometheus",
            [
                str(binary),
                f"--config.file={configuration}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
                f"--web.listen-address=127.0.0.1:{self._port}",
            ],
            folder,
        )
        wait_for(f"{self.url}/-/ready", self)

    @property
    def url(self) -> str:
        """The address of its pages."""
        return f"http://127.0.0.1:{self._port}"

    def firing(self) -> list[dict[str, Any]]:
        """Return the alerts that fire now, the watchdog left out."""
        response = httpx.get(f"{self.url}/api/v1/alerts", timeout=5, trust_env=False)
        response.raise_for_status()
        alerts = cast("list[dict[str, Any]]", response.json()["data"]["alerts"])
        return [
            alert
            for alert in alerts
            if alert["state"] == "firing" and alert["labels"]["alertname"] != "Watchdog"
        ]


class Traffic(Program):
    """The instrumented agent at work."""

    def __init__(self, proxy: str, monitor: Monitor, folder: Path, *, forget_year_after: float):
        command = [
            *_PYTHON, "-m", "demo.traffic", "--proxy", proxy, "--endpoint", monitor.otlp,
            "--forget-year-after", str(forget_year_after),
        ]  # fmt: skip
        super().__init__("agent", command, folder)


_PYTHON: Final = (sys.executable,)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on at this moment."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def wait_for(url: str, program: Program) -> None:
    """Wait until `url` answers with success.

    Raises:
        StackError: the program ended, or does not answer in time.
    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        program.check()
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(url, timeout=2, trust_env=False).is_success:
                return
        time.sleep(0.2)
    raise StackError(f"{program.name} does not answer at {url}:\n{program.tail()}")
