"""An OTLP server that decodes and keeps what it gets, over HTTP or gRPC; and one that is a hole."""

import gzip
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, Self

from google.protobuf.message import Message
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from tests.services.loopback import LoopbackServer
from tests.services.ports import LOOPBACK
from tests.services.waiting import eventually


@dataclass(frozen=True)
class SunkSpan:
    """One span as it came over the wire."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    status: int
    """0 unset, 1 ok, 2 error."""
    message: str
    scope: str
    resource: dict[str, Any]
    dropped: int

    @property
    def openinference_kind(self) -> str | None:
        """The kind that OpenInference gives, if any."""
        return self.attributes.get("openinference.span.kind")


class _Store:
    def __init__(self) -> None:
        self.requests: list[bytes] = []
        """Every body that came, decompressed, in order."""
        self.metric_requests: list[ExportMetricsServiceRequest] = []
        self.spans: list[SunkSpan] = []
        self.status = 200
        """What trace requests are answered with over HTTP."""

    def kinds(self) -> list[str]:
        """Return the OpenInference kinds that came, sorted."""
        return sorted(span.openinference_kind or "" for span in self.spans)

    def of_kind(self, kind: str) -> list[SunkSpan]:
        """Return the spans of one OpenInference kind, by start."""
        found = [span for span in self.spans if span.openinference_kind == kind]
        return sorted(found, key=lambda span: span.start_ns)

    def one(self, kind: str) -> SunkSpan:
        """Return the only span of a kind."""
        (span,) = self.of_kind(kind)
        return span

    def wait_for_spans(self, count: int, timeout: float = 60.0) -> list[SunkSpan]:
        """Return the spans when at least `count` have come."""
        return eventually(
            lambda: self.spans if len(self.spans) >= count else None,
            what=f"{count} spans at the sink (has {len(self.spans)})",
            timeout=timeout,
        )

    def take_traces(self, body: bytes) -> None:
        """Decode one trace request."""
        self.requests.append(body)
        request = ExportTraceServiceRequest.FromString(body)
        for resource_spans in request.resource_spans:
            resource = plain(resource_spans.resource.attributes)
            for scope_spans in resource_spans.scope_spans:
                for span in scope_spans.spans:
                    self.spans.append(
                        SunkSpan(
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent_id=span.parent_span_id.hex(),
                            name=span.name,
                            kind=span.kind,
                            start_ns=span.start_time_unix_nano,
                            end_ns=span.end_time_unix_nano,
                            attributes=plain(span.attributes),
                            events=[(e.name, plain(e.attributes)) for e in span.events],
                            status=span.status.code,
                            message=span.status.message,
                            scope=scope_spans.scope.name,
                            resource=resource,
                            dropped=span.dropped_attributes_count,
                        )
                    )

    def take_metrics(self, body: bytes) -> None:
        """Decode one metrics request."""
        self.requests.append(body)
        self.metric_requests.append(ExportMetricsServiceRequest.FromString(body))

    def histogram(self, name: str) -> Any:
        """Return the newest data point of a histogram, None when it has not come."""
        found: Any = None
        for request in self.metric_requests:
            for resource_metrics in request.resource_metrics:
                for scope_metrics in resource_metrics.scope_metrics:
                    for metric in scope_metrics.metrics:
                        if metric.name == name:
                            found = metric.histogram.data_points[0]
        return found


def plain(pairs: Any) -> dict[str, Any]:
    """Return OTLP key-value pairs as Python values."""
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        pairs: list[KeyValue] = list(value.kvlist_value.values)
        return plain(pairs)
    return None if kind is None else getattr(value, kind)


class HttpSink(_Store, LoopbackServer):
    """OTLP over HTTP on loopback; a context manager."""

    def __init__(self) -> None:
        _Store.__init__(self)
        LoopbackServer.__init__(self, self._handler())

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                status = store.status if self.path.endswith("/v1/traces") else 200
                if status != 200:
                    store.requests.append(body)
                elif self.path.endswith("/v1/traces"):
                    store.take_traces(body)
                else:
                    store.take_metrics(body)
                self.send_response(status)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                """Say nothing: what came is in the store."""

        return Handler


class GrpcSink(_Store):
    """OTLP traces over gRPC on loopback; a context manager."""

    def __init__(self) -> None:
        super().__init__()
        import grpc

        take = self.take_traces

        def export(request: Message, context: object) -> ExportTraceServiceResponse:
            take(request.SerializeToString())
            return ExportTraceServiceResponse()

        self._server: Any = grpc.server(ThreadPoolExecutor(2))
        service = "opentelemetry.proto.collector.trace.v1.TraceService"
        method = grpc.unary_unary_rpc_method_handler(
            export,
            request_deserializer=ExportTraceServiceRequest.FromString,
            response_serializer=ExportTraceServiceResponse.SerializeToString,
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, {"Export": method}),)
        )
        self._port: int = self._server.add_insecure_port(f"{LOOPBACK}:0")

    @property
    def url(self) -> str:
        """Base address, as `endpoint` takes it."""
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


class BlackHole:
    """A port that takes connections and never answers; a context manager."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind((LOOPBACK, 0))
        # The backlog takes the connection; nobody accepts it.
        self._socket.listen(16)

    @property
    def url(self) -> str:
        """Base address, as `endpoint` takes it."""
        return f"http://{LOOPBACK}:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._socket.close()
