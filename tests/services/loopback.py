"""An HTTP server on a free loopback port, for what tests talk to: a web, a backend, a webhook."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.services.ports import LOOPBACK


class LoopbackServer:
    """A context manager that serves with `handler` from entering to leaving."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer((LOOPBACK, 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def authority(self) -> str:
        """`host:port`."""
        return f"{LOOPBACK}:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Base address without a trailing slash."""
        return f"http://{self.authority}"

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
