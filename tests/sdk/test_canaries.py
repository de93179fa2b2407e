"""One secret of every shape in every place: no byte of one leaves the process, on any way out."""

import base64
import gzip
import json
import logging
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from opentelemetry import baggage, metrics, trace
from opentelemetry.context import attach, detach
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from seekwatch.core.redaction import TOKEN_PATTERNS, is_secret_key
from seekwatch.sdk import agent_run, flush, instrument, llm, retriever, tool, uninstrument
from seekwatch.sdk._guard import failed, reset_failures
from tests.services.otlp_sink import HttpSink
from tests.services.web import Answer, LocalWeb, Received

TOKENS = {
    "openai": "sk-canary0123456789abcdefghij",
    "tavily": "tvly-canary0123456789abcd",
    "github": "ghp_canary0123456789abcdefghijklmnopqrstuv",
    "github app": "github_pat_canary0123456789abcdefghijklmnopqrstuvwxyz0123",
    "gitlab": "glpat-canary0123456789abcdef",
    "aws": "AKIACANARY0123456789",
    "aws session": "ASIACANARY0123456789",
    "google": "AIzacanary0123456789abcdefghijklmnopqrs",
    "google oauth": "ya29.canary0123456789abcdef",
    "slack": "xoxb-canary-0123456789",
    "huggingface": "hf_canary0123456789abcdefghijklmno",
    "jwt": "eyJhbGciOiJIUzI1.eyJzdWIiOiJjYW5hcnk.canary01234567",
}
SPACED = {
    "bearer": "Bearer canary0123456789abcdef",
    "bearer in lower case": "bearer canary0123456789abcdef",
    "basic": "Basic Y2FuYXJ5OmNhbmFyeQo0123456789=",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\ncanary0123\n-----END RSA PRIVATE KEY-----",
}
NAMED = {
    "password in a url": ("https://alice:canary01canary01234@db.example/x", "canary01canary01234"),
    "password of a database": (
        "postgres://alice:canary02canary01234@db.example/x",
        "canary02canary01234",
    ),
    "parameter of a url": (
        "https://a.example/?api_key=canary03canary01234&page=2",
        "canary03canary01234",
    ),
    "parameter without a url": (
        "GET /search?access_token=canary04canary01234 HTTP/1.1",
        "canary04canary01234",
    ),
    "url in a url": (
        "https://a.example/?next=http%3A%2F%2Fb.example%2F%3Ftoken%3Dcanary05canary01234",
        "canary05canary01234",
    ),
    "member of json": ('{"client": {"api_key": "canary06canary01234"}}', "canary06canary01234"),
    "member of json in json": (r'"{\"password\": \"canary07canary01234\"}"', "canary07canary01234"),
    "token of json": ('{"token": "canary08canary01234"}', "canary08canary01234"),
    "member of python": ("{'secret': 'canary09canary01234'}", "canary09canary01234"),
    "pair of headers": ('[["authorization", "canary10canary01234"]]', "canary10canary01234"),
    "entry of an archive": (
        '{"name": "Cookie", "value": "canary11canary01234"}',
        "canary11canary01234",
    ),
    "assignment": ("export API_KEY=canary12canary01234", "canary12canary01234"),
    "header line": ("> Authorization: canary13canary01234", "canary13canary01234"),
    "own pattern": ("see CASE-31337-canary there", "CASE-31337-canary"),
    "own callable": ("it says snowcanary", "snowcanary"),
}
RULES: list[str | Callable[[str], str]] = [
    r"CASE-\d+-\w+",
    lambda text: text.replace("snowcanary", "****"),
]
"""Of the user's own."""
TEXTS = {name: (f"of {text} it", text) for name, text in TOKENS.items()}
TEXTS |= {name: (f"of {text} it", text.split()[-1][:16]) for name, text in SPACED.items()}
TEXTS["private key"] = (SPACED["private key"], "canary0123")
TEXTS |= NAMED
ALL_TEXTS = [text for text, _ in TEXTS.values()]

KEYS = (
    "authorization", "http.request.header.proxy-authorization", "cookie", "set-cookie", "password",
    "db.password", "passwd", "pwd", "secret", "client_secret", "client-secret", "api_key", "apikey",
    "api-key", "x-api-key", "subscription-key", "access_token", "refresh_token", "id_token",
    "auth_token", "private_key", "signature", "sig", "X-Amz-Signature", "x-amz-credential",
    "X-Amz-Security-Token", "x-goog-signature",
)  # fmt: skip


def test_every_documented_token_has_a_canary() -> None:
    whole = " ".join([*TOKENS.values(), *SPACED.values()])
    assert [pattern for pattern in TOKEN_PATTERNS if not re.search(pattern, whole)] == []
    assert [key for key in KEYS if not is_secret_key(key)] == []


# The ways out


def everything_that_left(sink: HttpSink) -> str:
    """All bytes of all requests, with what is compressed inside of them opened."""
    opened = [request.decode("latin-1") for request in sink.requests]
    for span in sink.spans:
        body = span.attributes.get("seekwatch.content.body")
        if body is not None:
            opened.append(zlib.decompress(base64.b64decode(body)).decode())
    return "\n".join(opened)


def leaked(sink: HttpSink, log: str = "") -> list[str]:
    out = everything_that_left(sink) + log
    return [name for name, (_, canary) in TEXTS.items() if canary in out]


@pytest.fixture
def instrumented(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "600000")
    caplog.set_level(logging.DEBUG, logger="seekwatch.sdk")
    instrument(
        "leaky",
        endpoint=sink.url,
        redact=RULES,
    )


Place = Callable[[str, LocalWeb], None]


def as_name(text: str) -> str:
    """A name is no content, and is said in the middle of a line, where no header begins."""
    return "m" if text == WITHHELD or "Authorization:" in text else text


def in_question(text: str, _: LocalWeb) -> None:
    with agent_run(text):
        pass


def in_answer(text: str, _: LocalWeb) -> None:
    with agent_run("q") as run:
        run.answer(text, [{"url": "https://a.example/", "title": text, "quote": text}])


def in_context(text: str, _: LocalWeb) -> None:
    with agent_run("q", name=as_name(text)) as run:
        run.context(
            case=text, corpus=text, region=text, as_of=text, principal=text, configuration=text,
            conversation=text,
        )  # fmt: skip


def in_tool(text: str, _: LocalWeb) -> None:
    @tool
    def use(argument: str, options: dict[str, Any]) -> dict[str, Any]:
        return {"result": [argument], "options": options}

    use(text, {"deep": {"deeper": [text]}})


def in_retriever(text: str, _: LocalWeb) -> None:
    @retriever
    def search(query: str) -> list[dict[str, str]]:
        return [{"url": "https://a.example/", "title": query, "content": query, "author": query}]

    search(text)


def in_model(text: str, _: LocalWeb) -> None:
    @llm
    def think(messages: list[dict[str, str]]) -> str:
        return messages[0]["content"]

    think([{"role": "user", "content": text}])


def in_exceptions(text: str, _: LocalWeb) -> None:
    @tool
    def use() -> None:
        try:
            raise KeyError(text)
        except KeyError as inner:
            raise ValueError(text) from inner

    with suppress(ValueError), agent_run("q"):
        use()


def in_spans_of_others(text: str, _: LocalWeb) -> None:
    tracer = trace.get_tracer("theirs", attributes={"note": text})
    link = trace.Link(SpanContext(1, 1, is_remote=True, trace_flags=TraceFlags(1)), {"l": text})
    with tracer.start_as_current_span(text, links=[link], attributes={"first": text}) as span:
        span.set_attributes({"one": text, "many": [text, "x"]})
        span.add_event(text, {"note": text, "notes": [text]})
        span.set_status(Status(StatusCode.ERROR, text))
        span.record_exception(ValueError(text))
        span.add_link(SpanContext(1, 2, is_remote=True, trace_flags=TraceFlags(1)), {"l": text})


def in_metrics(text: str, _: LocalWeb) -> None:
    meter = metrics.get_meter("theirs", attributes={"note": text})
    meter.create_counter("counter").add(1, {"note": text})
    meter.create_histogram("histogram").record(1, {"note": text})
    with trace.get_tracer("theirs").start_as_current_span("exemplar"):
        meter.create_gauge("gauge").set(1, {"notes": (text,)})


def in_baggage(text: str, web: LocalWeb) -> None:
    token = attach(baggage.set_baggage("note", text))
    try:
        httpx.get(f"{web.url}/page")
    finally:
        detach(token)


def in_request_body(text: str, web: LocalWeb) -> None:
    web.pages["/form"] = lambda _: Answer(200, b"ok")
    httpx.post(f"{web.url}/form", json={"note": text})
    httpx.post(f"{web.url}/form", content=text.encode())


def in_response_body(text: str, web: LocalWeb) -> None:
    page = f"<html><p title='t'>\n{text}\n</p></html>".encode()
    web.pages["/html"] = lambda _: Answer(200, page)
    web.pages["/plain"] = lambda _: Answer(200, text.encode(), "text/plain")
    web.pages["/json"] = lambda _: Answer(
        200, json.dumps({"note": text}).encode(), "application/json"
    )
    web.pages["/packed"] = lambda _: Answer(
        200, gzip.compress(page), headers={"Content-Encoding": "gzip"}
    )
    web.pages["/missing"] = lambda _: Answer(500, page)
    for path in ("/html", "/plain", "/json", "/packed", "/missing"):
        httpx.get(web.url + path)
        with httpx.stream("GET", web.url + path) as response:
            response.read()


def in_search(text: str, web: LocalWeb) -> None:
    result = {"url": "https://a.example/", "title": text, "content": text, "published_date": text}
    body = json.dumps({"query": text, "results": [result], "answer": text}).encode()
    web.pages["/search"] = lambda _: Answer(200, body, "application/json")
    httpx.get(f"{web.url}/search", params={"q": text, "format": "json"})


def in_chat(text: str, web: LocalWeb) -> None:
    def answer(_: Received) -> Answer:
        said = {"role": "assistant", "content": text, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "f", "arguments": text}}
        ]}  # fmt: skip
        choice = {"message": said, "finish_reason": as_name(text)}
        body = {"id": "x", "model": as_name(text), "choices": [choice]}
        return Answer(200, json.dumps(body).encode(), "application/json")

    web.pages["/v1/chat/completions"] = answer
    web.pages["/no/chat/completions"] = lambda _: Answer(
        400, json.dumps({"error": {"message": text}}).encode(), "application/json"
    )
    asked = {
        "model": as_name(text),
        "messages": [{"role": "user", "content": text}],
        "stop": [text],
    }
    for path in ("/v1/chat/completions", "/no/chat/completions"):
        httpx.post(web.url + path, json=asked)


def in_logs(text: str, _: LocalWeb) -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        failed(f"testing {len(text)}", error)
    reset_failures()


TEXT_PLACES: list[Place] = [
    in_question,
    in_answer,
    in_context,
    in_tool,
    in_retriever,
    in_model,
    in_exceptions,
    in_spans_of_others,
    in_metrics,
    in_baggage,
    in_request_body,
    in_response_body,
    in_search,
    in_chat,
    in_logs,
]


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize("place", TEXT_PLACES, ids=lambda place: place.__name__)
def test_no_secret_in_text_leaves_the_process(
    place: Place, web: LocalWeb, sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    for text in ALL_TEXTS:
        place(text, web)
    assert flush()
    uninstrument()
    assert sink.requests
    ours = "\n".join(r.getMessage() + str(r.exc_text or "") for r in caplog.records)
    assert leaked(sink, ours) == []


# Parts of URLs and headers, where what is secret follows from the place


def fetch_with_parts(secret: str, web: LocalWeb) -> None:
    host = web.authority
    web.pages["/moved"] = lambda _: Answer(302, b"", headers={"Location": f"/page?token={secret}"})
    for url in (
        f"http://alice:{secret}@{host}/page",
        f"http://{secret}@{host}/page",
        f"http://{host}/page?api_key={secret}&page=2",
        f"http://{host}/page?X-Amz-Signature={secret}",
        f"http://{host}/page#{secret}",
        f"http://{host}/moved",
    ):
        httpx.get(url, follow_redirects=True)
    with suppress(httpx.HTTPError):
        httpx.get(f"http://alice:{secret}@127.0.0.1:9/?key={secret}")


def fetch_with_headers(secret: str, web: LocalWeb) -> None:
    web.pages["/sets"] = lambda _: Answer(
        200, b"ok", headers={"Set-Cookie": f"session={secret}", "WWW-Authenticate": secret}
    )
    headers = {"Authorization": secret, "Cookie": f"s={secret}", "X-API-Key": secret,
               "Proxy-Authorization": secret}  # fmt: skip
    httpx.get(f"{web.url}/sets", headers=headers)
    httpx.get(f"{web.url}/sets", auth=("alice", secret), cookies={"c": secret})


def fetch_with_validators(secret: str, web: LocalWeb) -> None:
    """Headers that are noted, with a token in them."""
    web.pages["/tagged"] = lambda _: Answer(
        200, b"ok", headers={"ETag": f'"{secret}"', "Cache-Control": secret, "Vary": secret}
    )
    headers = {"If-None-Match": f'"{secret}"', "If-Modified-Since": secret}
    httpx.get(f"{web.url}/tagged/../tagged", headers=headers)
    httpx.get(f"{web.url}/page/{secret}/x?page={secret}")


def under_telling_keys(secret: str, _: LocalWeb) -> None:
    @tool
    def use(**options: str) -> dict[str, str]:
        return options

    use(api_key=secret, password=secret)
    with trace.get_tracer("theirs").start_as_current_span("s") as span:
        span.set_attributes(dict.fromkeys(KEYS, secret))
        span.add_event("e", dict.fromkeys(KEYS, secret))
    metrics.get_meter("theirs").create_counter("keys").add(1, dict.fromkeys(KEYS, secret))


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize(
    "place",
    [fetch_with_parts, fetch_with_headers, under_telling_keys],
    ids=lambda place: place.__name__,
)
def test_what_is_secret_by_its_place_never_leaves_the_process(
    place: Place, web: LocalWeb, sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    place("canaryvalue", web)
    assert flush()
    uninstrument()
    assert sink.spans
    assert "canaryvalue" not in everything_that_left(sink) + caplog.text


@pytest.mark.usefixtures("instrumented")
def test_no_token_in_noted_headers_and_paths_leaves_the_process(
    web: LocalWeb, sink: HttpSink
) -> None:
    for secret in TOKENS.values():
        fetch_with_validators(secret, web)
    assert flush()
    uninstrument()
    assert sink.spans
    assert leaked(sink) == []


def test_resources_and_arguments_are_masked(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = TOKENS["openai"]
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", f"process.command_line=agent {secret},db.pwd=p1")
    instrument(f"agent {secret}", endpoint=sink.url, environment=secret, release=secret)
    with agent_run("q"):
        pass
    metrics.get_meter("theirs").create_counter("counter").add(1)
    uninstrument()
    assert sink.metric_requests
    assert sink.spans[0].resource["process.command_line"] == "agent ****"
    assert sink.spans[0].resource["db.pwd"] == "****"
    assert secret not in everything_that_left(sink)


def test_the_resource_of_a_joined_provider_is_masked_on_our_way_out(sink: HttpSink) -> None:
    resource = Resource({"process.command_line": f"agent --key {TOKENS['openai']}"})
    provider = TracerProvider(resource=resource)
    instrument("leaky", endpoint=sink.url, tracer_provider=provider)
    for _ in range(2):
        with agent_run("q"):
            pass
    assert flush()
    assert {s.resource["process.command_line"] for s in sink.spans} == {"agent --key ****"}
    assert provider.resource is resource


def test_the_console_gets_what_the_wire_gets() -> None:
    script = """
from seekwatch.sdk import instrument, uninstrument
from tests.sdk.test_canaries import ALL_TEXTS, RULES, in_exceptions, in_metrics, in_question
instrument("leaky", redact=RULES)
for text in ALL_TEXTS:
    for place in (in_question, in_exceptions, in_metrics):
        place(text, None)
uninstrument()
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "OTEL_TRACES_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "invoke_agent" in ended.stdout
    assert '"histogram"' in ended.stdout
    out = ended.stdout + ended.stderr
    assert [name for name, (_, canary) in TEXTS.items() if canary in out] == []


OURS: list[Place] = [
    in_question,
    in_answer,
    in_context,
    in_tool,
    in_retriever,
    in_model,
    in_exceptions,
    in_response_body,
    in_search,
    in_chat,
]


@pytest.fixture
def memory(sink: HttpSink) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument(
        "leaky",
        endpoint=sink.url,
        redact=RULES,
        tracer_provider=provider,
    )
    yield exporter
    uninstrument()


@pytest.mark.parametrize("place", OURS, ids=lambda place: place.__name__)
def test_our_spans_reach_the_exporters_of_others_masked(
    place: Place, web: LocalWeb, memory: InMemorySpanExporter
) -> None:
    for text in ALL_TEXTS:
        place(text, web)
    assert flush()
    ours = [
        span
        for span in memory.get_finished_spans()
        if span.instrumentation_scope and span.instrumentation_scope.name == "seekwatch.sdk"
    ]
    assert ours
    out = "\n".join(f"{span.name} {span.status.description} {span.to_json()}" for span in ours)
    assert [name for name, (_, canary) in TEXTS.items() if canary in out] == []


# Content that is withheld

WITHHELD = "canarycontent of several words"


@pytest.mark.parametrize("place", TEXT_PLACES, ids=lambda place: place.__name__)
def test_withheld_content_never_leaves_the_process(
    place: Place,
    web: LocalWeb,
    sink: HttpSink,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if place in {in_context, in_metrics}:
        pytest.skip("what the developer names in the process or its metrics is no content")
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "600000")
    caplog.set_level(logging.DEBUG, logger="seekwatch.sdk")
    instrument("discreet", endpoint=sink.url, capture_content=False)
    place(WITHHELD, web)
    assert flush()
    uninstrument()
    ours = "\n".join(r.getMessage() + str(r.exc_text or "") for r in caplog.records)
    assert "canarycontent" not in everything_that_left(sink) + ours
