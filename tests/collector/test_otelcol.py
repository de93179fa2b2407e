"""The production Collector configuration, run by the real Collector into the real Kafka."""

import base64
import json
import os
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    KeyValue,
    KeyValueList,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from seekwatch.core.redaction import SECRET_KEY, TOKEN_PATTERNS
from tests.services.kafka_broker import Kafka
from tests.services.kafka_client import Record, default_partition, read_all, read_until
from tests.services.otelcol import (
    CONFIGURATION,
    Collector,
    components,
    named_components,
    validate,
)
from tests.services.plain_http import get, post
from tests.services.ports import LOOPBACK, free_ports
from tests.services.waiting import eventually

PARTITIONS = 4
TOPIC_LIMIT = 8_388_608
# Carriers, texts, other attributes, events, resource: the sum that the file's comment makes.
SPAN_LIMIT = 4 * 524_288 + 4 * 131_072 + 2_621_440 + 1_048_576 + 128 * 2_048
PAGE_BYTES = 262_144
SECRET = "sk-" + "A1b2C3d4" * 4


class Topics:
    """A pair of topics as the product creates them."""

    def __init__(self, kafka: Kafka) -> None:
        limits: dict[str, str | int] = {"max.message.bytes": TOPIC_LIMIT}
        self.bootstrap = kafka.bootstrap
        self.traces = kafka.create_topic(partitions=PARTITIONS, configuration=limits)
        self.logs = kafka.create_topic(partitions=PARTITIONS, configuration=limits)

    def records(self, topic: str, trace_id: bytes) -> list[Record]:
        key = trace_id.hex().encode()
        return [record for record in read_all(self.bootstrap, topic) if record.key == key]

    def spans(self, trace_id: bytes, *, count: int = 1) -> list[Span]:
        """Return the spans of a trace once `count` of them arrived."""

        def arrived() -> list[Span] | None:
            spans = [
                span for record in self.records(self.traces, trace_id) for span in spans_in(record)
            ]
            return spans if len(spans) >= count else None

        return eventually(arrived, what=f"{count} spans of {trace_id.hex()} in Kafka")

    def log_records(self, trace_id: bytes, *, count: int = 1) -> list[LogRecord]:
        """Return the log records of a trace once `count` of them arrived."""

        def arrived() -> list[LogRecord] | None:
            logs = [log for record in self.records(self.logs, trace_id) for log in logs_in(record)]
            return logs if len(logs) >= count else None

        return eventually(arrived, what=f"{count} logs of {trace_id.hex()} in Kafka")


@pytest.fixture(scope="module")
def topics(kafka: Kafka) -> Topics:
    return Topics(kafka)


@pytest.fixture(scope="module")
def collector(
    otelcol_binary: Path, topics: Topics, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Collector]:
    with Collector(
        otelcol_binary,
        directory=tmp_path_factory.mktemp("otelcol"),
        # Nobody listens at the first address: the second has to be found.
        brokers=f"{LOOPBACK}:{free_ports(1)[0]},{topics.bootstrap}",
        traces_topic=topics.traces,
        logs_topic=topics.logs,
    ) as running:
        yield running


def spans_in(record: Record) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(record.value or b"")
    return [s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]


def logs_in(record: Record) -> list[LogRecord]:
    request = ExportLogsServiceRequest.FromString(record.value or b"")
    return [g for r in request.resource_logs for scope in r.scope_logs for g in scope.log_records]


def text(key: str, value: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=value))


def make_span(trace_id: bytes, **attributes: str) -> Span:
    now = time.time_ns()
    return Span(
        trace_id=trace_id,
        span_id=os.urandom(8),
        name="span",
        start_time_unix_nano=now,
        end_time_unix_nano=now + 1_000_000,
        attributes=[text(key, value) for key, value in attributes.items()],
    )


def send_spans(collector: Collector, *spans: Span) -> None:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.extend(spans)
    post(
        f"{collector.http}/v1/traces",
        request.SerializeToString(),
        content_type="application/x-protobuf",
    )


def send_logs(collector: Collector, *logs: LogRecord) -> None:
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.extend(logs)
    post(
        f"{collector.http}/v1/logs",
        request.SerializeToString(),
        content_type="application/x-protobuf",
    )


def attributes_of(span: Span) -> dict[str, str]:
    return {attribute.key: attribute.value.string_value for attribute in span.attributes}


# --- What the file names, and what it refuses ---------------------------------------------------


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


def test_its_redaction_knows_every_token_shape_and_key_of_the_product() -> None:
    redaction = yaml.safe_load(CONFIGURATION.read_text())["processors"]["redaction"]
    assert redaction["blocked_values"] == list(TOKEN_PATTERNS)
    names = SECRET_KEY.pattern.removeprefix("(?i)")
    # In the file `$$` is a dollar, since `$` begins a variable.
    assert redaction["blocked_key_patterns"] == [f"(?i)^{names}$$"]


def test_its_sizes_are_in_order() -> None:
    kafka = yaml.safe_load(CONFIGURATION.read_text())["exporters"]["kafka"]
    batch = _default(kafka["sending_queue"]["batch"]["max_size"])
    message = _default(kafka["producer"]["max_message_bytes"])
    assert SPAN_LIMIT < batch < message <= TOPIC_LIMIT


def test_every_variable_is_documented_with_its_default(repository: Path) -> None:
    read = set(re.findall(r"\$\{env:(\w+):-([^}]*)\}", CONFIGURATION.read_text()))
    page = (repository / "docs" / "services.md").read_text()
    documented = set(re.findall(r"^\| `((?:KAFKA|OTELCOL)_\w+)` \| `([^`]*)` \|", page, re.M))
    assert documented == read


def _default(value: str) -> int:
    found = re.fullmatch(r"\$\{env:\w+:-(\d+)\}", value)
    assert found is not None
    return int(found.group(1))


# --- Keys and partitions ------------------------------------------------------------------------


def test_spans_and_logs_of_a_trace_are_keyed_by_its_id_on_one_partition_number(
    collector: Collector, topics: Topics
) -> None:
    provider = TracerProvider()
    exporter = OTLPSpanExporter(endpoint=collector.grpc, insecure=True)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace_ids: list[bytes] = []
    for number in range(20):
        tracer = provider.get_tracer("agent")
        with tracer.start_as_current_span(f"run {number}"):
            trace_ids.append(trace.get_current_span().get_span_context().trace_id.to_bytes(16))
            with provider.get_tracer("library").start_as_current_span("search"):
                pass
    provider.shutdown()
    send_logs(collector, *(LogRecord(trace_id=trace_id) for trace_id in trace_ids))

    spans = read_until(topics.bootstrap, topics.traces, at_least=40)
    logs = read_until(topics.bootstrap, topics.logs, at_least=20)
    for trace_id in trace_ids:
        key = trace_id.hex().encode()
        mine = [record for record in spans if record.key == key]
        assert {(s.trace_id, s.name) for record in mine for s in spans_in(record)} >= {
            (trace_id, "search")
        }
        assert {s.trace_id for record in mine for s in spans_in(record)} == {trace_id}
        about = [record for record in logs if record.key == key]
        assert len(about) == 1
        assert {r.partition for r in (*mine, *about)} == {default_partition(key, PARTITIONS)}
    assert len({record.partition for record in spans}) > 1


def test_logs_without_a_trace_arrive_without_a_key(collector: Collector, topics: Topics) -> None:
    mark = secrets.token_hex(8)
    send_logs(collector, LogRecord(body=AnyValue(string_value=mark)))

    def arrived() -> bool:
        unkeyed = (r for r in read_all(topics.bootstrap, topics.logs) if r.key is None)
        return any(log.body.string_value == mark for record in unkeyed for log in logs_in(record))

    assert eventually(arrived, what="the log record without a trace")


# --- Sizes --------------------------------------------------------------------------------------


def test_a_page_and_the_documents_on_a_span_of_forty_attributes_arrive_whole(
    collector: Collector, topics: Topics
) -> None:
    # Random bytes do not compress: the largest body that the SDK can make.
    page = os.urandom(PAGE_BYTES)
    whole = {
        "seekwatch.content.body": base64.b64encode(zlib.compress(page)).decode(),
        "gen_ai.retrieval.documents": json.dumps([{"content": "x" * 1000}] * 300),
        "gen_ai.input.messages": json.dumps([{"role": "user", "content": "y" * 300_000}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": "z" * 300_000}]),
    }
    others = {f"attribute.{number}": "value" for number in range(40 - len(whole))}
    trace_id = os.urandom(16)
    send_spans(collector, make_span(trace_id, **whole, **others))
    (span,) = topics.spans(trace_id)
    assert attributes_of(span) == whole | others
    assert zlib.decompress(base64.b64decode(attributes_of(span)["seekwatch.content.body"])) == page


def test_what_looks_like_a_token_inside_a_compressed_page_stays(
    collector: Collector, topics: Topics
) -> None:
    body = "eJx" + "AIza" + "B" * 40
    trace_id = os.urandom(16)
    send_spans(collector, make_span(trace_id, **{"seekwatch.content.body": body, "other": body}))
    (span,) = topics.spans(trace_id)
    assert attributes_of(span)["seekwatch.content.body"] == body
    assert attributes_of(span)["other"] == "eJx****BBBBB"


def test_a_span_of_any_size_is_cut_and_takes_no_neighbour_along(
    collector: Collector, topics: Topics
) -> None:
    trace_id = os.urandom(16)
    fat = make_span(trace_id, **{"input.value": "i" * 9_000_000})
    wide = make_span(trace_id, **{f"k{number}": secrets.token_hex(30_000) for number in range(300)})
    eventful = make_span(trace_id)
    for _ in range(128):
        event = eventful.events.add(name="e" * 1000)
        event.attributes.extend(text(f"k{n}", secrets.token_hex(2_500)) for n in range(16))
    every = make_span(
        trace_id,
        **{
            "seekwatch.content.body": "b" * 600_000,
            "gen_ai.retrieval.documents": "d" * 600_000,
            "gen_ai.input.messages": "i" * 600_000,
            "gen_ai.output.messages": "o" * 600_000,
            "input.value": "i" * 200_000,
            "output.value": "o" * 200_000,
        },
        **{f"k{number}": secrets.token_hex(50_000) for number in range(34)},
    )
    nested = make_span(trace_id)
    chunk = AnyValue(string_value=secrets.token_hex(45_000))
    nested.attributes.add(key="list").value.array_value.values.extend([chunk] * 100)
    nested.attributes.add(key="bytes").value.bytes_value = os.urandom(9_000_000)
    nested.events.add().attributes.add(key="list").value.array_value.values.extend([chunk] * 100)
    named = make_span(trace_id, **{"k" * 9_000_000: "value", "openinference.span.kind": "TOOL"})
    small = [make_span(trace_id) for _ in range(5)]
    send_spans(collector, *small[:2], fat, wide, eventful, every, small[2])
    send_spans(collector, small[3], nested, named, small[4])
    spans = {span.span_id: span for span in topics.spans(trace_id, count=11)}
    assert len(spans) == 11
    assert len(attributes_of(spans[fat.span_id])["input.value"]) == 131_072
    assert len(spans[wide.span_id].attributes) == 300
    assert len(spans[eventful.span_id].events) == 128
    assert all(event.attributes for event in spans[eventful.span_id].events)
    assert attributes_of(spans[nested.span_id]).keys() == {"list", "bytes"}
    assert spans[nested.span_id].events[0].attributes[0].value.string_value.startswith('["')
    assert attributes_of(spans[named.span_id]) == {"openinference.span.kind": "TOOL"}
    assert max(span.ByteSize() for span in spans.values()) < SPAN_LIMIT


def test_a_wide_span_of_a_fair_size_is_not_cut(collector: Collector, topics: Topics) -> None:
    whole = {f"llm.input_messages.{n}.message.content": "word " * 800 for n in range(500)}
    whole["llm.input_messages.500.message.content"] = "word " * 12_000
    trace_id = os.urandom(16)
    span = make_span(trace_id, **whole)
    span.events.add(name="exception", attributes=[text("exception.stacktrace", "line\n" * 8_000)])
    send_spans(collector, span)
    (arrived,) = topics.spans(trace_id)
    assert attributes_of(arrived) == whole
    assert arrived.events == span.events


def test_a_cut_never_splits_a_character(collector: Collector, topics: Topics) -> None:
    trace_id = os.urandom(16)
    long = "x" + "漢" * 300_000
    span = make_span(trace_id, **{"output.value": long, "gen_ai.output.messages": long})
    span.name = long
    send_spans(collector, span)
    send_logs(collector, LogRecord(trace_id=trace_id, body=AnyValue(string_value=long)))
    # Protobuf refuses a string that is not UTF-8, so that they decode is the proof.
    (arrived,) = topics.spans(trace_id)
    (log,) = topics.log_records(trace_id)
    for cut in (*attributes_of(arrived).values(), arrived.name, log.body.string_value):
        assert cut
        assert long.startswith(cut)


# --- Redaction ----------------------------------------------------------------------------------


def everywhere() -> list[KeyValue]:
    """The secret in every form of attribute that can be masked."""
    nested = KeyValueList(values=[text("inner", SECRET)])
    return [
        text("plain", f"before {SECRET} after"),
        text("json", json.dumps({"key": SECRET})),
        text("db.password", "a plain value"),
        text("http.request.header.authorization", "a plain value"),
        KeyValue(
            key="list",
            value=AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=SECRET)])),
        ),
        KeyValue(key="map", value=AnyValue(kvlist_value=nested)),
    ]


def test_secrets_are_masked_wherever_a_span_has_text(collector: Collector, topics: Topics) -> None:
    trace_id = os.urandom(16)
    span = make_span(trace_id)
    span.name = f"call {SECRET}"
    span.trace_state = f"vendor={SECRET}"
    span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=f"refused {SECRET}"))
    span.attributes.extend(everywhere())
    span.attributes.append(text("llm.token_count.prompt", "12"))
    span.events.add(name=f"event {SECRET}", attributes=everywhere())
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.extend(everywhere())
    resource.scope_spans.add(spans=[span]).scope.attributes.extend(everywhere())
    post(
        f"{collector.http}/v1/traces",
        request.SerializeToString(),
        content_type="application/x-protobuf",
    )

    (arrived,) = topics.spans(trace_id)
    (record,) = topics.records(topics.traces, trace_id)
    assert SECRET.encode() not in (record.value or b"")
    assert b"a plain value" not in (record.value or b"")
    assert arrived.name == "call ****"
    assert arrived.status.message == "refused ****"
    assert arrived.trace_state == "vendor=****"
    assert arrived.events[0].name == "event ****"
    assert attributes_of(arrived)["plain"] == "before **** after"
    assert attributes_of(arrived)["db.password"] == "****"
    assert attributes_of(arrived)["llm.token_count.prompt"] == "12"
    assert not [key for key in attributes_of(arrived) if key.startswith("otelcol.lent")]


def test_secrets_are_masked_in_log_records(collector: Collector, topics: Topics) -> None:
    trace_id = os.urandom(16)
    body = AnyValue(kvlist_value=KeyValueList(values=everywhere()))
    send_logs(
        collector,
        LogRecord(
            trace_id=trace_id,
            body=AnyValue(string_value=f"sent {SECRET}"),
            attributes=everywhere(),
            event_name=f"event {SECRET}",
        ),
        LogRecord(trace_id=trace_id, body=body),
    )
    logs = topics.log_records(trace_id, count=2)
    for record in topics.records(topics.logs, trace_id):
        assert SECRET.encode() not in (record.value or b"")
        assert b"a plain value" not in (record.value or b"")
    assert {log.body.string_value for log in logs} == {"sent ****", ""}
    assert {log.event_name for log in logs} == {"event ****", ""}


def test_secrets_are_masked_in_urls(collector: Collector, topics: Topics) -> None:
    trace_id = os.urandom(16)
    send_spans(
        collector,
        make_span(
            trace_id,
            **{
                "url.full": "https://me:word@search.example/v1?q=a+key&api_key=abc&Token=x&n=1#y",
                "http.url": "https://search.example/v1?q=1&client_secret=abc",
                "url.query": "key=abc&q=cookies&x-goog-signature=f00",
                "http.target": "/v1?session=abc&monkey=1",
            },
        ),
    )
    (span,) = topics.spans(trace_id)
    assert attributes_of(span) == {
        "url.full": "https://search.example/v1?q=a+key&api_key=****&Token=****&n=1#y",
        "http.url": "https://search.example/v1?q=1&client_secret=****",
        "url.query": "key=****&q=cookies&x-goog-signature=****",
        "http.target": "/v1?session=****&monkey=1",
    }


# --- Metrics, tokens, crashes -------------------------------------------------------------------


def test_agents_request_durations_can_be_scraped_without_a_label_per_host(
    collector: Collector,
) -> None:
    reader = PeriodicExportingMetricReader(
        OTLPMetricExporter(endpoint=f"{collector.http}/v1/metrics"), export_interval_millis=60_000
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
    exposed = get(f"http://{collector.agent_metrics}/metrics").decode()
    (count,) = re.findall(
        r"^http_client_request_duration_seconds_count\{(.*)\} (\S+)", exposed, re.M
    )
    assert float(count[1]) == 3
    assert 'http_request_method="GET"' in count[0]
    assert "server_address" not in exposed


def test_a_token_can_be_asked_of_agents(
    otelcol_binary: Path, topics: Topics, tmp_path: Path
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
        brokers=topics.bootstrap,
        traces_topic=topics.traces,
        logs_topic=topics.logs,
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
        assert topics.spans(allowed)[0].name == "allowed"
        assert topics.records(topics.traces, trace_id) == []


def test_nothing_accepted_is_lost_when_the_broker_is_away_and_the_collector_is_killed(
    otelcol_binary: Path, tmp_path: Path, kafka: Kafka
) -> None:
    # The session's broker is asked for only so that a missing Java is told the same way.
    assert kafka.alive()
    with Kafka() as cluster:
        own = Topics(cluster)
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
