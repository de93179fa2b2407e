"""A webhook receiver: what on-call would have got from Alertmanager, kept in a list."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

import msgspec

from tests.services.ports import LOOPBACK
from tests.services.waiting import eventually


class NotifiedAlert(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One alert of a notification."""

    status: str
    """`firing` or `resolved`."""
    labels: dict[str, str]
    annotations: dict[str, str]
    starts_at: str
    ends_at: str
    fingerprint: str

    @property
    def name(self) -> str:
        """The alert's name."""
        return self.labels["alertname"]


class Notification(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One request of Alertmanager's webhook integration (payload version 4)."""

    status: str
    receiver: str
    alerts: tuple[NotifiedAlert, ...]
    group_labels: dict[str, str]
    common_labels: dict[str, str]


class WebhookReceiver:
    """An HTTP server on loopback that answers 200 and keeps what it got; a context manager."""

    def __init__(self) -> None:
        self._notifications: list[Notification] = []
        self._server = ThreadingHTTPServer((LOOPBACK, 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Address for Alertmanager's `webhook_configs`."""
        return f"http://{LOOPBACK}:{self._server.server_port}/"

    @property
    def notifications(self) -> tuple[Notification, ...]:
        """All that came, oldest first."""
        return tuple(self._notifications)

    def alerts(self, name: str | None = None, *, status: str = "firing") -> list[NotifiedAlert]:
        """Return the alerts that came, of one name or of any."""
        return [
            alert
            for notification in self.notifications
            for alert in notification.alerts
            if alert.status == status and name in (None, alert.name)
        ]

    def wait_for(
        self,
        name: str,
        *,
        status: str = "firing",
        where: Callable[[NotifiedAlert], bool] = lambda _: True,
        timeout: float = 60.0,
    ) -> NotifiedAlert:
        """Return the first alert of that name and status that `where` accepts.

        Raises:
            NotInTimeError: none came within `timeout` seconds.
        """

        def found() -> NotifiedAlert | None:
            return next((a for a in self.alerts(name, status=status) if where(a)), None)

        return eventually(found, what=f"a notification of {name} ({status})", timeout=timeout)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        keep = self._notifications.append

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                keep(msgspec.json.decode(body, type=Notification))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                """Say nothing: what came is in the list."""

        return Handler
