"""The receiver as senders see it: real OTLP exporters, and requests that no exporter would send."""

import gzip
import json
import logging
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import trustme
import zstandard
from google.protobuf import json_format
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetrics
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpMetrics
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.collector.receiver import Receiver, ReceiverSettings
from seekwatch.collector.receiver_metrics import RequestResult, SpanResult, Transport
from seekwatch.collector.receiver_tls import Tls
from seekwatch.core.errors import ConfigurationError, RetryableError
from seekwatch.core.otlp.requests import raw_items
from seekwatch.core.records import LogRecord, NewRecord, Signal
from tests.services.otlp_requests import span, trace_id, trace_request

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
LIMIT = 1 << 20
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Counts:
    """Receiver metrics that a test can read."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []
        self.span_counts: dict[str, int] = {}

    def request(self, signal: str, transport: Transport, result: RequestResult) -> None:
        self.requests.append((signal, transport.value, result.value))

    def spans(self, result: SpanResult, count: int) -> None:
        self.span_counts[result.value] = self.span_counts.get(result.value, 0) + count


class Unavailable:
    """A log that takes nothing now."""

    def append(self, records: Sequence[NewRecord]) -> None:
        raise RetryableError("the log is full", retry_after=7.0)

    def close(self) -> None:
        pass


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    opened = EmbeddedLog(tmp_path / "log.db")
    yield opened
    opened.close()


@pytest.fixture
def counts() -> Counts:
    return Counts()


Start = Callable[..., Receiver]


@pytest.fixture
def start(log: EmbeddedLog, counts: Counts) -> Iterator[Start]:
    started: list[Receiver] = []

    def start(appender: Any = None, is_ready: Any = None, **settings: Any) -> Receiver:
        defaults: dict[str, Any] = {"grpc_port": 0, "http_port": 0, "max_request_bytes": LIMIT}
        receiver = Receiver(
            appender or log.appender(),
            ReceiverSettings(**(defaults | settings)),
            metrics=counts,
            is_ready=is_ready,
        )
        receiver.start()
        started.append(receiver)
        return receiver

    yield start
    for receiver in started:
        receiver.stop()


@pytest.fixture
def receiver(start: Start) -> Receiver:
    return start()


def url(receiver: Receiver, signal: str = "traces", scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{receiver.http_port}/v1/{signal}"


def post(receiver: Receiver, content: bytes, **headers: str) -> httpx.Response:
    return httpx.post(url(receiver), content=content, headers=PROTOBUF | headers)


def stored(log: EmbeddedLog, signal: Signal = Signal.TRACES) -> list[LogRecord]:
    reader = log.trace_log()
    try:
        records: list[LogRecord] = []
        while batch := reader.read(0.05).records:
            records += batch
    finally:
        reader.close()
    return [record for record in records if record.signal is signal]


def stored_spans(log: EmbeddedLog) -> list[Span]:
    return [
        Span.FromString(item.raw)
        for record in stored(log)
        for item in raw_items(record.value, Signal.TRACES)
    ]


def request(count: int = 3) -> bytes:
    return trace_request([span(number) for number in range(count)]).SerializeToString()


def call(receiver: Receiver, body: bytes, **metadata: str) -> bytes:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        export: Any = channel.unary_unary(EXPORT)
        answer: bytes = export(body, metadata=tuple(metadata.items()), timeout=10)
    return answer


def failed_call(receiver: Receiver, body: bytes, **metadata: str) -> Any:
    with pytest.raises(grpc.RpcError) as caught:
        call(receiver, body, **metadata)
    return caught.value


def export_spans(exporter: SpanExporter) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("t").start_as_current_span("from-the-sdk"):
        pass
    provider.shutdown()


def export_metrics(exporter: MetricExporter) -> None:
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=60_000)
    provider = MeterProvider([reader], shutdown_on_exit=False)
    provider.get_meter("m").create_counter("c").add(1)
    provider.shutdown()


@pytest.mark.parametrize("compression", list(Compression))
def test_the_http_exporter_is_served(
    receiver: Receiver, log: EmbeddedLog, compression: Compression, counts: Counts
) -> None:
    export_spans(HttpSpans(url(receiver), compression=compression))
    assert [item.name for item in stored_spans(log)] == ["from-the-sdk"]
    assert counts.requests == [("traces", "http", "ok")]
    assert counts.span_counts["accepted"] == 1


@pytest.mark.parametrize("compression", list(grpc.Compression))
def test_the_grpc_exporter_is_served(
    receiver: Receiver, log: EmbeddedLog, compression: grpc.Compression, counts: Counts
) -> None:
    endpoint = f"127.0.0.1:{receiver.grpc_port}"
    export_spans(GrpcSpans(endpoint, insecure=True, compression=compression))
    assert [item.name for item in stored_spans(log)] == ["from-the-sdk"]
    assert counts.requests == [("traces", "grpc", "ok")]


def test_metrics_are_accepted_and_dropped(
    receiver: Receiver, log: EmbeddedLog, counts: Counts, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        export_metrics(HttpMetrics(url(receiver, "metrics")))
        export_metrics(GrpcMetrics(f"127.0.0.1:{receiver.grpc_port}", insecure=True))
    assert counts.requests == [("metrics", "http", "ok"), ("metrics", "grpc", "ok")]
    assert [item for item in caplog.records if item.name.startswith("opentelemetry")] == []
    assert stored(log) == []


def test_logs_are_served_over_grpc(receiver: Receiver, counts: Counts) -> None:
    exporter = GrpcLogs(f"127.0.0.1:{receiver.grpc_port}", insecure=True)
    exporter.export([])
    exporter.shutdown()
    assert counts.requests == [("logs", "grpc", "ok")]


def test_json_with_hex_ids_is_read_and_answered_in_json(
    receiver: Receiver, log: EmbeddedLog
) -> None:
    document = {
        "resourceSpans": [
            {
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": trace_id(7).hex(),
                                "spanId": "00f067aa0ba902b7",
                                "name": "json",
                                "startTimeUnixNano": "1",
                                "endTimeUnixNano": "2",
                            }
                        ]
                    }
                ]
            }
        ]
    }
    answer = httpx.post(url(receiver), json=document)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {}
    assert [record.key for record in stored(log)] == [trace_id(7).hex().encode()]


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [("gzip", gzip.compress), ("zstd", zstandard.compress), ("deflate", zlib.compress)],
)
def test_compressed_requests_are_read_over_both_transports(
    receiver: Receiver, log: EmbeddedLog, encoding: str, encode: Callable[[bytes], bytes]
) -> None:
    assert post(receiver, encode(request()), **{"content-encoding": encoding}).status_code == 200
    call(receiver, encode(request()))
    assert len(stored_spans(log)) == 6


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [("gzip", gzip.compress), ("zstd", zstandard.compress), ("deflate", zlib.compress)],
)
def test_bombs_are_refused_over_both_transports(
    receiver: Receiver, counts: Counts, encoding: str, encode: Callable[[bytes], bytes]
) -> None:
    bomb = encode(bytes(50 * LIMIT))
    assert len(bomb) < LIMIT
    assert post(receiver, bomb, **{"content-encoding": encoding}).status_code == 413
    error = failed_call(receiver, bomb)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert {result for _, _, result in counts.requests} == {"too_large"}


def test_a_body_over_the_limit_is_refused_before_it_is_read(receiver: Receiver) -> None:
    assert post(receiver, bytes(LIMIT + 1)).status_code == 413

    def endless() -> Iterator[bytes]:
        for _ in range(4):
            yield bytes(LIMIT // 2)

    assert httpx.post(url(receiver), content=endless(), headers=PROTOBUF).status_code == 413


def test_garbage_is_answered_with_a_status_that_is_not_to_be_retried(receiver: Receiver) -> None:
    answer = post(receiver, b"\xff" * 40)
    assert answer.status_code == 400
    assert "protobuf" in answer.headers["content-type"]
    assert "OTLP" in Status.FromString(answer.content).message
    answer = httpx.post(url(receiver), content=b'{"resourceSpans": 3}', headers=JSON)
    assert answer.status_code == 400
    assert "JSON" in answer.json()["message"]
    error = failed_call(receiver, b"\xff" * 40)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "headers", [{"content-type": "text/plain"}, PROTOBUF | {"content-encoding": "br"}]
)
def test_what_we_do_not_speak_is_told(receiver: Receiver, headers: dict[str, str]) -> None:
    answer = httpx.post(url(receiver), content=request(), headers=headers)
    assert answer.status_code == 415


@pytest.mark.parametrize("path", ["/", "/v1/profiles"])
def test_other_urls_are_not_found(receiver: Receiver, path: str) -> None:
    assert httpx.post(f"http://127.0.0.1:{receiver.http_port}{path}").status_code == 404
    assert httpx.get(url(receiver)).status_code == 405


def test_invalid_spans_alone_make_a_partial_success(
    receiver: Receiver, log: EmbeddedLog, counts: Counts
) -> None:
    mixed = trace_request([span(0), Span(name="no ids"), span(1)])
    answer = post(receiver, mixed.SerializeToString())
    assert answer.status_code == 200
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert partial.rejected_spans == 1
    assert "trace id" in partial.error_message
    assert len(stored_spans(log)) == 2
    assert counts.requests == [("traces", "http", "partial")]


def test_a_full_log_is_retryable_for_the_whole_request(start: Start, counts: Counts) -> None:
    receiver = start(Unavailable())
    answer = post(receiver, trace_request([span(0), Span()]).SerializeToString())
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "7"
    error = failed_call(receiver, request())
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]
    info = RetryInfo()
    Status.FromString(details).details[0].Unpack(info)
    assert info.retry_delay.seconds == 7
    assert counts.requests == [("traces", "http", "unavailable"), ("traces", "grpc", "unavailable")]


class TestBearerToken:
    @pytest.fixture
    def receiver(self, start: Start) -> Receiver:
        return start(token="s3cret")

    @pytest.mark.parametrize(
        "headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic s3cret"}]
    )
    def test_without_it_nothing_is_stored(
        self, receiver: Receiver, log: EmbeddedLog, headers: dict[str, str], counts: Counts
    ) -> None:
        answer = post(receiver, request(), **headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        error = failed_call(receiver, request(), **headers)
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED
        assert stored(log) == []
        assert {result for _, _, result in counts.requests} == {"unauthorized"}

    def test_with_it_exporters_are_served(self, receiver: Receiver, log: EmbeddedLog) -> None:
        headers = {"authorization": "Bearer s3cret"}
        export_spans(HttpSpans(url(receiver), headers=headers))
        endpoint = f"127.0.0.1:{receiver.grpc_port}"
        export_spans(GrpcSpans(endpoint, insecure=True, headers=headers))
        assert len(stored_spans(log)) == 2

    def test_health_is_told_without_it(self, receiver: Receiver) -> None:
        assert httpx.get(f"http://127.0.0.1:{receiver.http_port}/healthz").status_code == 200


class TestTls:
    @pytest.fixture
    def authority(self) -> trustme.CA:
        return trustme.CA()

    @pytest.fixture
    def tls(self, authority: trustme.CA, tmp_path: Path) -> Tls:
        certificate = authority.issue_cert("127.0.0.1", "localhost")
        chain, key = tmp_path / "server.pem", tmp_path / "server.key"
        certificate.cert_chain_pems[0].write_to_path(chain)
        certificate.private_key_pem.write_to_path(key)
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        return Tls(certificate=str(chain), key=str(key))

    def test_exporters_are_served(
        self,
        start: Start,
        log: EmbeddedLog,
        tls: Tls,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        # The exporter's `requests` prefers these to the certificate that the exporter was given.
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.delenv(name, raising=False)
        receiver = start(tls=tls)
        authority = tmp_path / "ca.pem"
        export_spans(HttpSpans(url(receiver, scheme="https"), certificate_file=str(authority)))
        credentials = grpc.ssl_channel_credentials(authority.read_bytes())
        export_spans(GrpcSpans(f"localhost:{receiver.grpc_port}", credentials=credentials))
        assert len(stored_spans(log)) == 2

    def test_with_a_client_authority_a_sender_needs_a_certificate(
        self, start: Start, authority: trustme.CA, tls: Tls, tmp_path: Path
    ) -> None:
        ca = str(tmp_path / "ca.pem")
        receiver = start(tls=Tls(certificate=tls.certificate, key=tls.key, client_ca=ca))
        context = ssl.create_default_context(cafile=ca)
        address = url(receiver, scheme="https")
        with pytest.raises(httpx.TransportError):
            httpx.post(address, content=request(), headers=PROTOBUF, verify=context)
        authority.issue_cert("agent").configure_cert(context)
        answer = httpx.post(address, content=request(), headers=PROTOBUF, verify=context)
        assert answer.status_code == 200

    def test_a_wrong_file_stops_the_start(self, start: Start, tls: Tls) -> None:
        with pytest.raises(ConfigurationError, match="tls_cert"):
            start(tls=Tls(certificate=tls.key, key=tls.key))
        with pytest.raises(ConfigurationError, match="tls_client_ca"):
            start(tls=Tls(certificate=tls.certificate, key=tls.key, client_ca="/no/such/file"))


def test_a_port_in_use_stops_the_start_with_its_name(start: Start, receiver: Receiver) -> None:
    with pytest.raises(ConfigurationError, match="http_port"):
        start(http_port=receiver.http_port)
    with pytest.raises(ConfigurationError, match="grpc_port"):
        start(grpc_port=receiver.grpc_port)


def test_a_receiver_without_transport_does_not_start(start: Start) -> None:
    with pytest.raises(ConfigurationError, match="name a port"):
        start(http_port=None, grpc_port=None)


def test_readiness_is_asked_for(start: Start) -> None:
    ready = threading.Event()
    receiver = start(is_ready=ready.is_set)
    page = f"http://127.0.0.1:{receiver.http_port}/readyz"
    assert httpx.get(page).status_code == 503
    ready.set()
    assert httpx.get(page).status_code == 200


def test_start_and_stop_may_be_called_again(start: Start) -> None:
    receiver = start()
    receiver.start()
    assert post(receiver, request()).status_code == 200
    receiver.stop()
    receiver.stop()
    with pytest.raises(httpx.ConnectError):
        post(receiver, request())


def test_a_request_at_work_is_finished_when_the_receiver_stops(
    start: Start, log: EmbeddedLog
) -> None:
    entered, release = threading.Event(), threading.Event()
    inner = log.appender()

    class Slow:
        def append(self, records: Sequence[NewRecord]) -> None:
            entered.set()
            release.wait(60)
            inner.append(records)

        def close(self) -> None:
            pass

    receiver = start(Slow())
    answers: list[httpx.Response] = []
    sender = threading.Thread(target=lambda: answers.append(post(receiver, request())))
    sender.start()
    entered.wait(60)
    stopper = threading.Thread(target=receiver.stop)
    stopper.start()
    time.sleep(0.1)
    release.set()
    sender.join()
    stopper.join()
    assert [answer.status_code for answer in answers] == [200]


def test_every_request_answered_with_success_is_in_the_log(
    receiver: Receiver, log: EmbeddedLog
) -> None:
    accepted: list[int] = []

    def send(trace: int) -> None:
        body = trace_request([span(trace)]).SerializeToString()
        if post(receiver, body).status_code == 200:
            accepted.append(trace)

    senders = [threading.Thread(target=send, args=(trace,)) for trace in range(30)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert len(accepted) == 30
    assert {item.trace_id for item in stored_spans(log)} == {trace_id(item) for item in accepted}


def test_the_json_of_another_encoder_is_read(receiver: Receiver, log: EmbeddedLog) -> None:
    document = json_format.MessageToDict(trace_request([span(3, attributes={"n": 5})]))
    for item in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        item["traceId"], item["spanId"] = trace_id(3).hex().upper(), "00F067AA0BA902B7"
    answer = httpx.post(url(receiver), content=json.dumps(document, indent=1), headers=JSON)
    assert answer.status_code == 200
    assert stored_spans(log)[0].attributes[0].value.int_value == 5
