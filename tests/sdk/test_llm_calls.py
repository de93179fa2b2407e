import json

import httpx
import pytest
from opentelemetry import trace

from seekwatch.sdk import agent_run, flush, instrument
from seekwatch.sdk._llm.calls import provider_name
from tests.services.otlp_sink import HttpSink
from tests.services.web import LocalWeb

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
