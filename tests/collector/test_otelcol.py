"""The production Collector configuration, run by the real Collector into the real Kafka."""

import json
import os
import re
import secrets
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from tests.services.collected import (
    PARTITIONS,
    CollectedTopics,
    logs_in,
    make_span,
    send_logs,
    send_spans,
    spans_in,
)
from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import default_partition, read_all, read_until
from tests.services.otelcol import (
    CONFIGURATION,
    Collector,
    components,
    named_components,
    validate,
)
from tests.services.plain_http import get
from tests.services.waiting import eventually


def test_the_collector_is_built_with_exactly_the_components_of_the_file(
    otelcol_binary: Path,
) -> None:
    assert components(otelcol_binary) == named_components()


def test_the_file_is_valid(otelcol_binary: Path) -> None:
    result = validate(otelcol_binary, CONFIGURATION)
    assert result.returncode == 0, result.stderr


def test_the_documented_overlay_for_tls_and_tokens_is_valid(
    otelcol_binary: Path, repository: Path, tmp_path: Path
) -> None:
    page = (repository / "docs" / "services.md").read_text()
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    overlay = tmp_path / "secure.yaml"
    overlay.write_text(shown)
    result = validate(otelcol_binary, CONFIGURATION, overlay)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("good", "bad", "complaint"),
    [
        ("partition_traces_by_id", "partition_trace_by_id", "partition_trace_by_id"),
        ("hasher: murmur2", "hasher: murmur3", "murmur3"),
        ("set(span.name,", "sett(span.name,", "sett"),
        ("exporters: [kafka]", "exporters: [kafak]", "kafak"),
    ],
)
def test_a_mistake_in_the_file_is_refused_by_name(
    otelcol_binary: Path, tmp_path: Path, good: str, bad: str, complaint: str
) -> None:
    written = CONFIGURATION.read_text()
    assert good in written
    broken = tmp_path / "otelcol.yaml"
    broken.write_text(written.replace(good, bad))
    result = validate(otelcol_binary, broken)
    assert result.returncode != 0
    assert complaint in result.stderr


def test_every_variable_is_documented_with_its_default(repository: Path) -> None:
    read = set(re.findall(r"\$\{env:(\w+):-([^}]*)\}", CONFIGURATION.read_text()))
    page = (repository / "docs" / "services.md").read_text()
    documented = set(re.findall(r"^\| `((?:KAFKA|OTELCOL)_\w+)` \| `([^`]*)` \|", page, re.M))
    assert documented == read


def test_spans_and_logs_of_a_trace_are_keyed_by_its_id_on_one_partition_number(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    provider = TracerProvider()
    exporter = OTLPSpanExporter(endpoint=otelcol.grpc, insecure=True)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace_ids: list[bytes] = []
    for number in range(6):
        tracer = provider.get_tracer("agent")
        with tracer.start_as_current_span(f"run {number}"):
            trace_ids.append(trace.get_current_span().get_span_context().trace_id.to_bytes(16))
            with provider.get_tracer("library").start_as_current_span("search"):
                pass
    provider.shutdown()
    send_logs(otelcol, *(LogRecord(trace_id=trace_id) for trace_id in trace_ids))

    partitions: set[int] = set()
    for trace_id in trace_ids:
        names = {span.name for span in otelcol_topics.spans(trace_id, count=2)}
        assert "search" in names
        otelcol_topics.log_records(trace_id)
        records = [
            *otelcol_topics.records(otelcol_topics.traces, trace_id),
            *otelcol_topics.records(otelcol_topics.logs, trace_id),
        ]
        expected = default_partition(trace_id.hex().encode(), PARTITIONS)
        assert {record.partition for record in records} == {expected}
        partitions.add(expected)
    assert len(partitions) > 1


def test_a_record_of_spans_holds_spans_of_its_key_only(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    trace_ids = [os.urandom(16) for _ in range(10)]
    send_spans(otelcol, *(make_span(trace_id) for trace_id in trace_ids * 3))
    for trace_id in trace_ids:
        otelcol_topics.spans(trace_id, count=3)
    for record in read_all(otelcol_topics.bootstrap, otelcol_topics.traces):
        assert {span.trace_id.hex().encode() for span in spans_in(record)} == {record.key}


def test_logs_without_a_trace_arrive_without_a_key(
    otelcol: Collector, otelcol_topics: CollectedTopics
) -> None:
    mark = secrets.token_hex(8)
    send_logs(otelcol, LogRecord(body=AnyValue(string_value=mark)))

    def arrived() -> bool:
        unkeyed = (
            r for r in read_all(otelcol_topics.bootstrap, otelcol_topics.logs) if r.key is None
        )
        return any(log.body.string_value == mark for record in unkeyed for log in logs_in(record))

    assert eventually(arrived, what="the log record without a trace")


def test_agents_request_durations_can_be_scraped_without_a_label_per_host(
    otelcol: Collector,
) -> None:
    reader = PeriodicExportingMetricReader(
        OTLPMetricExporter(endpoint=f"{otelcol.http}/v1/metrics"), export_interval_millis=60_000
    )
    provider = MeterProvider(metric_readers=[reader])
    durations = provider.get_meter("agent").create_histogram(
        "http.client.request.duration", unit="s", explicit_bucket_boundaries_advisory=[1.0, 300.0]
    )
    for host in ("a.example", "b.example", "c.example"):
        durations.record(
            0.5,
            {
                "http.request.method": "GET",
                "http.response.status_code": 200,
                "server.address": host,
            },
        )
    provider.shutdown()
    exposed = get(f"http://{otelcol.agent_metrics}/metrics").decode()
    (count,) = re.findall(
        r"^http_client_request_duration_seconds_count\{(.*)\} (\S+)", exposed, re.M
    )
    assert float(count[1]) == 3
    assert 'http_request_method="GET"' in count[0]
    assert "server_address" not in exposed


def test_a_token_can_be_asked_of_agents(
    otelcol_binary: Path, otelcol_topics: CollectedTopics, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-of-the-test\n")
    overlay = tmp_path / "token.yaml"
    auth = {"auth": {"authenticator": "bearertokenauth"}}
    overlay.write_text(
        json.dumps(
            {
                "receivers": {"otlp": {"protocols": {"grpc": auth, "http": auth}}},
                "service": {
                    "extensions": ["health_check", "file_storage/queue", "bearertokenauth"]
                },
            }
        )
    )
    with Collector(
        otelcol_binary,
        directory=tmp_path,
        brokers=otelcol_topics.bootstrap,
        traces_topic=otelcol_topics.traces,
        logs_topic=otelcol_topics.logs,
        environment={"OTELCOL_TOKEN_FILE": str(token)},
        overlays=[str(overlay)],
    ) as guarded:
        trace_id = os.urandom(16)
        with pytest.raises(OSError, match="401"):
            send_spans(guarded, make_span(trace_id))
        provider = TracerProvider()
        exporter = OTLPSpanExporter(
            endpoint=guarded.grpc,
            insecure=True,
            headers={"authorization": f"Bearer {token.read_text().strip()}"},
        )
        provider.add_span_processor(BatchSpanProcessor(exporter))
        with provider.get_tracer("agent").start_as_current_span("allowed") as span:
            allowed = span.get_span_context().trace_id.to_bytes(16)
        provider.shutdown()
        assert otelcol_topics.spans(allowed)[0].name == "allowed"
        assert otelcol_topics.records(otelcol_topics.traces, trace_id) == []


@pytest.mark.nightly
def test_nothing_accepted_is_lost_when_the_broker_is_away_and_the_collector_is_killed(
    otelcol_binary: Path, tmp_path: Path, kafka: Kafka
) -> None:
    # The session's broker is asked for only so that a missing Java is told the same way.
    assert kafka.alive()
    with Kafka() as cluster:
        own = CollectedTopics(cluster)
        collector = Collector(
            otelcol_binary,
            directory=tmp_path,
            brokers=own.bootstrap,
            traces_topic=own.traces,
            logs_topic=own.logs,
        )
        accepted: set[bytes] = set()

        def send_some() -> None:
            for _ in range(20):
                spans = [make_span(os.urandom(16), filler="f" * 2000) for _ in range(10)]
                send_spans(collector, *spans)
                accepted.update(span.span_id for span in spans)

        with collector:
            send_some()
            cluster.kill()
            send_some()
            collector.kill()
            collector.start()
            send_some()
            collector.kill()
            cluster.restart()
            collector.start()
            send_some()

            def arrived() -> set[bytes] | None:
                records = read_until(own.bootstrap, own.traces, at_least=1)
                spans = {span.span_id for record in records for span in spans_in(record)}
                return spans if spans >= accepted else None

            assert eventually(arrived, what="every accepted span in Kafka", timeout=120) == accepted
