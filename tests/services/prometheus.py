"""A real Prometheus that scrapes a test's targets and evaluates the project's rules."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from tests.services.plain_http import answers, get, post
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service
from tests.services.prometheus_tools import PrometheusTools
from tests.services.waiting import eventually


class ScrapeJob(msgspec.Struct, frozen=True, kw_only=True):
    """A scrape job with fixed targets."""

    name: str
    """Becomes the label `job`."""
    targets: tuple[str, ...]
    """`host:port` each."""
    path: str = "/metrics"
    labels: Mapping[str, str] = {}


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One series of an instant query's result."""

    metric: dict[str, str]
    value: tuple[float, str]
    """Unix time, and the number as text (`NaN` and `+Inf` occur)."""

    @property
    def number(self) -> float:
        """The value as a float."""
        return float(self.value[1])


class Alert(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An alert as Prometheus sees it."""

    labels: dict[str, str]
    annotations: dict[str, str]
    state: str
    """`pending` or `firing`."""
    active_at: str
    value: str

    @property
    def name(self) -> str:
        """The alert's name."""
        return self.labels["alertname"]


class _QueryData(msgspec.Struct):
    result: list[Sample]


class _QueryAnswer(msgspec.Struct):
    data: _QueryData


class _AlertsData(msgspec.Struct):
    alerts: list[Alert]


class _AlertsAnswer(msgspec.Struct):
    data: _AlertsData


class Prometheus:
    """A Prometheus server; a context manager.

    Args:
        tools: from the fixture `prometheus_tools`.
        rules: rule files, read where they are; `reload()` reads them again.
        scrape: what to scrape.
        scrape_interval: a Prometheus duration; `evaluation_interval` is the same unless given.
        alertmanagers: `host:port` of each.
        flags: further command-line flags.
    """

    def __init__(
        self,
        tools: PrometheusTools,
        *,
        rules: Sequence[Path] = (),
        scrape: Sequence[ScrapeJob] = (),
        scrape_interval: str = "1s",
        evaluation_interval: str | None = None,
        alertmanagers: Sequence[str] = (),
        flags: Sequence[str] = (),
    ) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="seekwatch-prometheus-"))
        self._configuration = {
            "global": {
                "scrape_interval": scrape_interval,
                "scrape_timeout": scrape_interval,
                "evaluation_interval": evaluation_interval or scrape_interval,
            },
            "rule_files": [str(path.resolve()) for path in rules],
            "scrape_configs": [_scrape_config(job) for job in scrape],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": list(alertmanagers)}]}]},
        }
        (port,) = free_ports(1)
        self.address = f"{LOOPBACK}:{port}"
        self.url = f"http://{self.address}"
        self._service = Service(
            "prometheus", self._command(tools, flags), directory=self._directory
        )

    def query(self, expression: str) -> list[Sample]:
        """Return the vector that an instant query gives now.

        Raises:
            OSError: Prometheus refuses the expression.
        """
        body = get(f"{self.url}/api/v1/query", {"query": expression})
        return msgspec.json.decode(body, type=_QueryAnswer).data.result

    def value(self, expression: str) -> float | None:
        """Return the number of the only series that `expression` gives; None when it gives none.

        Raises:
            ValueError: it gives more than one.
        """
        samples = self.query(expression)
        if len(samples) > 1:
            raise ValueError(f"{expression} gives {len(samples)} series")
        return samples[0].number if samples else None

    def alerts(self, name: str | None = None, *, state: str | None = None) -> list[Alert]:
        """Return the active alerts, of one name and in one state or any."""
        answer = msgspec.json.decode(get(f"{self.url}/api/v1/alerts"), type=_AlertsAnswer)
        return [
            alert
            for alert in answer.data.alerts
            if name in (None, alert.name) and state in (None, alert.state)
        ]

    def wait_for_query(self, expression: str, *, timeout: float = 60.0) -> list[Sample]:
        """Return the first non-empty vector that `expression` gives.

        Raises:
            NotInTimeError: it stayed empty for `timeout` seconds.
        """
        return eventually(
            lambda: self.query(expression), what=f"{expression} gives a series", timeout=timeout
        )

    def wait_for_alert(
        self, name: str, *, state: str = "firing", timeout: float = 60.0
    ) -> list[Alert]:
        """Return the alerts of that name and state once there is one; raises as above."""
        return eventually(
            lambda: self.alerts(name, state=state), what=f"{name} is {state}", timeout=timeout
        )

    def reload(self) -> None:
        """Read the configuration and the rule files again.

        Raises:
            OSError: Prometheus refuses them.
        """
        post(f"{self.url}/-/reload")

    def start(self) -> Self:
        """Write the configuration, start and wait until queries are served."""
        configuration = self._directory / "prometheus.yml"
        configuration.write_text(json.dumps(self._configuration))  # JSON is YAML
        self._service.start()
        self._service.wait_ready(lambda: answers(f"{self.url}/-/ready"))
        return self

    def stop(self) -> None:
        """Kill the server and remove its data."""
        self._service.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _command(self, tools: PrometheusTools, flags: Sequence[str]) -> list[str | Path]:
        return [
            tools.prometheus,
            f"--config.file={self._directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._directory / 'data'}",
            f"--web.listen-address={self.address}",
            "--web.enable-lifecycle",
            # Prometheus learns of its Alertmanagers up to 5 s after a start or a reload. What fired
            # before is sent again after this delay, a minute by default.
            "--rules.alert.resend-delay=1s",
            *flags,
        ]


def _scrape_config(job: ScrapeJob) -> dict[str, object]:
    targets = {"targets": list(job.targets), "labels": dict(job.labels)}
    return {"job_name": job.name, "metrics_path": job.path, "static_configs": [targets]}
