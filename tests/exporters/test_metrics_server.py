"""The worker's HTTP side answers scrapers and probes, whatever they send."""

import gzip
import socket
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client import CollectorRegistry

from seekwatch.core.errors import ConfigurationError
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.metrics_server import MetricsServer, Readiness


@pytest.fixture
def gateway() -> MetricsGateway:
    return MetricsGateway(CollectorRegistry(), environment={})


@pytest.fixture
def server(gateway: MetricsGateway) -> Iterator[MetricsServer]:
    made = MetricsServer(
        "127.0.0.1", 0, gateway, readiness=lambda: Readiness(False, "no partition is assigned")
    )
    made.start()
    yield made
    made.stop()


def url(server: MetricsServer, path: str) -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def test_probes_say_why(server: MetricsServer) -> None:
    ready = httpx.get(url(server, "/readyz"))
    assert (ready.status_code, ready.text) == (503, "no partition is assigned\n")
    assert httpx.get(url(server, "/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("application/openmetrics-text;version=1.0.0,text/plain;q=0.1", "application/openmetrics"),
        ("application/openmetrics-text;version=bogus;q=x;;", "application/openmetrics"),
        ("text/plain;version=0.0.4", "text/plain; version=0.0.4"),
        ("", "text/plain; version=0.0.4"),
        ("*/*", "text/plain; version=0.0.4"),
    ],
)
def test_the_format_follows_the_accept_header(
    server: MetricsServer, accept: str, content_type: str
) -> None:
    answer = httpx.get(url(server, "/metrics"), headers={"accept": accept})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(content_type)
    assert answer.text.endswith("# EOF\n") == content_type.startswith("application")


def test_pages_are_compressed_for_whom_can_read_it(server: MetricsServer) -> None:
    with httpx.stream("GET", url(server, "/metrics"), headers={"accept-encoding": "gzip"}) as raw:
        assert raw.headers["content-encoding"] == "gzip"
        body = b"".join(raw.iter_raw())
    assert b"seekwatch_up" in gzip.decompress(body)
    plain = httpx.get(url(server, "/metrics"), headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_an_address_that_is_taken_stops_the_start(gateway: MetricsGateway) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=str(port)):
            MetricsServer("127.0.0.1", port, gateway).start()


def test_stopping_twice_and_starting_twice_do_nothing_more(gateway: MetricsGateway) -> None:
    server = MetricsServer("127.0.0.1", 0, gateway)
    server.stop()
    server.start()
    server.start()
    server.stop()
    server.stop()
