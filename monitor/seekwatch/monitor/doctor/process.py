"""Is somebody listening and scoring where the settings say so?"""

import socket
from collections.abc import Iterator
from typing import Final

import httpx

from seekwatch.monitor.settings.model import Settings

from .findings import Finding, note, ok, wrong

_SECONDS: Final = 2.0
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - compared with, not bound


def examine_processes(settings: Settings) -> Iterator[Finding]:
    """Ask the worker's probe and try the receiver's ports."""
    yield from _worker(settings)
    receiver = settings.receiver
    for name, port in (("OTLP/gRPC", receiver.grpc_port), ("OTLP/HTTP", receiver.http_port)):
        if port:
            yield _port(name, _host(receiver.host), port)


def _worker(settings: Settings) -> Iterator[Finding]:
    metrics = settings.metrics
    if not metrics.port:
        return
    url = f"http://{_host(metrics.host)}:{metrics.port}/readyz"
    try:
        answer = httpx.get(url, timeout=_SECONDS, trust_env=False)
    except httpx.HTTPError:
        yield wrong(
            "worker",
            f"nobody answers at {url}",
            "start `seekwatch up` or `seekwatch worker`; if it listens elsewhere, say so by "
            "--set metrics.port=…",
        )
        return
    text = answer.text.strip()
    if answer.is_success:
        yield ok("worker", f"ready: {text}")
    else:
        yield wrong("worker", f"not ready: {text}", "its log says more")


def _port(name: str, host: str, port: int) -> Finding:
    try:
        with socket.create_connection((host, port), timeout=_SECONDS):
            return ok("receiver", f"{name} listens at {host}:{port}")
    except OSError as error:
        return note(
            "receiver",
            f"{name} is not to be had at {host}:{port} ({error})",
            "fine where a Collector receives; else start `seekwatch up` or `seekwatch receive`",
        )


def _host(host: str) -> str:
    return "127.0.0.1" if host in _EVERYWHERE else host
