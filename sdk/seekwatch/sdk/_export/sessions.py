"""The HTTP session of our exporters: no answer of a collector may cost more than it is worth.

The stock exporter reads an answer to its end, however long or slow it is; takes a redirect for a
success, or follows it with the request's body gone; in some releases sends again what a server has
failed on for good; and in a forked child goes on with the connections of its parent. Where nobody
listens, it waits for its next try even at the end of the process: so that wait is here.
"""

import os
import threading
import time
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from seekwatch.sdk._guard import guard

ANSWER_BYTES: Final = 64 * 1024
"""How much of an answer is read: a partial success takes some hundred bytes."""
_TRANSIENT: Final = frozenset({429, 502, 503, 504})
"""Statuses after which a request may be sent again (OTLP 1.x, "Retryable Response Codes")."""


_FIRST_PAUSE_SECONDS: Final = 1.0
"""Before a second try where nobody listens; twice as long before each further one."""


class NobodyListensError(requests.RequestException):
    """A refused connection that is not tried again; the stock exporter takes it for final."""


class ExportSession(requests.Session):
    """A session that ends every request in its time and notes how the last one was answered."""

    def __init__(self) -> None:
        super().__init__()
        self.rejected = 0
        """Items that the collector said it did not take out of requests that it took."""
        self.last_answer = "no answer"
        """How the last request ended, for the log."""
        self.nobody_at: str | None = None
        """Where the last request found nobody listening, without its path."""
        self._ending = threading.Event()
        self._process = os.getpid()

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        """Send a request; an answer that is final and no success raises.

        Raises:
            requests.HTTPError: the collector refused for good; sending again would not help.
            NobodyListensError: nobody did in all that time.
        """
        self._leave_the_parents_connections()
        self.last_answer = "no answer"
        began = time.monotonic()
        timeout = options.get("timeout")
        allowed = float(timeout) if isinstance(timeout, int | float) else 10.0
        options |= {"allow_redirects": False, "stream": True}
        response = self._sent(began + allowed, method, url, *args, **options)
        self.nobody_at = None
        self.last_answer = f"answered {response.status_code}"
        body = b""
        with guard("reading a collector's answer"):
            body = _read(response, began + allowed)
        # What `content` of the response returns; nothing more is read for it.
        response._content = body
        response._content_consumed = True  # type: ignore[attr-defined]
        if response.status_code >= 300 and response.status_code not in _TRANSIENT:
            raise requests.HTTPError(f"the collector {self.last_answer}", response=response)
        if 200 <= response.status_code < 300 and body:
            with guard("reading a partial success"):
                self.rejected += _rejected(response, body)
        return response

    @property
    def is_hurried(self) -> bool:
        """Whether the process ends."""
        return self._ending.is_set()

    def hurry(self) -> None:
        """Let a refused connection be tried once more from now on: the process ends."""
        self._ending.set()

    def _sent(
        self, deadline: float, method: Any, url: Any, *args: Any, **options: Any
    ) -> requests.Response:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            is_last = self._ending.is_set()
            try:
                return super().request(method, url, *args, **options)
            except requests.ConnectionError as error:
                if not _is_refused(error):
                    raise
                parts = urlsplit(str(url))
                self.nobody_at = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
                self.last_answer = f"nobody listens at {self.nobody_at}"
                if is_last or time.monotonic() + pause > deadline:
                    raise NobodyListensError(self.last_answer) from error
            self._ending.wait(pause)
            pause *= 2

    def _leave_the_parents_connections(self) -> None:
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        # Its lock may have been taken by a thread that is not here.
        self._ending = threading.Event()
        self.mount("https://", HTTPAdapter())
        self.mount("http://", HTTPAdapter())


def _is_refused(error: BaseException) -> bool:
    """Tell a port that nobody listens at, of the collector itself and not of a proxy before it."""
    if isinstance(error, requests.exceptions.ProxyError):
        return False
    found: BaseException | None = error
    for _ in range(8):
        if found is None or isinstance(found, ConnectionRefusedError):
            break
        found = found.__cause__ or found.__context__
    return isinstance(found, ConnectionRefusedError)


def _read(response: requests.Response, deadline: float) -> bytes:
    """Read a body up to its bound and its time; whatever is left costs the connection."""
    raw: Any = response.raw
    read: Any = getattr(raw, "read1", None)
    parts: list[bytes] = []
    size = 0
    try:
        while read is not None and size < ANSWER_BYTES and time.monotonic() < deadline:
            part = read(ANSWER_BYTES - size, decode_content=False)
            if not part:
                # The end: the connection can be used again.
                raw.release_conn()
                return b"".join(parts)
            parts.append(part)
            size += len(part)
    except Exception:  # noqa: BLE001 - the status has come; a body cut short changes nothing
        parts.clear()
    response.close()
    return b"".join(parts)


def _rejected(response: requests.Response, body: bytes) -> int:
    if "protobuf" not in response.headers.get("content-type", ""):
        return 0
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceResponse,
    )

    try:
        answer = ExportTraceServiceResponse.FromString(body)
    except DecodeError:
        return 0
    return int(answer.partial_success.rejected_spans)
