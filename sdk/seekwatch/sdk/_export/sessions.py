"""The HTTP session of our exporters: no answer of a collector may cost more than it is worth.

The stock exporter reads an answer to its end, however long or slow it is; takes a redirect for a
success, or follows it with the request's body gone; in some releases sends again what a server has
failed on for good; and in a forked child goes on with the connections of its parent.
"""

import os
import time
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter

from seekwatch.sdk._guard import guard

ANSWER_BYTES: Final = 64 * 1024
"""How much of an answer is read: a partial success takes some hundred bytes."""
_TRANSIENT: Final = frozenset({429, 502, 503, 504})
"""Statuses after which a request may be sent again (OTLP 1.x, "Retryable Response Codes")."""


class ExportSession(requests.Session):
    """A session that ends every request in its time and notes how the last one was answered."""

    def __init__(self) -> None:
        super().__init__()
        self.rejected = 0
        """Items that the collector said it did not take out of requests that it took."""
        self.last_answer = "no answer"
        """How the last request ended, for the log."""
        self._process = os.getpid()

    def request(self, method: Any, url: Any, *args: Any, **options: Any) -> requests.Response:
        """Send a request; an answer that is final and no success raises.

        Raises:
            requests.HTTPError: the collector refused for good; sending again would not help.
        """
        self._leave_the_parents_connections()
        self.last_answer = "no answer"
        began = time.monotonic()
        timeout = options.get("timeout")
        options |= {"allow_redirects": False, "stream": True}
        response = super().request(method, url, *args, **options)
        self.last_answer = f"answered {response.status_code}"
        allowed = float(timeout) if isinstance(timeout, int | float) else 10.0
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

    def _leave_the_parents_connections(self) -> None:
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        self.mount("https://", HTTPAdapter())
        self.mount("http://", HTTPAdapter())


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
