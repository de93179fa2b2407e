"""OTLP over gRPC.

Messages are taken as raw bytes: the generated classes would decode every span only for it to be
encoded again. gRPC's own decompression is switched off, because ours has a cap on the result. The
library itself refuses a call whose `grpc-encoding` it does not know, zstd among them; over HTTP
zstd is read.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from seekwatch.collector.encodings import sniff
from seekwatch.collector.receiver_answers import METRICS_SIGNAL, Answer, Answers
from seekwatch.collector.receiver_metrics import RequestResult, Transport
from seekwatch.collector.receiver_tls import Tls
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import Signal

_THREADS: Final = 16
_SERVICES: Final = {
    Signal.TRACES.value: "opentelemetry.proto.collector.trace.v1.TraceService",
    Signal.LOGS.value: "opentelemetry.proto.collector.logs.v1.LogsService",
    METRICS_SIGNAL: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_CODES: Final = {
    RequestResult.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    RequestResult.UNSUPPORTED: grpc.StatusCode.INVALID_ARGUMENT,
    RequestResult.TOO_LARGE: grpc.StatusCode.INVALID_ARGUMENT,
    RequestResult.UNAUTHORIZED: grpc.StatusCode.UNAUTHENTICATED,
    RequestResult.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    RequestResult.ERROR: grpc.StatusCode.INTERNAL,
}


class GrpcServer:
    """The three OTLP services on one port.

    Raises:
        ConfigurationError: the address cannot be bound.
    """

    def __init__(
        self, answers: Answers, host: str, port: int, tls: Tls | None, max_request_bytes: int
    ) -> None:
        self._server = grpc.server(
            ThreadPoolExecutor(_THREADS, thread_name_prefix="seekwatch-grpc"),
            options=[
                ("grpc.max_receive_message_length", max_request_bytes),
                ("grpc.per_message_decompression", 0),
                ("grpc.so_reuseport", 0),
            ],
        )
        for signal, service in _SERVICES.items():
            methods: dict[str, Any] = {
                "Export": grpc.unary_unary_rpc_method_handler(_export(answers, signal))
            }
            handler = grpc.method_handlers_generic_handler(service, methods)
            self._server.add_generic_rpc_handlers((handler,))
        self.port: Final = self._bind(host, port, tls)

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()

    def stop(self, deadline: float) -> None:
        """End requests in good order, or after `deadline` seconds anyway."""
        self._server.stop(deadline).wait(deadline + 1.0)

    def _bind(self, host: str, port: int, tls: Tls | None) -> int:
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            if tls is None:
                return self._server.add_insecure_port(address)
            certificate, key, authority = tls.read()
            credentials = grpc.ssl_server_credentials(
                [(key, certificate)], authority, require_client_auth=authority is not None
            )
            return self._server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise ConfigurationError(
                "receiver.grpc_port", address, f"{error}; name another address"
            ) from error


def _export(answers: Answers, signal: str) -> Callable[[bytes, grpc.ServicerContext], bytes]:
    def export(request: bytes, context: grpc.ServicerContext) -> bytes:
        metadata: dict[str, str | bytes] = dict(context.invocation_metadata())
        if not answers.is_authorized(metadata.get("authorization")):
            _fail(context, answers.unauthorized(signal, Transport.GRPC))
        answer = answers.answer(signal, Transport.GRPC, request, sniff(request))
        if answer.response is None:
            _fail(context, answer)
        return bytes(answer.response.SerializeToString())

    return export


def _fail(context: grpc.ServicerContext, answer: Answer) -> NoReturn:
    code = _CODES[answer.result]
    number: Any = code.value[0]
    status = Status(code=number, message=answer.message)
    if answer.retry_after is not None:
        delay = Duration()
        delay.FromMilliseconds(int(answer.retry_after * 1000))
        detail = AnyMessage()
        detail.Pack(RetryInfo(retry_delay=delay))
        status.details.append(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, answer.message)
