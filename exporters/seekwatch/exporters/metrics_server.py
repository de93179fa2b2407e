"""The HTTP side of a worker: `/metrics`, `/healthz`, `/readyz`, in a thread of its own.

It shares nothing with the worker's loop but the gateway, so a probe is answered while a slice of
scoring runs, and a slow scraper holds up nobody.
"""

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Generator
from typing import Final, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from seekwatch.core.errors import ConfigurationError

from .metrics import MetricsGateway

_log = logging.getLogger(__name__)

CONNECTIONS: Final = 64
"""More at once than any set of scrapers and probes needs; further ones are answered 503."""

IDLE_SECONDS: Final = 75
"""How long a connection is kept for the next scrape (the usual interval is at most 60 s)."""

_COMPRESSION_LEVEL: Final = 1


class Readiness(NamedTuple):
    """Whether something is ready or alive, and what to tell whoever asks."""

    ready: bool
    reason: str = "ok"


def always_ready() -> Readiness:
    """Say that nothing stands in the way."""
    return Readiness(ready=True)


class MetricsServer:
    """Serves a gateway's page and the two probes.

    Args:
        host: address to bind.
        port: 0 takes a free one; `port` tells which.
        gateway: the metrics.
        readiness: whether traffic may be sent here; called for each `/readyz`.
        health: whether the process should live on; called for each `/healthz`.
    """

    def __init__(
        self,
        host: str,
        port: int,
        gateway: MetricsGateway,
        readiness: Callable[[], Readiness] = always_ready,
        health: Callable[[], Readiness] = always_ready,
    ) -> None:
        self._address = (host, port)
        self._server = _Server(
            uvicorn.Config(
                metrics_application(gateway, readiness, health),
                log_config=None,
                access_log=False,
                lifespan="off",
                limit_concurrency=CONNECTIONS,
                timeout_keep_alive=IDLE_SECONDS,
                server_header=False,
            )
        )
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that is bound, once started."""
        return self._address[1] if self._socket is None else int(self._socket.getsockname()[1])

    def start(self, deadline: float = 10.0) -> None:
        """Bind and serve; returns when requests are answered.

        Raises:
            ConfigurationError: the address cannot be bound.
            TimeoutError: the server did not come up within `deadline` seconds.
        """
        if self._thread is not None:
            return
        self._socket = _bound(*self._address)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="metrics-server", daemon=True
        )
        self._thread.start()
        if not self._server.up.wait(deadline):
            self.stop()
            raise TimeoutError(f"the metrics server did not start within {deadline:g} s")
        _log.info("metrics at http://%s:%d/metrics", self._address[0], self.port)

    def stop(self, deadline: float = 5.0) -> None:
        """End the server; calling it again does nothing."""
        if self._thread is None:
            return
        self._server.should_exit = True
        end = time.monotonic() + deadline
        self._thread.join(deadline / 2)
        if self._thread.is_alive():
            self._server.force_exit = True
            self._thread.join(max(0.0, end - time.monotonic()))
        self._thread = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def metrics_application(
    gateway: MetricsGateway,
    readiness: Callable[[], Readiness] = always_ready,
    health: Callable[[], Readiness] = always_ready,
) -> Starlette:
    """Return the ASGI application, for whoever serves it among other routes."""
    rendering = threading.Lock()

    def metrics(request: Request) -> Response:
        # One page at a time: making it holds the interpreter, and two at once are twice as slow.
        with rendering:
            page = gateway.page(request.headers.get("accept", ""))
        return Response(page.body, headers={"content-type": page.content_type})

    def readyz(request: Request) -> Response:
        return _answer(readiness())

    def healthz(request: Request) -> Response:
        return _answer(health())

    return Starlette(
        routes=[
            Route("/metrics", metrics),
            Route("/readyz", readyz),
            Route("/healthz", healthz),
        ],
        middleware=[
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=_COMPRESSION_LEVEL)
        ],
    )


class _Server(uvicorn.Server):
    """uvicorn, that says when it is up and leaves signals to the process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def _answer(state: Readiness) -> Response:
    return PlainTextResponse(f"{state.reason}\n", 200 if state.ready else 503)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(
            "metrics.port", f"{host}:{port}", f"name one that is free here: {error}"
        ) from error
