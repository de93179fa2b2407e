import json
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from seekwatch.sdk import agent_run, flush, instrument, llm, retriever
from seekwatch.sdk._privacy.withholding import Withholder
from tests.services.otlp_sink import HttpSink

WITHHOLDER = Withholder("salt", frozenset({"searchfor"}))


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.example/?id=17&lang=en", "https://a.example/?id=17&lang=en"),
        ("https://a.example/?v=dQw4-x_1.2", "https://a.example/?v=dQw4-x_1.2"),
        ("https://a.example/?searchfor=canary&page=2", "https://a.example/?searchfor=****&page=2"),
        ("https://a.example/?Search=canary", "https://a.example/?Search=****"),
        ("https://a.example/?%71=canary", "https://a.example/?%71=****"),
        ("https://a.example/?a=1;q=canary", "https://a.example/?a=1;q=****"),
        ("https://a.example/?x=canary+question", "https://a.example/?x=****"),
        ("https://a.example/?x=canary%20question", "https://a.example/?x=****"),
        ("https://a.example/?x=can%C3%A4ry", "https://a.example/?x=****"),
        ("https://a.example/?canary+question", "https://a.example/?****"),
        ("https://a.example/?u=https%3A%2F%2Fb%2F%3Fq%3Dcanary", "https://a.example/?u=****"),
        ("https://a.example/#:~:text=canary", "https://a.example/"),
        ("https://a.example/canary%20question/x", "https://a.example/****/x"),
        ("https://a.example/canary+question", "https://a.example/****"),
        ("https://a.example/2026/11/snow-report", "https://a.example/2026/11/snow-report"),
        ("https://[canary", "****"),
    ],
)
@pytest.mark.parametrize("key", ["url.full", "seekwatch.fetch.final_url", "somebody.elses.link"])
def test_a_url_keeps_where_it_leads_and_no_words(key: str, url: str, kept: str) -> None:
    assert WITHHOLDER.attributes({key: url}) == {key: kept}


@pytest.mark.parametrize(
    ("key", "value", "kept"),
    [
        ("http.response.header.location", ["/b?q=canary"], ("/b?q=****",)),
        ("http.target", "/b?q=canary&id=1", "/b?q=****&id=1"),
        ("url.full", "/b?q=canary&id=1", "/b?q=****&id=1"),
        ("http.url", "//a.example/b?q=canary", "//a.example/b?q=****"),
        ("url.full", "HTTPS://a.example/?q=canary", "https://a.example/?q=****"),
        ("somebody.elses.link", "ftp://a.example/?q=canary", "ftp://a.example/?q=****"),
        ("somebody.elses.link", "wss://a.example/?q=canary", "wss://a.example/?q=****"),
        ("url.full", "ftp://a.example/b?q=canary question", "ftp://a.example/b?q=****"),
        ("http.url", "http://a.example/;q=canary question", "http://a.example/****"),
        ("url.query", "q=canary&id=1", "q=****&id=1"),
        ("url.path", "/canary%20question", "/****"),
    ],
)
def test_parts_of_urls_are_urls(key: str, value: Any, kept: Any) -> None:
    assert WITHHOLDER.attributes({key: value}) == {key: kept}


@pytest.mark.parametrize(
    "key",
    [
        "prompt",
        "my.question",
        "userQuestion",
        "ai.response.text",
        "ai.prompt.messages",
        "langfuse.trace.input",
        "langfuse.observation.output",
        "pydantic_ai.all_messages",
        "final_result",
        "logfire.msg",
        "mlflow.spanInputs",
        "traceloop.entity.output",
        "gen_ai.event.content",
        "gen_ai.prompt",
        "gen_ai.evaluation.explanation",
        "db.query.text",
        "document.content",
        "error.message",
        "exception.stacktrace",
        "http.request.body.content",
        "retrieval.documents.0.document.metadata",
        "metadata",
        "llm.function_call",
        "messages.0",
        "input.value.0",
        "search.queries.0",
        "questions[0]",
        "user_input_1",
        "tool.parameters.city",
        "crewai.task.description",
        "crewai.agent.goal",
        "mcp.request.argument",
        "instructions",
        "search_term",
        "passage",
        "observation",
        "db.statement",
    ],
)
def test_content_is_known_by_its_name_whoever_wrote_it(key: str) -> None:
    found = WITHHOLDER.attributes({key: "canary"})
    assert set(found) == {f"{key}.hash", f"{key}.length"}
    assert WITHHOLDER.attributes(found) == found


@pytest.mark.parametrize(
    "value", ["two words", "何時ですか", '{"q":"canary"}', ["a", "two words"], "x" * 129]
)
def test_under_a_name_that_nobody_knows_only_a_word_stays(value: Any) -> None:
    found = WITHHOLDER.attributes({"mcp.response.value": value, "somebody.kind": "AGENT"})
    assert set(found) == {"mcp.response.value.hash", "mcp.response.value.length", "somebody.kind"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("error.type", "canary of a question"),
        ("http.route", "/canary of a question"),
        ("rpc.method", "canary of a question"),
        ("gen_ai.tool.name", "canary of a question"),
        ("gen_ai.response.id", "canary of a question"),
        ("seekwatch.gateway.model", "canary of a question"),
        ("http.response.header.etag", ('"canary"',)),
        ("http.response.header.content-type", ("text/html; title=canary",)),
        ("raw", b"canary"),
    ],
)
def test_what_a_page_or_a_model_says_is_one_word_at_most(key: str, value: Any) -> None:
    assert set(WITHHOLDER.attributes({key: value})) == {f"{key}.hash", f"{key}.length"}


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("GET", "GET"),
        ("chat gpt-5.4", "chat gpt-5.4"),
        ("GET /search/{id}", "GET /search/{id}"),
        ("step: who is canary", "withheld"),
        ("何時ですか", "withheld"),
    ],
)
def test_a_name_of_many_words_is_no_name(name: str, left: str) -> None:
    assert WITHHOLDER.name(name) == left


@pytest.mark.parametrize(
    ("description", "kept"),
    [
        ("ValueError: canary", "ValueError"),
        ("httpx.ReadTimeout: canary", "httpx.ReadTimeout"),
        ("KeyboardInterrupt", "KeyboardInterrupt"),
        ("canary: what was asked", ""),
        ("canary", ""),
    ],
)
def test_a_status_keeps_at_most_the_type_of_its_error(description: str, kept: str) -> None:
    status = WITHHOLDER.status(Status(StatusCode.ERROR, description))
    assert (status.description or "") == kept


@pytest.mark.parametrize(
    ("date", "stays"),
    [("2026-11-30", True), ("3 days ago", True), ("Nov 3, 2026", True), ("canary of today", False)],
)
def test_a_published_date_stays_where_it_is_one(date: str, stays: bool) -> None:
    carrier = "gen_ai.retrieval.documents"
    found = WITHHOLDER.attributes({carrier: json.dumps([{"published_date": date}])})
    assert (date in found[carrier]) is stays


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gen_ai.usage.input_tokens", 3),
        ("seekwatch.content.type", "text/html"),
        ("seekwatch.run.stop_reason", "answered"),
        ("seekwatch.search.result_count", 2),
        ("gen_ai.operation.name", "chat"),
        ("http.response.header.content-type", ("text/html",)),
        ("input.mime_type", "text/plain"),
        ("retrieval.documents.0.document.id", "doc-17"),
        ("llm.input_messages.0.message.role", "user"),
        ("error.type", "ValueError"),
        ("user_agent.original", "python-httpx/0.28 (an agent)"),
        ("gen_ai.agent.name", "My Agent"),
        ("gen_ai.request.model", "meta-llama/Llama-3:free"),
        ("gen_ai.response.finish_reasons", ("stop", "tool_calls")),
        ("search.result", 7),
    ],
)
def test_facts_stay(key: str, value: Any) -> None:
    assert WITHHOLDER.attributes({key: value}) == {key: value}


@pytest.mark.parametrize("value", ["canary [", "{}", '"canary"', "[1]", '[{"url": ["canary"]}]'])
def test_a_carrier_of_another_shape_says_nothing(value: str) -> None:
    found = WITHHOLDER.attributes({"seekwatch.run.citations": value})
    assert "canary" not in found["seekwatch.run.citations"]


@retriever
def look_up(query: str) -> list[dict[str, Any]]:
    return [{"source": "canary title", "title": "canary", "snippet": "canary", "score": 0.5}]


@llm
def think(prompt: str) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": "canary"}}]}


def answer(request: httpx.Request) -> httpx.Response:
    if request.url.path == "/moved":
        return httpx.Response(302, headers={"Location": "/find?q=canary"})
    if request.url.path == "/search":
        results = [{"url": "https://a.example/?q=canary", "title": "canary", "content": "canary"}]
        return httpx.Response(200, json={"results": results})
    if request.url.path == "/broken":
        raise httpx.ConnectError("canary", request=request)
    return httpx.Response(200, html="<p>canary</p>")


def test_no_planted_word_leaves_the_process(sink: HttpSink) -> None:
    instrument("discreet", endpoint=sink.url, capture_content=False)
    with agent_run("canary question") as run:
        with httpx.Client(
            transport=httpx.MockTransport(answer),
            base_url="http://w.example",
            follow_redirects=True,
        ) as client:
            client.get("/moved")
            client.get("/moved?q=canary", follow_redirects=False)
            client.get("/find?topic=canary+question#canary")
            client.post("/search", data={"q": "canary", "format": "json"})
            with pytest.raises(httpx.ConnectError):
                client.get("/broken?search=canary")
        look_up("canary")
        think("canary")
        span = trace.get_current_span()
        span.add_event("gen_ai.user.message", {"content": "canary"})
        span.add_link(SpanContext(1, 1, True, TraceFlags(1)), {"input.value": "canary"})
        span.set_status(Status(StatusCode.ERROR, "canary failed"))
        run.answer("canary", ["canary title", {"url": "https://a.example/#:~:text=canary"}])
    assert flush()
    assert sink.kinds() == ["AGENT", "LLM", "RETRIEVER", "RETRIEVER", *["TOOL"] * 5]
    assert b"canary" not in b"".join(sink.requests)
    cited = json.loads(sink.one("AGENT").attributes["seekwatch.run.citations"])
    assert cited == [
        {"url": Withholder("seekwatch:discreet", frozenset()).hash("canary title")},
        {"url": "https://a.example/"},
    ]
    assert json.loads(sink.of_kind("TOOL")[0].attributes["seekwatch.fetch.hops"]) == [
        {"url": "http://w.example/moved", "status": 302, "location": "/find?q=****"}
    ]
