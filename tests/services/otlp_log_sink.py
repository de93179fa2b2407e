"""An OTLP backend for log records, over HTTP and gRPC, that answers as it is told to."""

import gzip
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, Self

import grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tests.services.loopback import LoopbackServer
from tests.services.otlp_sink import plain
from tests.services.ports import LOOPBACK

_SERVICE = "opentelemetry.proto.collector.logs.v1.LogsService"


class LogSink:
    """Keeps what comes.

    Attributes:
        requests: decoded, in order; only those that were answered with success.
        headers: of every request, names in lower case.
        answers: HTTP status (or gRPC status code) and headers of the next requests; success when
            it is empty.
        refused: log records to report as refused in a partial success.
    """

    def __init__(self) -> None:
        self.requests: list[ExportLogsServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[tuple[Any, dict[str, str]]] = []
        self.refused = 0

    @property
    def records(self) -> list[LogRecord]:
        """Every log record that came."""
        return [
            record
            for request in self.requests
            for resource_logs in request.resource_logs
            for scope_logs in resource_logs.scope_logs
            for record in scope_logs.log_records
        ]

    @property
    def attributes(self) -> list[dict[str, Any]]:
        """The attributes of every log record that came."""
        return [plain(record.attributes) for record in self.records]

    def take(self, body: bytes) -> bytes:
        """Keep a request and answer it."""
        self.requests.append(ExportLogsServiceRequest.FromString(body))
        answer = ExportLogsServiceResponse()
        if self.refused:
            answer.partial_success.rejected_log_records = self.refused
            answer.partial_success.error_message = "too old"
        return answer.SerializeToString()


class HttpLogSink(LogSink, LoopbackServer):
    """OTLP over HTTP on loopback; a context manager."""

    def __init__(self) -> None:
        LogSink.__init__(self)
        LoopbackServer.__init__(self, _handler(self))


class GrpcLogSink(LogSink):
    """OTLP over gRPC on loopback; a context manager."""

    def __init__(self) -> None:
        super().__init__()
        self._server = grpc.server(ThreadPoolExecutor(2))
        method: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(
            self._export
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(_SERVICE, {"Export": method}),)
        )
        self._port = self._server.add_insecure_port(f"{LOOPBACK}:0")

    @property
    def url(self) -> str:
        """Base address."""
        return f"grpc://{LOOPBACK}:{self._port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.stop(None).wait()

    def _export(self, body: bytes, context: grpc.ServicerContext) -> bytes:
        metadata: Any = context.invocation_metadata()
        self.headers.append({str(key): str(value) for key, value in metadata})
        if self.answers:
            code, _ = self.answers.pop(0)
            context.abort(code, "as told")
        return self.take(body)


def _handler(sink: LogSink) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sink.headers.append({key.lower(): value for key, value in self.headers.items()})
            status, headers = sink.answers.pop(0) if sink.answers else (200, {})
            if self.path != "/v1/logs":
                status = 404
            answer = sink.take(gzip.decompress(body)) if status == 200 else b"as told"
            self.send_response_only(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing: what came is in the sink."""

    return Handler
