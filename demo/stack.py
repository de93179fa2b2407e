"""The demo's three programs: the monitor, Prometheus with our rules, the instrumented agent."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, cast

import httpx

from demo.programs import (
    ROOT,
    Program,
    ProgramError,
    agent_environment,
    free_ports,
    plain_environment,
)
from demo.web import MODEL_NAME

RULES: Final = ROOT / "rules" / "generated" / "demo"
QUIET_SECONDS: Final = 1
"""`closing.quiet` of the demo's monitor; 10 by default."""
EXPORT_MILLISECONDS: Final = 1000
"""`OTEL_BSP_SCHEDULE_DELAY` of the demo's agent; 5000 by default."""
_ANSWER_SECONDS: Final = 15.0
_SEEKWATCH: Final = (sys.executable, "-m", "seekwatch.monitor.cli")


class Monitor(Program):
    """`seekwatch up` with short closing times and a price for the local model.

    Args:
        folder: for its settings, log and archive.
        data: file of the embedded log.
    """

    def __init__(self, folder: Path, data: Path) -> None:
        self._otlp_port, self.metrics_port = free_ports(2)
        self._policy = folder / "policy.yaml"
        self._settings = plain_environment(
            os.environ,
            {
                "SEEKWATCH_EMBEDDED__PATH": str(data),
                "SEEKWATCH_RECEIVER__HTTP_PORT": str(self._otlp_port),
                "SEEKWATCH_RECEIVER__GRPC_PORT": "",
                "SEEKWATCH_METRICS__PORT": str(self.metrics_port),
                "SEEKWATCH_CLOSING__QUIET": str(QUIET_SECONDS),
                "SEEKWATCH_POLICY": str(self._policy),
            },
        )
        super().__init__("monitor", [*_SEEKWATCH, "up"], folder, self._settings)

    def start(self) -> None:
        """Start it and wait until it is ready."""
        prices = {"models": {MODEL_NAME: {"input": 0.15, "output": 0.6}}}
        self._policy.write_text(json.dumps({"prices": prices}))
        super().start()
        self.wait_for(f"http://127.0.0.1:{self.metrics_port}/readyz")

    @property
    def otlp(self) -> str:
        """Where agents send OTLP over HTTP."""
        return f"http://127.0.0.1:{self._otlp_port}"

    def metrics(self) -> str:
        """Read the page that Prometheus scrapes; only where no Prometheus does."""
        return _get(f"http://127.0.0.1:{self.metrics_port}/metrics").text

    def worst_traces(self, agent: str, axis: str, count: int) -> list[dict[str, Any]]:
        """Ask `seekwatch tail` for the worst traces, as an on-call engineer would."""
        options = ["--agent", agent, "--axis", axis, "--worst", str(count), "--json"]
        result = subprocess.run(  # noqa: S603 - the demo's own command
            [*_SEEKWATCH, "tail", *options],
            cwd=ROOT,
            env=self._settings,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if result.returncode:
            raise ProgramError(f"seekwatch tail failed:\n{result.stderr}")
        return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


class Prometheus(Program):
    """Prometheus with the demo profile of the rules, scraping the monitor every second."""

    def __init__(self, binary: Path, monitor: Monitor, folder: Path) -> None:
        [port] = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        self._target = f"127.0.0.1:{monitor.metrics_port}"
        self._configuration = folder / "prometheus.yml"
        super().__init__(
            "prometheus",
            [
                str(binary),
                f"--config.file={self._configuration}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            folder,
            plain_environment(os.environ, {}),
        )

    def start(self) -> None:
        """Start it and wait until it is ready."""
        self._configuration.write_text(json.dumps(self._settings()))
        super().start()
        self.wait_for(f"{self.url}/-/ready")

    def _settings(self) -> dict[str, Any]:
        scrape = {"job_name": "seekwatch", "static_configs": [{"targets": [self._target]}]}
        return {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [f"{RULES}/*.yaml"],
            "scrape_configs": [scrape],
        }

    def metrics(self) -> str:
        """Return the newest values that it scraped: what the screen shows is what the rules see."""
        return _get(f"{self.url}/federate", {"match[]": '{job="seekwatch"}'}).text

    def firing(self) -> list[dict[str, Any]]:
        """Return the alerts that fire now, the watchdog left out."""
        data = _get(f"{self.url}/api/v1/alerts").json()["data"]
        return [
            alert
            for alert in cast("list[dict[str, Any]]", data["alerts"])
            if alert["state"] == "firing" and alert["labels"]["alertname"] != "Watchdog"
        ]


class Traffic(Program):
    """The instrumented agent at work.

    Args:
        proxy: URL of the local web.
        rate: questions a second.
        forget_year_after: seconds since the epoch from which the rewriter drops the year.
    """

    def __init__(
        self, proxy: str, monitor: Monitor, folder: Path, *, rate: float, forget_year_after: float
    ) -> None:
        self._told = 0
        command = [
            sys.executable, "-m", "demo.traffic", "--proxy", proxy, "--endpoint", monitor.otlp,
            "--rate", str(rate), "--forget-year-after", str(forget_year_after),
        ]  # fmt: skip
        # The batch processor's usual five seconds would be a quarter of what the demo waits for.
        own = {"OTEL_BSP_SCHEDULE_DELAY": str(EXPORT_MILLISECONDS)}
        super().__init__("agent", command, folder, agent_environment(os.environ, own))

    def complaints(self) -> list[str]:
        """Return what the agent has said since the last call: it speaks when a question failed."""
        lines = self.lines()
        new, self._told = lines[self._told :], len(lines)
        return new


def _get(url: str, parameters: dict[str, str] | None = None) -> httpx.Response:
    response = httpx.get(url, params=parameters, timeout=_ANSWER_SECONDS, trust_env=False)
    response.raise_for_status()
    return response
