"""The way from an agent to hosts of the real names, which end at servers on loopback.

A proxy that agents' libraries find by the environment, as behind a company's firewall: it takes
`CONNECT`, speaks TLS for the host with a certificate of its own authority, and passes the bytes on.
So an agent runs as it stands, with `https://api.openai.com` in it and no address changed.
"""

import contextlib
import selectors
import socket
import ssl
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Final

import trustme

from tests.services.loopback import LoopbackServer

_CHUNK: Final = 65536
DIRECT: Final = "127.0.0.1,localhost"
"""What is reached without the proxy."""


class Internet(LoopbackServer):
    """A context manager that serves the proxy.

    Args:
        hosts: `host:port` on loopback of each host that there is.
        folder: where the authority's certificate is put.
    """

    def __init__(self, hosts: Mapping[str, str], folder: Path) -> None:
        self.reached: list[str] = []
        """Hosts of the connections that were made, in order."""
        self._hosts = dict(hosts)
        self._bundle = folder / "authority.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self._bundle)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert(*hosts).configure_cert(self._context)
        super().__init__(self._handler())

    @property
    def variables(self) -> dict[str, str]:
        """What a process is given so that its HTTP libraries go this way."""
        proxies = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), self.url)
        bundles = dict.fromkeys(("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"), str(self._bundle))
        return {**proxies, **bundles, "NO_PROXY": DIRECT, "no_proxy": DIRECT}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        hosts, context, reached = self._hosts, self._context, self.reached

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self) -> None:
                host = self.path.partition(":")[0]
                if host not in hosts:
                    self.send_error(502, "there is no such host")
                    return
                reached.append(host)
                self.send_response(200)
                self.end_headers()
                self.close_connection = True
                address, _, port = hosts[host].partition(":")
                # A client that goes away in the middle is no failure of the proxy.
                with (
                    contextlib.suppress(OSError),
                    context.wrap_socket(self.connection, server_side=True) as client,
                    socket.create_connection((address, int(port))) as server,
                ):
                    _pass_on(client, server)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        return Handler


def _pass_on(client: ssl.SSLSocket, server: socket.socket) -> None:
    """Pass bytes both ways until one side has ended."""
    with selectors.DefaultSelector() as waiting:
        waiting.register(client, selectors.EVENT_READ, server)
        waiting.register(server, selectors.EVENT_READ, client)
        while True:
            for key, _ in waiting.select():
                source: socket.socket = key.fileobj  # type: ignore[assignment]
                data = source.recv(_CHUNK)
                if not data:
                    return
                while isinstance(source, ssl.SSLSocket) and source.pending():
                    data += source.recv(_CHUNK)
                key.data.sendall(data)
