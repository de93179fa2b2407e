"""The OTLP receiver: gRPC and HTTP in front of a log.

For the embedded mode, and for small installations without a Collector; a request is answered with
success when it is durable, never before.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from seekwatch.collector.intake import DEFAULT_MAX_RECORD_BYTES, Intake
from seekwatch.collector.receiver_answers import Answers
from seekwatch.collector.receiver_grpc import GrpcServer
from seekwatch.collector.receiver_http import HttpServer, otlp_application
from seekwatch.collector.receiver_metrics import NoMetrics, ReceiverMetrics
from seekwatch.collector.receiver_tls import Tls
from seekwatch.collector.redaction import SpanRedaction
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import Appender

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverSettings:
    """How a receiver listens.

    Attributes:
        host: address to bind; the default is reachable from this machine alone.
        grpc_port, http_port: OTLP's own ports; 0 takes a free one, None leaves the transport out.
        tls: certificate and key; None serves in the clear.
        token: bearer token that every request must bear; None asks for none.
        max_request_bytes: of a request, before and after decompression.
        max_record_bytes: of a record of the log; a larger span is rejected.
    """

    host: str = "127.0.0.1"
    grpc_port: int | None = 4317
    http_port: int | None = 4318
    tls: Tls | None = None
    token: str | None = None
    max_request_bytes: int = 64 << 20
    max_record_bytes: int = DEFAULT_MAX_RECORD_BYTES


class Receiver:
    """Takes OTLP from `start()` to `stop()`.

    Args:
        appender: where records go, called from many threads. It stays open: whoever made it
            closes it, after `stop()`.
        settings: how to listen.
        redaction: applied before anything is stored.
        metrics: counts requests and spans.
        is_ready: what `/readyz` asks beside the receiver's own state.
    """

    def __init__(
        self,
        appender: Appender,
        settings: ReceiverSettings | None = None,
        *,
        redaction: SpanRedaction | None = None,
        metrics: ReceiverMetrics | None = None,
        is_ready: Callable[[], bool] | None = None,
    ) -> None:
        self._settings = settings or ReceiverSettings()
        self._answers = Answers(
            Intake(appender, redaction, max_record_bytes=self._settings.max_record_bytes),
            metrics or NoMetrics(),
            token=self._settings.token,
            max_request_bytes=self._settings.max_request_bytes,
        )
        self._is_ready = is_ready
        self._running = False
        self._grpc: GrpcServer | None = None
        self._http: HttpServer | None = None

    @property
    def grpc_port(self) -> int:
        """The port that gRPC listens on; 0 when it does not."""
        return self._grpc.port if self._grpc else 0

    @property
    def http_port(self) -> int:
        """The port that HTTP listens on; 0 when it does not."""
        return self._http.port if self._http else 0

    def start(self) -> None:
        """Listen; calling it again does nothing.

        Raises:
            ConfigurationError: an address cannot be bound, a certificate not be read, or no
                transport is left.
        """
        if self._running:
            return
        settings = self._settings
        if settings.grpc_port is None and settings.http_port is None:
            raise ConfigurationError(
                "receiver.grpc_port, receiver.http_port", None, "name a port for one of them"
            )
        if settings.tls is not None:
            settings.tls.check()
        try:
            self._listen()
        except BaseException:
            self._close(0.0)
            raise
        self._running = True
        _LOG.info("OTLP on %s, gRPC %d, HTTP %d", settings.host, self.grpc_port, self.http_port)

    def stop(self, deadline: float = 5.0) -> None:
        """Stop listening; requests at work have `deadline` seconds. Again: does nothing."""
        if not self._running:
            return
        self._running = False
        self._close(deadline)

    def _listen(self) -> None:
        settings = self._settings
        if settings.http_port is not None:
            application = otlp_application(self._answers, settings.max_request_bytes, self._ready)
            self._http = HttpServer(application, settings.host, settings.http_port, settings.tls)
        if settings.grpc_port is not None:
            self._grpc = GrpcServer(
                self._answers,
                settings.host,
                settings.grpc_port,
                settings.tls,
                settings.max_request_bytes,
            )
        # Both addresses are ours before either serves.
        for server in (self._http, self._grpc):
            if server is not None:
                server.start()

    def _close(self, deadline: float) -> None:
        until = time.monotonic() + deadline
        for server in (self._grpc, self._http):
            if server is not None:
                server.stop(max(0.0, until - time.monotonic()))

    def _ready(self) -> bool:
        return self._running and (self._is_ready is None or self._is_ready())
