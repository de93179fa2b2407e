import json

import httpx
import pytest
from opentelemetry import trace

from seekwatch.sdk import agent_run, flush, instrument
from seekwatch.sdk._llm.calls import provider_name
from tests.services import model_wires
from tests.services.otlp_sink import HttpSink
from tests.services.web import Answer, LocalWeb, Received

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Did it snow?"},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "t1", "content": "It snowed."},
]


@pytest.fixture(autouse=True)
def instrumented(sink: HttpSink) -> None:
    instrument("thinker", endpoint=sink.url)


def test_a_chat_completion_is_an_llm_span_with_usage(web: LocalWeb, sink: HttpSink) -> None:
    with agent_run("q"):
        httpx.post(f"{web.url}/v1/chat/completions", json={"model": "small", "messages": MESSAGES})
    assert flush()
    span = sink.one("LLM")
    found = span.attributes
    assert span.name == "chat small"
    assert span.parent_id == sink.one("AGENT").span_id
    assert found["gen_ai.operation.name"] == "chat"
    assert found["gen_ai.provider.name"] == "openai"
    assert found["gen_ai.request.model"] == "small"
    assert found["gen_ai.response.model"] == "small-2026"
    assert found["gen_ai.response.id"] == "chatcmpl-1"
    assert found["gen_ai.usage.input_tokens"] == 21
    assert found["gen_ai.usage.output_tokens"] == 4
    assert found["gen_ai.usage.cache_read.input_tokens"] == 5
    assert found["gen_ai.usage.reasoning.output_tokens"] == 1
    assert found["gen_ai.response.finish_reasons"] == ["stop"]
    assert json.loads(found["gen_ai.input.messages"]) == [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "Did it snow?"}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "t1", "name": "search", "arguments": "{}"}],
        },
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "t1", "response": "It snowed."}],
        },
    ]
    assert json.loads(found["gen_ai.output.messages"]) == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "It snowed."}],
            "finish_reason": "stop",
        }
    ]
    assert sink.of_kind("TOOL") == [], "a model call is no page fetch"


def test_a_responses_call_is_an_llm_span_with_usage(web: LocalWeb, sink: HttpSink) -> None:
    httpx.post(
        f"{web.url}/v1/responses",
        json={"model": "small", "input": "Did it snow?", "instructions": "Be brief."},
    )
    assert flush()
    found = sink.one("LLM").attributes
    assert found["gen_ai.usage.input_tokens"] == 11
    assert found["gen_ai.usage.output_tokens"] == 3
    assert found["gen_ai.response.finish_reasons"] == ["stop"]
    assert json.loads(found["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Did it snow?"}]}
    ]
    assert json.loads(found["gen_ai.system_instructions"]) == [
        {"type": "text", "content": "Be brief."}
    ]
    kinds = [m["parts"][0]["type"] for m in json.loads(found["gen_ai.output.messages"])]
    assert kinds == ["tool_call", "text"]


def test_missing_usage_stays_missing(web: LocalWeb, sink: HttpSink) -> None:
    httpx.post(f"{web.url}/nousage/chat/completions", json={"model": "small", "messages": []})
    assert flush()
    found = sink.one("LLM").attributes
    assert not [key for key in found if key.startswith("gen_ai.usage")]


def test_a_failed_model_call_keeps_what_was_asked(web: LocalWeb, sink: HttpSink) -> None:
    httpx.post(f"{web.url}/failing/chat/completions", json={"model": "small", "messages": MESSAGES})
    assert flush()
    span = sink.one("LLM")
    assert span.attributes["error.type"] == "500"
    assert span.attributes["gen_ai.request.model"] == "small"
    assert span.status == 2


def test_a_call_inside_another_instrumentations_llm_span_is_not_seen_twice(
    web: LocalWeb, sink: HttpSink
) -> None:
    tracer = trace.get_tracer("another.instrumentor")
    with tracer.start_as_current_span("chat", attributes={"gen_ai.operation.name": "chat"}):
        httpx.post(f"{web.url}/v1/chat/completions", json={"model": "small", "messages": []})
    assert flush()
    assert sink.of_kind("LLM") == []
    assert sink.of_kind("TOOL") == []


def test_embeddings_are_neither_a_fetch_nor_a_generation(web: LocalWeb, sink: HttpSink) -> None:
    httpx.post(f"{web.url}/v1/embeddings", json={"model": "e", "input": "x"})
    assert flush()
    assert [span.openinference_kind for span in sink.spans] == [None]


def test_a_post_to_such_a_path_without_a_model_is_no_generation(
    web: LocalWeb, sink: HttpSink
) -> None:
    httpx.post(f"{web.url}/survey/responses", json={"answer": 1})
    assert flush()
    assert sink.of_kind("LLM") == []


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("api.openai.com", "openai"),
        ("mine.openai.azure.com", "azure.ai.openai"),
        ("api.groq.com", "groq"),
        ("openrouter.ai", "openrouter"),
        ("localhost", "openai"),
    ],
)
def test_the_provider_follows_from_the_host(host: str, provider: str) -> None:
    assert provider_name(host) == provider


def _stream(body: bytes, **fields: object) -> Answer:
    return Answer(200, body, "text/event-stream", chunks=8, **fields)  # type: ignore[arg-type]


def test_a_streamed_answer_is_read_as_it_passes(web: LocalWeb, sink: HttpSink) -> None:
    web.pages["/v1/chat/completions"] = lambda _: _stream(model_wires.CHAT_STREAM, delay=0.05)
    asked: dict[str, object] = {"model": "small", "messages": MESSAGES, "stream": True}
    with (
        httpx.Client() as client,
        client.stream("POST", f"{web.url}/v1/chat/completions", json=asked) as response,
    ):
        passed = b"".join(response.iter_bytes())
    assert flush()
    assert passed == model_wires.CHAT_STREAM
    assert json.loads(web.requests[-1].body) == asked, "nothing is added to what the agent asks"
    found = sink.one("LLM").attributes
    assert found["gen_ai.request.stream"] is True
    assert found["gen_ai.usage.input_tokens"] == 100
    assert found["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert found["gen_ai.response.time_to_first_chunk"] >= 0.05
    assert json.loads(found["gen_ai.output.messages"])[0]["finish_reason"] == "tool_calls"


def test_a_stream_of_many_megabytes_still_tells_what_it_used(web: LocalWeb, sink: HttpSink) -> None:
    pieces = [model_wires.chat_chunk({"content": "x" * 1000}) for _ in range(3000)]
    body = model_wires.sse([*pieces, *model_wires.CHAT_CHUNKS, model_wires.CHAT_LAST], done=True)
    web.pages["/v1/chat/completions"] = lambda _: _stream(body)
    asked: dict[str, object] = {"model": "small", "messages": [], "stream": True}
    with (
        httpx.Client() as client,
        client.stream("POST", f"{web.url}/v1/chat/completions", json=asked) as response,
    ):
        for _ in response.iter_raw(4096):
            pass
    assert flush()
    found = sink.one("LLM").attributes
    assert found["gen_ai.usage.output_tokens"] == 40
    assert found["seekwatch.llm.unread_reason"] == "cut"


def test_a_stream_that_the_agent_leaves_early_tells_what_had_come(
    web: LocalWeb, sink: HttpSink
) -> None:
    web.pages["/v1/messages"] = lambda _: _stream(model_wires.ANTHROPIC_STREAM, pause=0.02)
    asked: dict[str, object] = {"model": "small", "messages": [], "stream": True}
    with (
        httpx.Client() as client,
        client.stream("POST", f"{web.url}/v1/messages", json=asked) as response,
    ):
        next(response.iter_raw())
    assert flush()
    found = sink.one("LLM").attributes
    assert found["gen_ai.provider.name"] == "anthropic"
    assert found["gen_ai.response.model"] == model_wires.MODEL
    assert found["seekwatch.llm.unread_reason"] == "cut"


def test_a_gateways_headers_stand_on_the_span(web: LocalWeb, sink: HttpSink) -> None:
    def answer(_: Received) -> Answer:
        headers = {"X-Prism-Cost": "0.002", "X-Prism-Fallback-Used": "false", "X-Other": "1"}
        return Answer(200, json.dumps(model_wires.CHAT).encode(), "application/json", headers)

    web.pages["/v1/chat/completions"] = answer
    httpx.post(f"{web.url}/v1/chat/completions", json={"model": "small", "messages": []})
    assert flush()
    found = sink.one("LLM").attributes
    assert found["seekwatch.gateway.cost"] == 0.002
    assert found["seekwatch.gateway.fallback_used"] is False
    assert not [key for key in found if "other" in key]
