import asyncio
import importlib
import inspect
import logging
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from opentelemetry import metrics, trace
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from seekwatch.core.extras import install_command
from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from seekwatch.sdk._guard import failures, reset_failures
from seekwatch.sdk._instrument import statistics
from tests.services.otlp_sink import BlackHole, GrpcSink, HttpSink
from tests.services.web import LocalWeb


def run_once() -> None:
    with agent_run("q") as run:
        run.answer("a")
    assert flush()


def test_the_resource_describes_the_agent(sink: HttpSink) -> None:
    instrument("my-agent", endpoint=sink.url, environment="staging", release="1.2.3")
    run_once()
    resource = sink.one("AGENT").resource
    assert resource["service.name"] == "my-agent"
    assert resource["deployment.environment.name"] == "staging"
    assert resource["service.version"] == "1.2.3"
    assert resource["service.instance.id"]


def test_otel_variables_win_the_resource(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "by-variable")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod,team=search")
    instrument("my-agent", endpoint=sink.url, environment="staging")
    run_once()
    span = sink.one("AGENT")
    assert span.resource["service.name"] == "by-variable"
    assert span.resource["deployment.environment.name"] == "prod"
    assert span.resource["team"] == "search"
    assert span.attributes["gen_ai.agent.name"] == "my-agent"


def test_the_endpoint_comes_from_otel_variables(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url)
    instrument("my-agent")
    run_once()
    assert sink.kinds() == ["AGENT"]


def test_a_broken_address_in_a_variable_is_said_by_name_and_harms_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://host:notaport")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    instrument("my-agent", tracer_provider=provider)
    run_once()
    assert len(memory.get_finished_spans()) == 1
    assert "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is no usable address" in caplog.text


def test_compression_and_sampler_variables_hold(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")
    instrument("my-agent", endpoint=sink.url)
    run_once()
    assert sink.spans == []


@pytest.mark.parametrize("by", ["scheme", "variable"])
def test_grpc_is_used_when_chosen(by: str, monkeypatch: pytest.MonkeyPatch, web: LocalWeb) -> None:
    with GrpcSink() as sink:
        if by == "variable":
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
            monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
            instrument("my-agent", endpoint=sink.url.replace("grpc://", "http://"))
        else:
            monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
            instrument("my-agent", endpoint=sink.url)
        httpx.get(f"{web.url}/page")
        run_once()
        uninstrument()
        assert sink.kinds() == ["", "AGENT", "CHAIN", "TOOL"]


def test_disabled_by_variable_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    before = httpx.Client.__dict__["send"]
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    instrument("my-agent")
    assert httpx.Client.__dict__["send"] is before
    assert not isinstance(trace.get_tracer_provider(), TracerProvider)


def test_exporter_none_keeps_the_spans_of_an_existing_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument("my-agent", tracer_provider=provider)
    run_once()
    assert [span.name for span in memory.get_finished_spans()] == ["invoke_agent my-agent"]


def test_an_unknown_exporter_is_said_and_harmless(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "zipkin")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    instrument("my-agent")
    run_once()
    assert "OTEL_TRACES_EXPORTER='zipkin' is not known here" in caplog.text


def test_an_existing_provider_keeps_its_resource_limits_and_processors(sink: HttpSink) -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.name": "theirs"}),
        span_limits=SpanLimits(max_span_attributes=77),
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument(
        "my-agent",
        endpoint=sink.url,
        environment="staging",
        release="9",
        tracer_provider=provider,
    )
    run_once()
    span = sink.one("AGENT")
    assert span.resource["service.name"] == "theirs"
    assert span.attributes["gen_ai.agent.name"] == "my-agent"
    assert span.attributes["deployment.environment.name"] == "staging"
    assert span.attributes["service.version"] == "9"
    assert len(memory.get_finished_spans()) == 1
    assert provider._span_limits.max_span_attributes == 77
    uninstrument()
    with provider.get_tracer("theirs").start_as_current_span("still works"):
        pass
    assert len(memory.get_finished_spans()) == 2


def test_instrumenting_an_existing_provider_again_adds_no_second_exporter(sink: HttpSink) -> None:
    provider = TracerProvider()
    for _ in range(3):
        instrument("my-agent", endpoint=sink.url, tracer_provider=provider)
        uninstrument()
    instrument("my-agent", endpoint=sink.url, tracer_provider=provider)
    processors = provider._active_span_processor._span_processors
    assert [type(each).__name__ for each in processors] == ["OpenRuns", "BatchingProcessor"]
    run_once()
    assert len(sink.spans) == 1


def test_the_process_wide_provider_is_joined(sink: HttpSink) -> None:
    from seekwatch.sdk._export.providers import forget_tracer_provider

    provider = TracerProvider(resource=Resource({"service.name": "global"}))
    trace.set_tracer_provider(provider)
    try:
        instrument("my-agent", endpoint=sink.url)
        run_once()
        assert sink.one("AGENT").resource["service.name"] == "global"
        uninstrument()
        assert trace.get_tracer_provider() is provider
    finally:
        forget_tracer_provider(provider)


def test_our_provider_has_room_for_many_documents(sink: HttpSink) -> None:
    instrument("my-agent", endpoint=sink.url)
    provider: Any = trace.get_tracer_provider()
    assert provider._span_limits.max_span_attributes == 512


def test_twice_is_once(sink: HttpSink, web: LocalWeb) -> None:
    instrument("my-agent", endpoint=sink.url)
    instrument("other", endpoint=sink.url)
    httpx.get(f"{web.url}/page")
    assert flush()
    assert sink.one("TOOL").attributes["gen_ai.agent.name"] == "my-agent"
    assert len(sink.spans) == 2


HTTPX_MEMBERS = [
    (httpx.Client, "send"),
    (httpx.Client, "_send_single_request"),
    (httpx.AsyncClient, "send"),
    (httpx.AsyncClient, "_send_single_request"),
    (httpx.HTTPTransport, "handle_request"),
    (httpx.AsyncHTTPTransport, "handle_async_request"),
]


def test_uninstrument_leaves_httpx_and_the_globals_as_they_were(sink: HttpSink) -> None:
    before = [owner.__dict__[name] for owner, name in HTTPX_MEMBERS]
    instrument("my-agent", endpoint=sink.url)
    during = [owner.__dict__[name] for owner, name in HTTPX_MEMBERS]
    uninstrument()
    after = [owner.__dict__[name] for owner, name in HTTPX_MEMBERS]
    assert all(a is not b for a, b in zip(before, during, strict=True))
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert not isinstance(trace.get_tracer_provider(), TracerProvider)
    assert "Proxy" in type(metrics.get_meter_provider()).__name__
    assert not HTTPXClientInstrumentor().is_instrumented_by_opentelemetry
    uninstrument()


def test_meters_that_are_asked_for_afterwards_are_none_of_a_provider_that_is_shut_down(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    instrument("my-agent", endpoint=sink.url)
    uninstrument()
    caplog.clear()
    metrics.get_meter("theirs").create_counter("calls").add(1)
    assert caplog.records == []


def test_the_wrapped_methods_look_like_the_originals(sink: HttpSink) -> None:
    signature = inspect.signature(httpx.Client.send)
    instrument("my-agent", endpoint=sink.url)
    assert inspect.signature(httpx.Client.send) == signature
    assert httpx.Client.send.__qualname__ == "Client.send"


def test_stock_instrumentation_that_was_on_stays_on(sink: HttpSink) -> None:
    HTTPXClientInstrumentor().instrument()
    try:
        instrument("my-agent", endpoint=sink.url)
        uninstrument()
        assert HTTPXClientInstrumentor().is_instrumented_by_opentelemetry
    finally:
        HTTPXClientInstrumentor().uninstrument()


def test_a_process_can_start_over(sink: HttpSink, web: LocalWeb) -> None:
    for number in range(2):
        instrument(f"agent-{number}", endpoint=sink.url)
        httpx.get(f"{web.url}/page")
        uninstrument()
    names = [span.attributes["gen_ai.agent.name"] for span in sink.of_kind("TOOL")]
    assert names == ["agent-0", "agent-1"]


def test_the_stock_metric_is_exported_in_seconds_with_buckets_beyond_300_s(
    sink: HttpSink, web: LocalWeb
) -> None:
    instrument("my-agent", endpoint=sink.url)
    httpx.get(f"{web.url}/slow")
    uninstrument()
    point = sink.histogram("http.client.request.duration")
    assert 0.5 <= point.sum < 5
    assert max(point.explicit_bounds) >= 300
    assert sink.one("TOOL").attributes["http.client.request.duration"] == pytest.approx(
        point.sum, rel=0.1
    )


def _forget_the_convention() -> None:
    from opentelemetry.instrumentation import _semconv

    stability: Any = _semconv._OpenTelemetrySemanticConventionStability
    stability._initialized = False


@pytest.mark.parametrize(
    ("opt_in", "keys"),
    [
        ("", {"url.full"}),
        ("database", {"url.full"}),
        ("http", {"url.full"}),
        ("http/dup", {"url.full", "http.url"}),
    ],
)
def test_the_users_choice_of_conventions_holds(
    sink: HttpSink,
    web: LocalWeb,
    monkeypatch: pytest.MonkeyPatch,
    opt_in: str,
    keys: set[str],
) -> None:
    _forget_the_convention()
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", opt_in)
    try:
        instrument("my-agent", endpoint=sink.url)
        httpx.get(f"{web.url}/page")
        assert flush()
    finally:
        _forget_the_convention()
    stock = next(span for span in sink.spans if span.name == "GET")
    assert {"url.full", "http.url"} & set(stock.attributes) == keys


def test_the_choice_of_conventions_is_not_changed_for_others(sink: HttpSink) -> None:
    from opentelemetry.instrumentation import _semconv

    stability: Any = _semconv._OpenTelemetrySemanticConventionStability
    http = _semconv._OpenTelemetryStabilitySignalType.HTTP
    stability._initialize()
    before = stability._get_opentelemetry_stability_opt_in_mode(http)
    instrument("my-agent", endpoint=sink.url)
    assert stability._get_opentelemetry_stability_opt_in_mode(http) is before


def test_excluded_urls_are_excluded_for_us_too(
    sink: HttpSink, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_PYTHON_HTTPX_EXCLUDED_URLS", "/page")
    instrument("my-agent", endpoint=sink.url)
    httpx.get(f"{web.url}/page")
    httpx.get(f"{web.url}/empty")
    assert flush()
    assert sink.one("TOOL").attributes["url.full"].endswith("/empty")


@pytest.mark.usefixtures("stated_deadlines")
def test_a_black_holed_collector_costs_nothing_and_shutdown_keeps_its_deadline(
    web: LocalWeb, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600")
    with BlackHole() as hole:
        instrument("my-agent", endpoint=hole.url)
        for number in range(20):
            assert httpx.get(f"{web.url}/page", params={"n": number}).status_code == 200
        assert flush(0.2) is False
        began = time.monotonic()
        uninstrument()
        took = time.monotonic() - began
    # Five are stated; who ignored them would wait for the exporter's ten minutes.
    assert took < 60, f"shutdown took {took:.1f} s"
    assert "not everything reached the collector" in caplog.text


def test_a_refusing_collector_is_told_once_and_counted(
    sink: HttpSink, web: LocalWeb, caplog: pytest.LogCaptureFixture
) -> None:
    sink.status = 400
    instrument("my-agent", endpoint=sink.url)
    with caplog.at_level(logging.INFO, logger="seekwatch.sdk"):
        for _ in range(3):
            run_once()
    refused = [r for r in caplog.records if "did not take" in r.message]
    assert len(refused) == 1
    assert "invoke_agent my-agent, trace " in refused[0].message
    assert statistics()["spans_refused"] == 3
    assert len(sink.requests) == 3, "a permanent error is not retried"


def test_flush_outside_an_instrumented_process_is_true() -> None:
    assert flush() is True
    assert statistics() == {}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agent": " "}, "needs a name"),
        ({"agent": "a", "endpoint": "localhost:4318"}, "needs a scheme"),
        ({"agent": "a", "endpoint": "http://host:notaport"}, "a port from 1 to 65535"),
        ({"agent": "a", "endpoint": "http://:4318"}, "needs a host"),
        ({"agent": "a", "endpoint": "http://[::1"}, "needs a host"),
        (
            {"agent": "a", "endpoint": "http://user:canary@[::1"},
            r"^endpoint 'http://\*{4}@\[::1' needs",
        ),
        ({"agent": "a", "endpoint": "ftp://user:canary@h"}, r"^endpoint 'ftp://\*{4}@h' needs"),
        ({"agent": "a", "redact": ["("]}, r"redaction pattern '\('"),
        ({"agent": "a", "redact": ""}, "matches an empty text"),
        ({"agent": "a", "redact": b"x"}, r"^redact b'x' needs to be a regular expression"),
        ({"agent": "a", "capture_pages": -1}, "number of bytes"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_fix(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        instrument(**arguments)


def test_a_failure_of_ours_while_starting_does_not_reach_the_agent(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    from seekwatch.sdk._guard import failures, reset_failures

    module = importlib.import_module("seekwatch.sdk._installing")

    def fail(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(module.providers, "join_tracer_provider", fail)
    instrument("my-agent", endpoint=sink.url)
    assert failures() == {"instrument": 1}
    reset_failures()


@pytest.mark.parametrize("cap", [0, 10, False])
def test_capture_pages_caps_the_body(sink: HttpSink, web: LocalWeb, cap: int) -> None:
    instrument("my-agent", endpoint=sink.url, capture_pages=cap)
    httpx.get(f"{web.url}/page")
    assert flush()
    found = sink.one("TOOL").attributes
    if cap:
        assert found["seekwatch.content.truncated"] is True
    else:
        assert found["seekwatch.content.omitted_reason"] == "capture-off"
    assert found["seekwatch.content.hash"]


def test_one_call_is_one_span_although_someone_wrapped_us_in_between(
    sink: HttpSink, web: LocalWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = httpx.Client.send
    instrument("first", endpoint=sink.url)
    ours = httpx.Client.send

    def theirs(self: httpx.Client, *args: Any, **kwargs: Any) -> httpx.Response:
        return ours(self, *args, **kwargs)

    monkeypatch.setattr(httpx.Client, "send", theirs)
    uninstrument()
    assert httpx.Client.send is theirs
    instrument("second", endpoint=sink.url)
    httpx.get(f"{web.url}/page")
    assert flush()
    assert sink.one("TOOL").attributes["gen_ai.agent.name"] == "second"
    uninstrument()
    monkeypatch.setattr(httpx.Client, "send", original)


def test_uninstrument_in_the_middle_of_requests_does_not_reach_them(
    sink: HttpSink, web: LocalWeb
) -> None:
    stop = threading.Event()

    def work() -> int:
        done = 0
        with httpx.Client(base_url=web.url) as client:
            while not stop.is_set():
                with agent_run("q"), client.stream("GET", "/page") as response:
                    assert response.read()
                done += 1
        return done

    with ThreadPoolExecutor(3) as pool:
        workers = [pool.submit(work) for _ in range(3)]
        for number in range(5):
            instrument(f"agent-{number}", endpoint=sink.url, capture_content=number % 2 == 0)
            time.sleep(0.05)
            uninstrument()
        stop.set()
        assert all(worker.result() > 0 for worker in workers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agent", None),
        ("agent", 5),
        ("endpoint", 3),
        ("environment", 3),
        ("release", 3),
        ("entrypoint", 5),
        ("capture_content", "x"),
        ("capture_content", None),
        ("capture_pages", "x"),
        ("capture_pages", None),
        ("capture_pages", 1.5),
        ("redact", 5),
        ("redact", None),
        ("redact", [5]),
        ("search_apis", 5),
        ("search_apis", None),
        ("search_apis", ["x"]),
        ("search_apis", "x"),
        ("tracer_provider", 3),
        ("meter_provider", 3),
    ],
)
def test_an_argument_of_a_wrong_type_is_a_value_error_by_name_value_and_fix(
    name: str, value: Any
) -> None:
    arguments: dict[str, Any] = {"agent": "a", name: value}
    shown = "5" if name == "redact" and value else repr(value)
    with pytest.raises(ValueError, match=rf"^{name} ") as raised:
        instrument(**arguments)
    assert shown in str(raised.value)
    assert any(fix in str(raised.value) for fix in ("needs to be", "needs a name", "give one"))
    assert statistics() == {}


def test_grpc_without_its_exporter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # None in the table of modules is how Python itself marks one that cannot be imported.
    for signal in ("trace", "metric"):
        name = f"opentelemetry.exporter.otlp.proto.grpc.{signal}_exporter"
        monkeypatch.setitem(sys.modules, name, None)
    instrument("my-agent", endpoint="grpc://127.0.0.1:4317")
    assert caplog.text.count(install_command("grpc")) == 1


def stock_urls_of_a_joined_provider(web: LocalWeb, **arguments: Any) -> list[str]:
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    instrument("my-agent", tracer_provider=provider, **arguments)
    url = f"{web.url}/page?q=two+words&api_key=sk-topsecret123456#frag"
    httpx.get(url)

    async def fetch() -> None:
        async with httpx.AsyncClient() as client:
            await client.get(url)

    asyncio.run(fetch())
    stock = [span for span in memory.get_finished_spans() if span.name == "GET"]
    assert len(stock) == 2
    return [str((span.attributes or {})["url.full"]) for span in stock]


def test_stock_spans_reach_the_processors_of_a_joined_provider_with_clean_urls(
    sink: HttpSink, web: LocalWeb
) -> None:
    for url in stock_urls_of_a_joined_provider(web, endpoint=sink.url):
        assert "q=two" in url
        assert "topsecret" not in url
        assert "#" not in url


def test_stock_spans_of_a_joined_provider_withhold_the_query(sink: HttpSink, web: LocalWeb) -> None:
    for url in stock_urls_of_a_joined_provider(web, endpoint=sink.url, capture_content=False):
        assert url.startswith(f"{web.url}/page")
        assert "words" not in url
        assert "topsecret" not in url


@pytest.mark.parametrize(
    ("module_name", "at"),
    [
        ("_installing", "_add_processors"),
        ("_instrument", "_register_exit"),
        ("_instrument", "set_current"),
    ],
)
def test_a_start_that_fails_halfway_leaves_the_process_as_it_was(
    module_name: str, at: str, sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module(f"seekwatch.sdk.{module_name}")
    before = (httpx.Client.__dict__["send"], threading.Thread.__dict__["start"])
    whole = getattr(module, at)

    def fail(given: object, *_: object) -> None:
        if given is not None:
            raise RuntimeError("ours")

    monkeypatch.setattr(module, at, fail)
    instrument("my-agent", endpoint=sink.url)
    assert failures() == {"instrument": 1}
    reset_failures()
    assert (httpx.Client.__dict__["send"], threading.Thread.__dict__["start"]) == before
    assert not isinstance(trace.get_tracer_provider(), TracerProvider)
    monkeypatch.setattr(module, at, whole)
    instrument("my-agent", endpoint=sink.url)
    run_once()
    assert sink.kinds() == ["AGENT"]
