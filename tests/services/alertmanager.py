"""A real Alertmanager between a test's Prometheus and its webhook receiver."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from tests.services.plain_http import answers, get
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service
from tests.services.prometheus_tools import PrometheusTools


class RoutedAlert(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An alert as Alertmanager holds it."""

    labels: dict[str, str]
    annotations: dict[str, str]
    fingerprint: str

    @property
    def name(self) -> str:
        """The alert's name."""
        return self.labels["alertname"]


class Alertmanager:
    """An Alertmanager; a context manager.

    Args:
        tools: from the fixture `prometheus_tools`.
        webhook: URL that gets every notification when no `configuration` is given.
        configuration: Alertmanager's own configuration, instead.
    """

    def __init__(
        self,
        tools: PrometheusTools,
        *,
        webhook: str = "",
        configuration: Mapping[str, object] | None = None,
    ) -> None:
        if bool(webhook) == (configuration is not None):
            raise ValueError("give either a webhook or a configuration")
        self._configuration = configuration or webhook_configuration(webhook)
        self._directory = Path(tempfile.mkdtemp(prefix="seekwatch-alertmanager-"))
        (port,) = free_ports(1)
        self.address = f"{LOOPBACK}:{port}"
        self.url = f"http://{self.address}"
        self._service = Service(
            "alertmanager",
            [
                tools.alertmanager,
                f"--config.file={self._directory / 'alertmanager.yml'}",
                f"--storage.path={self._directory / 'data'}",
                f"--web.listen-address={self.address}",
                # A single one: no gossip, no second port.
                "--cluster.listen-address=",
            ],
            directory=self._directory,
        )

    def alerts(self, name: str | None = None) -> list[RoutedAlert]:
        """Return the alerts that it holds, of one name or of any."""
        held = msgspec.json.decode(get(f"{self.url}/api/v2/alerts"), type=list[RoutedAlert])
        return [alert for alert in held if name in (None, alert.name)]

    def start(self) -> Self:
        """Write the configuration, start and wait until it is ready."""
        # JSON is YAML.
        text = json.dumps(dict(self._configuration))
        (self._directory / "alertmanager.yml").write_text(text)
        self._service.start()
        self._service.wait_ready(lambda: answers(f"{self.url}/-/ready"))
        return self

    def stop(self) -> None:
        """Kill it and remove its data."""
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


def webhook_configuration(url: str) -> dict[str, object]:
    """Send each alert at once to one webhook: tests wait for alerts, not for groups to fill."""
    return {
        "route": {
            "receiver": "webhook",
            "group_by": ["..."],
            "group_wait": "0s",
            "group_interval": "1s",
            "repeat_interval": "1h",
        },
        "receivers": [
            {"name": "webhook", "webhook_configs": [{"url": url, "send_resolved": True}]}
        ],
    }
