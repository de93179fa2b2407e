"""OTLP over HTTP, protobuf and JSON, and the two health pages.

As the OTLP specification has it: `POST /v1/<signal>`, an answer in the request's own encoding, a
`google.rpc.Status` for every failure, 503 with `Retry-After` for what may succeed later.
"""

import math
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Final

import uvicorn
from google.protobuf import json_format
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from seekwatch.collector.encodings import TooLargeError
from seekwatch.collector.receiver_answers import SIGNALS, Answer, Answers
from seekwatch.collector.receiver_metrics import RequestResult, Transport
from seekwatch.collector.receiver_tls import Tls
from seekwatch.core.errors import ConfigurationError

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"

_START_SECONDS: Final = 10.0
_STATUS: Final = {
    RequestResult.OK: (200, "OK"),
    RequestResult.PARTIAL: (200, "OK"),
    RequestResult.INVALID: (400, "INVALID_ARGUMENT"),
    RequestResult.UNSUPPORTED: (415, "INVALID_ARGUMENT"),
    RequestResult.TOO_LARGE: (413, "INVALID_ARGUMENT"),
    RequestResult.UNAUTHORIZED: (401, "UNAUTHENTICATED"),
    RequestResult.UNAVAILABLE: (503, "UNAVAILABLE"),
    RequestResult.ERROR: (500, "INTERNAL"),
}


class HttpServer:
    """Serves one application in a thread of its own.

    Raises:
        ConfigurationError: the address cannot be bound, or the certificate not be read.
    """

    def __init__(self, application: Starlette, host: str, port: int, tls: Tls | None) -> None:
        self._socket = _bound(host, port)
        self.port: Final[int] = self._socket.getsockname()[1]
        settings = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            ssl_certfile=tls.certificate if tls else None,
            ssl_keyfile=tls.key if tls else None,
            ssl_ca_certs=tls.client_ca if tls else None,
            ssl_cert_reqs=ssl.CERT_REQUIRED if tls and tls.client_ca else ssl.CERT_NONE,
        )
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="seekwatch-http", daemon=True
        )

    def start(self) -> None:
        """Begin to serve; returns when requests are taken."""
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise ConfigurationError(
                    "receiver.http_port", self.port, "the HTTP server did not start; see the log"
                )
            time.sleep(0.01)

    def stop(self, deadline: float) -> None:
        """End requests in good order, or after `deadline` seconds anyway."""
        self._server.config.timeout_graceful_shutdown = max(1, math.ceil(deadline))
        self._server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(deadline + 1.0)
        self._socket.close()


def otlp_application(
    answers: Answers, max_request_bytes: int, is_ready: Callable[[], bool]
) -> Starlette:
    """Return the application that takes OTLP and tells its health."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        ready = is_ready()
        return PlainTextResponse("ready\n" if ready else "not ready\n", 200 if ready else 503)

    endpoints = [
        Route(
            f"/v1/{signal}", _Endpoint(answers, signal, max_request_bytes).export, methods=["POST"]
        )
        for signal in SIGNALS
    ]
    return Starlette(routes=[*endpoints, Route("/healthz", healthz), Route("/readyz", readyz)])


class _Endpoint:
    """One signal's URL."""

    def __init__(self, answers: Answers, signal: str, max_request_bytes: int) -> None:
        self._answers = answers
        self._signal = signal
        self._max_request_bytes = max_request_bytes

    async def export(self, request: Request) -> Response:
        """Answer one request."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        answer = await self._answer(request, kind)
        return _response(answer, JSON if kind == JSON else PROTOBUF)

    async def _answer(self, request: Request, kind: str) -> Answer:
        if not self._answers.is_authorized(request.headers.get("authorization")):
            return self._answers.unauthorized(self._signal, Transport.HTTP)
        if kind not in (PROTOBUF, JSON):
            return self._refuse(
                RequestResult.UNSUPPORTED, f"content type {kind[:60]!r}: send {PROTOBUF} or {JSON}"
            )
        try:
            body = await _body(request, self._max_request_bytes)
        except TooLargeError as error:
            return self._refuse(RequestResult.TOO_LARGE, str(error))
        except ClientDisconnect:
            return self._refuse(RequestResult.INVALID, "the sender went away")
        encoding = request.headers.get("content-encoding", "")
        return await run_in_threadpool(
            self._answers.answer, self._signal, Transport.HTTP, body, encoding
        )

    def _refuse(self, result: RequestResult, message: str) -> Answer:
        answer = Answer(result=result, message=message)
        return self._answers.refuse(self._signal, Transport.HTTP, answer)


async def _body(request: Request, limit: int) -> bytes:
    """Read the body; stop as soon as it is larger than allowed."""
    if int(request.headers.get("content-length") or 0) > limit:
        raise TooLargeError(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLargeError(limit)
    return bytes(body)


def _response(answer: Answer, kind: str) -> Response:
    status, code = _STATUS[answer.result]
    message = answer.response
    headers: dict[str, str] = {}
    if message is None:
        message = Status(code=Code.Value(code), message=answer.message)
    if answer.retry_after is not None:
        headers["retry-after"] = str(math.ceil(answer.retry_after))
    if answer.result is RequestResult.UNAUTHORIZED:
        headers["www-authenticate"] = "Bearer"
    if kind == JSON:
        content = json_format.MessageToJson(message, indent=None).encode()
    else:
        content = message.SerializeToString()
    return Response(content, status, headers, media_type=kind)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        raise ConfigurationError(
            "receiver.http_port", f"{host}:{port}", f"{error.strerror}; name another address"
        ) from error
    return bound
