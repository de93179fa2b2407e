"""A collector may be gone, mute, slow, wrong or hostile: no request of the agent notices it."""

import logging
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import httpx
import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider

from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from seekwatch.sdk._export import exporters
from seekwatch.sdk._instrument import statistics
from tests.services.otlp_sink import HttpSink
from tests.services.ports import LOOPBACK, free_ports
from tests.services.waiting import eventually
from tests.services.web import LocalWeb

Behaviour = Callable[[socket.socket], None]


class OddCollector:
    """A port that does to each connection what it was told to; a context manager."""

    def __init__(self, behave: Behaviour | None) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        self._behave = behave
        self._ending = threading.Event()
        self._listener = socket.socket()
        self._listener.bind((LOOPBACK, 0))
        self._listener.listen(64)
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        if self._behave is not None:
            self._start(self._accept)
        return self

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        assert self._behave is not None
        with suppress(OSError), connection:
            self._behave(connection)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # While it still misbehaves: what is left is given up within the deadline.
        uninstrument()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in self._threads:
            thread.join(10)


def read_request(connection: socket.socket) -> bytes:
    """Read one request whole."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    while len(body) < length:
        body += _more(connection)
    return body


def _more(connection: socket.socket) -> bytes:
    chunk = connection.recv(65536)
    if not chunk:
        raise ConnectionResetError
    return chunk


def answering(status: str, headers: str = "", body: bytes = b"") -> Behaviour:
    def behave(connection: socket.socket) -> None:
        while True:
            read_request(connection)
            head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)

    return behave


def never_reads(connection: socket.socket) -> None:
    until_it_ends = select.poll()
    until_it_ends.register(connection, 0)
    until_it_ends.poll(120_000)


def reads_and_says_nothing(connection: socket.socket) -> None:
    read_request(connection)
    while _more(connection):
        pass


def trickles(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.2)


def trickles_headers(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        connection.sendall(b"X-A: b\r\n")
        time.sleep(0.2)


def resets(connection: socket.socket) -> None:
    linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def closes_in_the_middle(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 2")


def closes_in_a_header(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Le")


def says_garbage(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"\x16\x03\x01\x00\xa5" + bytes(range(256)) * 4)


HUNDRED_MEGABYTES = 100_000_000


def sends_a_hundred_megabytes(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {HUNDRED_MEGABYTES}\r\n\r\n".encode())
    for _ in range(HUNDRED_MEGABYTES // 1_000_000):
        connection.sendall(bytes(1_000_000))


def redirects_to_itself(connection: socket.socket) -> None:
    answering("307 Temporary Redirect", "Location: /v1/traces\r\n")(connection)


LOSING: dict[str, Behaviour | None] = {
    "never accepts": None,
    "never reads": never_reads,
    "says nothing": reads_and_says_nothing,
    "resets": resets,
    "closes in the middle": closes_in_the_middle,
    "garbage": says_garbage,
    "trickling headers": trickles_headers,
    "400": answering("400 Bad Request"),
    "404 with a page": answering("404 Not Found", body=b"<html>" + b"x" * 1_000_000),
    "413": answering("413 Payload Too Large"),
    "429": answering("429 Too Many Requests", "Retry-After: 3600\r\n"),
    "500": answering("500 Internal Server Error"),
    "503": answering("503 Service Unavailable"),
    "redirect loop": redirects_to_itself,
    "redirect": answering("302 Found", "Location: http://127.0.0.1:9/login\r\n"),
}
"""What each span of ours is lost to."""

TAKING: dict[str, Behaviour] = {
    "trickling body": trickles,
    "a hundred megabytes": sends_a_hundred_megabytes,
    "an answer cut in a header": closes_in_a_header,
    "a broken partial success": answering(
        "200 OK", "Content-Type: application/x-protobuf\r\n", b"\xff" * 20
    ),
}
"""What answers oddly, but has taken the spans."""


@pytest.fixture(autouse=True)
def traces_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")


@pytest.fixture
def nobody_takes_it(monkeypatch: pytest.MonkeyPatch, stated_deadlines: None) -> None:
    """One request, which is given up soon, and all spans in it."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")


def work(web: LocalWeb, count: int = 5) -> None:
    """Runs whose requests must all succeed."""
    with httpx.Client() as client:
        for number in range(count):
            with agent_run(f"question {number}") as run:
                assert client.get(f"{web.url}/page", params={"n": number}).status_code == 200
                run.answer("a")


def lost(counts: dict[str, int]) -> int:
    return counts["spans_dropped"] + counts["spans_refused"]


@pytest.mark.usefixtures("nobody_takes_it")
@pytest.mark.parametrize("behave", LOSING.values(), ids=LOSING)
def test_no_request_fails_every_span_is_counted_and_the_end_comes_in_time(
    web: LocalWeb, behave: Behaviour | None, caplog: pytest.LogCaptureFixture
) -> None:
    with OddCollector(behave) as collector:
        instrument("patient", endpoint=collector.url)
        work(web)
        flush(4)
        before = statistics()
        began = time.monotonic()
        uninstrument()
        took = time.monotonic() - began
    # Five are stated. Who ignored them would wait for as long as these collectors last.
    assert took < 30, f"shutdown took {took:.1f} s"
    # Three spans a run: the run, the fetch, and the stock one.
    assert "not everything reached the collector" in caplog.text
    assert lost(before) in {0, 15}
    said = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert all(r.name.startswith("seekwatch.sdk") for r in said), [r.getMessage() for r in said]
    assert len(said) <= 3


@pytest.mark.parametrize("behave", TAKING.values(), ids=TAKING)
def test_an_odd_answer_to_taken_spans_costs_neither_time_nor_memory(
    web: LocalWeb, behave: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    import tracemalloc

    with OddCollector(behave) as collector:
        instrument("patient", endpoint=collector.url)
        work(web)
        tracemalloc.start()
        try:
            assert flush()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert lost(statistics()) == 0
    assert caplog.records == []
    # The test's own collector makes blocks of a megabyte.
    assert peak < 10_000_000


@pytest.mark.usefixtures("nobody_takes_it")
def test_tls_to_a_port_that_speaks_something_else(web: LocalWeb) -> None:
    with OddCollector(says_garbage) as collector:
        instrument("patient", endpoint=collector.url.replace("http://", "https://"))
        work(web, 1)
        flush(4)
        assert ssl.OPENSSL_VERSION


@pytest.mark.usefixtures("nobody_takes_it")
def test_nobody_listens(web: LocalWeb, caplog: pytest.LogCaptureFixture) -> None:
    instrument("patient", endpoint=f"http://{LOOPBACK}:{free_ports(1)[0]}")
    work(web)
    flush(4)
    uninstrument()
    assert "not everything reached the collector" in caplog.text


NOBODY = "nobody listens at http://{}"


@pytest.fixture
def patient_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that would try for a minute, at an end that would wait for it as long."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")


@pytest.mark.usefixtures("patient_exporter")
@pytest.mark.parametrize("when", ["at the end", "in a wait for the next try"])
def test_where_nobody_listens_the_end_waits_for_no_further_try_and_says_so_once(
    web: LocalWeb, caplog: pytest.LogCaptureFixture, when: str
) -> None:
    address = f"{LOOPBACK}:{free_ports(1)[0]}"
    instrument("patient", endpoint=f"http://{address}/v1/traces")
    work(web, 2)
    if when == "in a wait for the next try":
        assert not flush(1)
    began = time.monotonic()
    uninstrument()
    # The tries of a minute have pauses of 1, 2, 4, 8, 16 and 32 seconds.
    assert time.monotonic() - began < 30
    (said,) = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert f"{NOBODY.format(address)}, so 6 spans are lost" in said
    assert "seekwatch up" in said


@pytest.mark.usefixtures("nobody_takes_it")
def test_where_nobody_listens_in_the_midst_of_work_the_address_is_named(
    web: LocalWeb, caplog: pytest.LogCaptureFixture
) -> None:
    address = f"{LOOPBACK}:{free_ports(1)[0]}"
    instrument("patient", endpoint=f"http://name:secret-word@{address}")
    work(web, 1)
    assert flush(20)
    assert "did not take 3 spans" in caplog.text
    assert NOBODY.format(address) in caplog.text
    assert "secret-word" not in caplog.text


@pytest.mark.usefixtures("patient_exporter")
def test_a_collector_that_comes_up_late_gets_what_waited_for_it(web: LocalWeb) -> None:
    with socket.socket() as port:
        # Bound and not listening, it refuses.
        port.bind((LOOPBACK, 0))
        instrument("patient", endpoint=f"http://{LOOPBACK}:{port.getsockname()[1]}")
        work(web, 1)
        assert not flush(0.5)
        port.listen()

        def take_one() -> None:
            connection, _ = port.accept()
            with connection:
                read_request(connection)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        taker = threading.Thread(target=take_one)
        taker.start()
        assert flush()
        taker.join()
        assert lost(statistics()) == 0


def test_a_collector_that_comes_back_gets_what_comes_then(
    sink: HttpSink, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    sink.status = 400
    instrument("patient", endpoint=sink.url)
    work(web, 1)
    assert flush()
    sink.status = 200
    work(web, 1)
    assert flush()
    assert lost(statistics()) == 3
    assert len(sink.requests) >= 2
    sink.spans.clear()
    work(web, 1)
    assert flush()
    assert len(sink.spans) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 500, 501, 505])
def test_a_permanent_error_is_not_retried(
    sink: HttpSink, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    sink.status = status
    instrument("patient", endpoint=sink.url)
    with agent_run("q"):
        pass
    assert flush()
    assert len(sink.requests) == 1
    assert f"answered {status}" in caplog.text


def test_a_refusal_names_trace_span_and_size(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    sink.status = 413
    instrument("patient", endpoint=sink.url)
    with agent_run("small"):
        pass
    with agent_run("large " + "x" * 50_000):
        pass
    assert flush()
    sink.take_traces(sink.requests[0])
    largest = max(sink.spans, key=lambda span: len(str(span.attributes)))
    (said,) = [r.getMessage() for r in caplog.records if "did not take" in r.getMessage()]
    assert f"trace {largest.trace_id}, span {largest.span_id}" in said
    assert "did not take 2 spans" in said
    assert "bytes)" in said


def test_spans_that_a_collector_rejects_by_itself_are_counted(web: LocalWeb) -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceResponse,
    )

    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 2
    kind = "Content-Type: application/x-protobuf\r\n"
    with OddCollector(answering("200 OK", kind, answer.SerializeToString())) as collector:
        instrument("patient", endpoint=collector.url)
        work(web, 1)
        assert flush()
        assert statistics()["spans_refused"] == 2


# Counts as metrics


@pytest.fixture
def reader() -> InMemoryMetricReader:
    return InMemoryMetricReader()


def counted(reader: InMemoryMetricReader) -> dict[tuple[str, str], int]:
    data: Any = reader.get_metrics_data()
    found: dict[tuple[str, str], int] = {}
    for resource in data.resource_metrics if data is not None else ():
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                if metric.name.startswith("seekwatch.sdk."):
                    for point in metric.data.data_points:
                        label = "".join(point.attributes.values())
                        found[metric.name.removeprefix("seekwatch.sdk."), label] = point.value
    return found


def test_losses_are_metrics_of_the_users_provider(
    sink: HttpSink, web: LocalWeb, reader: InMemoryMetricReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seekwatch.sdk._guard import failed, reset_failures

    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "600000")
    provider = MeterProvider([reader])
    instrument("patient", endpoint=sink.url, meter_provider=provider)
    work(web, 1)
    assert flush()
    sink.status = 400
    work(web, 1)
    assert flush()
    failed("testing", ValueError())
    found = counted(reader)
    assert found["spans.exported", ""] == 3
    assert found["spans.refused", "request"] == 3
    assert found["spans.refused", "rejected"] == 0
    assert found["spans.dropped", "queue_full"] == 0
    assert found["bodies.dropped", "queue_full"] == 0
    assert found["failures", "testing"] == 1
    reset_failures()


@pytest.mark.usefixtures("nobody_takes_it")
def test_a_full_queue_is_a_metric_too(
    web: LocalWeb, reader: InMemoryMetricReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "4")
    with OddCollector(None) as collector:
        instrument("patient", endpoint=collector.url, meter_provider=MeterProvider([reader]))
        for _ in range(20):
            with agent_run("q"):
                pass
        # Runs end on the finisher's thread, some time after the agent has left them.
        eventually(
            lambda: counted(reader).get(("spans.dropped", "queue_full"), 0) >= 12,
            what="the drops of a full queue are counted",
        )


def test_instrumenting_again_reports_the_new_counts_once(
    sink: HttpSink, reader: InMemoryMetricReader, caplog: pytest.LogCaptureFixture
) -> None:
    provider = MeterProvider([reader])
    for _ in range(3):
        instrument("patient", endpoint=sink.url, meter_provider=provider)
        with agent_run("q"):
            pass
        assert flush()
        assert counted(reader)["spans.exported", ""] == 1
        uninstrument()
    assert counted(reader) == {}
    assert caplog.records == []


def test_exporters_of_others_speak_as_before(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    sink.status = 400
    instrument("patient", endpoint=sink.url)
    with agent_run("q"):
        pass
    assert flush()
    assert [r.name for r in caplog.records] == ["seekwatch.sdk"]
    caplog.clear()
    theirs = OTLPSpanExporter(f"{sink.url}/v1/traces")
    provider = TracerProvider(resource=Resource({}), shutdown_on_exit=False)
    span = provider.get_tracer("theirs").start_span("s")
    span.end()
    theirs.export([span])  # type: ignore[list-item]
    theirs.shutdown()  # type: ignore[no-untyped-call]
    assert any(r.name.startswith("opentelemetry.exporter") for r in caplog.records)


def test_a_users_provider_of_credentials_keeps_its_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER"
    monkeypatch.setenv(name, "theirs")
    assert exporters._session("TRACES") is None
    assert exporters._session("METRICS") is not None
