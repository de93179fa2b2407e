"""Every wire shape of a model API, whole and streamed, says the same on the span."""

import dataclasses
import json
from typing import Any

import pytest

from seekwatch.sdk._llm.exchange import read_call
from tests.services import model_wires as wires
from tests.services.model_wires import exchange

BEDROCK = "bedrock-runtime.eu-west-1.amazonaws.com"
CLAUDE = "/model/eu.anthropic.claude-v1:0"
NDJSON = "application/x-ndjson"
AWS = "application/vnd.amazon.eventstream"

WHOLE = {
    "chat": exchange("/v1/chat/completions", wires.CHAT_ASKED, wires.CHAT),
    "responses": exchange("/v1/responses", wires.RESPONSES_ASKED, wires.RESPONSES),
    "anthropic": exchange("/v1/messages", wires.ANTHROPIC_ASKED, wires.ANTHROPIC),
    "vertex-anthropic": exchange(
        "/v1/projects/p/locations/l/publishers/anthropic/models/model@1:rawPredict",
        {**wires.ANTHROPIC_ASKED, "model": None},
        wires.ANTHROPIC,
        host="europe-west1-aiplatform.googleapis.com",
    ),
    "bedrock-anthropic": exchange(
        f"{CLAUDE}/invoke",
        {**wires.ANTHROPIC_ASKED, "model": None, "anthropic_version": "bedrock-2023-05-31"},
        wires.ANTHROPIC,
        host=BEDROCK,
    ),
    "gemini": exchange("/v1beta/models/model:generateContent", wires.GEMINI_ASKED, wires.GEMINI),
    "cohere-2": exchange("/v2/chat", wires.COHERE_ASKED, wires.COHERE),
    "cohere-1": exchange("/v1/chat", wires.COHERE_1_ASKED, wires.COHERE_1),
    "converse": exchange(f"{CLAUDE}/converse", wires.CONVERSE_ASKED, wires.CONVERSE, host=BEDROCK),
    "ollama": exchange("/api/chat", {**wires.CHAT_ASKED, "stream": False}, wires.OLLAMA),
    "mistral": exchange("/v1/conversations", {"agent_id": "a", "inputs": "When?"}, wires.MISTRAL),
}
STREAMED = {
    "chat": exchange(
        "/v1/chat/completions", {**wires.CHAT_ASKED, "stream": True}, wires.CHAT_STREAM
    ),
    "responses": exchange("/v1/responses", wires.RESPONSES_ASKED, wires.RESPONSES_STREAM),
    "anthropic": exchange("/v1/messages", wires.ANTHROPIC_ASKED, wires.ANTHROPIC_STREAM),
    "vertex-anthropic": exchange(
        "/v1/projects/p/locations/l/publishers/anthropic/models/model@1:streamRawPredict",
        {**wires.ANTHROPIC_ASKED, "model": None},
        wires.ANTHROPIC_STREAM,
        host="europe-west1-aiplatform.googleapis.com",
    ),
    "bedrock-anthropic": exchange(
        f"{CLAUDE}/invoke-with-response-stream",
        {**wires.ANTHROPIC_ASKED, "model": None, "anthropic_version": "bedrock-2023-05-31"},
        wires.aws_chunks(wires.anthropic_events()),
        host=BEDROCK,
        content_type=AWS,
    ),
    "gemini": exchange(
        "/v1beta/models/model:streamGenerateContent", wires.GEMINI_ASKED, wires.GEMINI_STREAM
    ),
    "cohere-2": exchange("/v2/chat", wires.COHERE_ASKED, wires.COHERE_STREAM),
    "cohere-1": exchange(
        "/v1/chat",
        wires.COHERE_1_ASKED,
        wires.COHERE_1_STREAM,
        content_type=NDJSON,
    ),
    "converse": exchange(
        f"{CLAUDE}/converse-stream",
        wires.CONVERSE_ASKED,
        wires.CONVERSE_STREAM,
        host=BEDROCK,
        content_type=AWS,
    ),
    "ollama": exchange("/api/chat", wires.CHAT_ASKED, wires.OLLAMA_STREAM, content_type=NDJSON),
    "mistral": exchange(
        "/v1/conversations", {"agent_id": "a", "inputs": "When?"}, wires.MISTRAL_STREAM
    ),
}
NAMELESS = ("cohere-1", "cohere-2", "converse")
"""Their answers do not say which model it was."""


def parts_of(found: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    messages = json.loads(found["gen_ai.output.messages"])
    return [part for message in messages for part in message["parts"] if part["type"] == kind]


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_answer_says_text_model_and_usage(name: str) -> None:
    found = read_call(WHOLE[name])
    assert "".join(part["content"] for part in parts_of(found, "text")) == wires.TEXT
    assert found.get("gen_ai.response.model") == (None if name in NAMELESS else wires.MODEL)
    assert found["gen_ai.usage.input_tokens"] == 100, "cached tokens included"
    assert found["gen_ai.usage.output_tokens"] == 40, "reasoning included"
    assert "seekwatch.llm.unread_reason" not in found
    assert "gen_ai.response.time_to_first_chunk" not in found, "nothing was streamed"
    asked = json.loads(found["gen_ai.input.messages"])
    assert [part["content"] for part in asked[-1]["parts"] if part["type"] == "text"] == ["When?"]


@pytest.mark.parametrize("name", STREAMED)
def test_a_streamed_answer_says_the_same_as_a_whole_one(name: str) -> None:
    whole, streamed = read_call(WHOLE[name]), read_call(STREAMED[name])
    assert streamed.pop("gen_ai.response.time_to_first_chunk") == 0.5
    for found in (whole, streamed):
        found.pop("gen_ai.request.stream", None)
        found.pop("gen_ai.input.messages", None)
        found["gen_ai.output.messages"] = json.loads(found["gen_ai.output.messages"])
        for message in found["gen_ai.output.messages"]:
            for part in message["parts"]:
                if part["type"] == "tool_call" and isinstance(part["arguments"], str):
                    part["arguments"] = json.loads(part["arguments"])
    assert streamed == whole


@pytest.mark.parametrize(
    ("name", "cached", "created", "reasoning"),
    [
        ("chat", 60, None, 16),
        ("responses", 60, None, 16),
        ("anthropic", 60, 10, 16),
        ("gemini", 60, None, 16),
        ("cohere-2", 60, None, None),
        ("converse", 60, 0, None),
        ("ollama", None, None, None),
    ],
)
def test_cached_and_reasoning_tokens_are_told_where_the_api_tells_them(
    name: str, cached: int | None, created: int | None, reasoning: int | None
) -> None:
    found = read_call(WHOLE[name])
    assert found.get("gen_ai.usage.cache_read.input_tokens") == cached
    assert found.get("gen_ai.usage.cache_creation.input_tokens") == created
    assert found.get("gen_ai.usage.reasoning.output_tokens") == reasoning


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in ("cohere-1", "mistral")])
def test_a_tool_that_the_model_asks_for_is_told(name: str) -> None:
    (call,) = parts_of(read_call(STREAMED[name]), "tool_call")
    arguments = call["arguments"]
    assert call["name"] == "turn_page"
    assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == wires.ARGUMENTS


@pytest.mark.parametrize("name", [name for name in WHOLE if name != "ollama"])
def test_citations_stand_on_the_text_that_they_are_for(name: str) -> None:
    (text,) = parts_of(read_call(WHOLE[name]), "text")
    (cited,) = text["annotations"]
    assert (cited["url"], cited["title"]) == (wires.URL, wires.TITLE)
    marked = text["content"][cited["start_index"] : cited["end_index"]]
    assert marked in ("Brücke", wires.TEXT), "characters, whatever the API counts"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("responses", ["dates"]),
        ("anthropic", None),
        ("gemini", ["dates"]),
        ("cohere-1", None),
        ("mistral", ["results"]),
        ("chat", ["query", "results"]),
    ],
)
def test_what_a_hosted_search_does_not_say_is_told(name: str, missing: list[str] | None) -> None:
    assert read_call(WHOLE[name]).get("seekwatch.search.missing") == missing


def test_a_page_that_a_search_tool_opens_is_no_search() -> None:
    names = [part["name"] for part in parts_of(read_call(WHOLE["responses"]), "server_tool_call")]
    assert names == ["web_search", "open_page"]


def test_what_only_the_provider_can_read_is_not_carried() -> None:
    carried = read_call(WHOLE["anthropic"])["gen_ai.output.messages"]
    assert "RW5jcnlwdGVk" not in carried
    assert "c2lnbmVk" not in carried


@pytest.mark.parametrize(
    ("name", "operation", "asked", "provider"),
    [
        ("chat", "chat", "model", "openai"),
        ("anthropic", "chat", "model", "anthropic"),
        ("vertex-anthropic", "chat", "model", "gcp.vertex_ai"),
        ("bedrock-anthropic", "chat", "eu.anthropic.claude-v1:0", "aws.bedrock"),
        ("gemini", "generate_content", "model", "gcp.gen_ai"),
        ("converse", "chat", "eu.anthropic.claude-v1:0", "aws.bedrock"),
        ("cohere-2", "chat", "model", "cohere"),
        ("mistral", "chat", None, "mistral_ai"),
    ],
)
def test_operation_model_and_provider(
    name: str, operation: str, asked: str | None, provider: str
) -> None:
    found = read_call(STREAMED[name])
    assert found["gen_ai.operation.name"] == operation
    assert found.get("gen_ai.request.model") == asked
    assert found["gen_ai.provider.name"] == provider


def test_instructions_are_told_apart_from_the_conversation() -> None:
    for name in ("responses", "anthropic", "gemini", "cohere-1", "converse"):
        said = json.loads(read_call(WHOLE[name])["gen_ai.system_instructions"])
        assert said == [{"type": "text", "content": "Be brief."}], name


def test_an_azure_deployment_is_the_model_that_was_asked() -> None:
    found = read_call(
        exchange(
            "/openai/deployments/my-gpt/chat/completions",
            {"messages": []},
            wires.CHAT,
            host="mine.openai.azure.com",
        )
    )
    assert found["gen_ai.request.model"] == "my-gpt"
    assert found["gen_ai.provider.name"] == "azure.ai.openai"


def test_a_stream_that_was_not_asked_for_usage_says_none() -> None:
    found = read_call(
        exchange("/v1/chat/completions", wires.CHAT_ASKED, wires.sse(wires.CHAT_CHUNKS, done=True))
    )
    assert not [key for key in found if key.startswith("gen_ai.usage")]
    assert found["gen_ai.response.finish_reasons"] == ["tool_calls"]
    assert "seekwatch.llm.unread_reason" not in found


def test_reasoning_that_is_counted_beside_the_completion_is_added() -> None:
    usage = {**wires.CHAT_USAGE, "completion_tokens": 24}
    found = read_call(
        exchange("/v1/chat/completions", wires.CHAT_ASKED, {**wires.CHAT, "usage": usage})
    )
    assert found["gen_ai.usage.output_tokens"] == 40


def test_groqs_and_deepseeks_counts_are_read() -> None:
    groq = {**wires.CHAT_LAST, "usage": None, "x_groq": {"usage": wires.CHAT_USAGE}}
    stream = wires.sse([*wires.CHAT_CHUNKS, groq])
    assert (
        read_call(exchange("/v1/chat/completions", {}, stream))["gen_ai.usage.input_tokens"] == 100
    )
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 5}
    found = read_call(exchange("/chat/completions", {}, {**wires.CHAT, "usage": usage}))
    assert found["gen_ai.usage.cache_read.input_tokens"] == 5


def test_perplexitys_results_and_citations_are_read() -> None:
    result = {"title": wires.TITLE, "url": wires.URL, "date": "2025-04-30"}
    answer = {
        **wires.CHAT,
        "citations": [wires.URL],
        "search_results": [result],
        "usage": {**wires.CHAT_USAGE, "cost": {"total_cost": 0.006}},
    }
    answer["choices"] = [{"message": {"role": "assistant", "content": "In 1932.[1]"}}]
    found = read_call(
        exchange("/chat/completions", wires.CHAT_ASKED, answer, host="api.perplexity.ai")
    )
    (text,) = parts_of(found, "text")
    assert text["annotations"] == [{"type": "url_citation", "url": wires.URL, "title": wires.TITLE}]
    (told,) = parts_of(found, "server_tool_call_response")
    assert told["server_tool_call_response"]["results"] == [result]
    assert found["seekwatch.search.missing"] == ["query"]
    assert found["seekwatch.gateway.cost"] == 0.006


def test_openrouters_cost_and_upstream_are_read_and_no_other_servers() -> None:
    usage = {**wires.CHAT_USAGE, "cost": 0.01, "is_byok": True}
    usage["cost_details"] = {"upstream_inference_cost": 0.02}
    answer = {**wires.CHAT, "provider": "Groq", "usage": usage}
    path = "/api/v1/chat/completions"
    found = read_call(exchange(path, wires.CHAT_ASKED, answer, host="openrouter.ai"))
    assert found["seekwatch.gateway.cost"] == pytest.approx(0.03)
    assert found["seekwatch.gateway.name"] == "openrouter"
    assert found["seekwatch.gateway.provider"] == "Groq"
    assert "seekwatch.gateway.cost" not in read_call(exchange(path, wires.CHAT_ASKED, answer))


def test_bedrocks_headers_count_where_the_body_does_not() -> None:
    headers = {
        "content-type": "application/json",
        "x-amzn-bedrock-input-token-count": "90",
        "x-amzn-bedrock-output-token-count": "7",
        "x-amzn-bedrock-cache-read-input-token-count": "10",
    }
    body = {"generation": "Hello.", "stop_reason": "stop"}
    found = read_call(
        exchange("/model/meta.llama3/invoke", {"prompt": "Hi"}, body, host=BEDROCK, headers=headers)
    )
    assert found["gen_ai.usage.input_tokens"] == 100
    assert found["gen_ai.usage.output_tokens"] == 7
    assert parts_of(found, "text") == [{"type": "text", "content": "Hello."}]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"results": [{"outputText": "Hello.", "tokenCount": 2}], "inputTextTokenCount": 3}, 2),
        ({"generation": "Hello.", "prompt_token_count": 3, "generation_token_count": 2}, 2),
        ({"outputs": [{"text": "Hello.", "stop_reason": "stop"}]}, None),
    ],
)
def test_older_models_behind_bedrock_are_read(body: dict[str, Any], text: int | None) -> None:
    found = read_call(exchange("/model/some.model-v1/invoke", {}, body, host=BEDROCK))
    assert parts_of(found, "text") == [{"type": "text", "content": "Hello."}]
    assert found.get("gen_ai.usage.output_tokens") == text


def test_geminis_stream_without_sse_is_one_array() -> None:
    found = read_call(
        exchange(
            "/v1beta/models/model:streamGenerateContent",
            wires.GEMINI_ASKED,
            wires.GEMINI_ARRAY,
            content_type="application/json; charset=UTF-8",
        )
    )
    assert parts_of(found, "text")[0]["content"] == wires.TEXT
    assert found["gen_ai.response.time_to_first_chunk"] == 0.5
    assert found["gen_ai.request.stream"] is True


def test_a_completion_of_the_older_kind_is_read() -> None:
    answer = {"model": wires.MODEL, "choices": [{"text": "Hello.", "finish_reason": "stop"}]}
    found = read_call(exchange("/v1/completions", {"model": "m", "prompt": "Hi"}, answer))
    assert found["gen_ai.operation.name"] == "text_completion"
    assert parts_of(found, "text") == [{"type": "text", "content": "Hello."}]


def test_a_response_that_broke_off_tells_the_text_until_then() -> None:
    stream = wires.sse(wires.responses_events(ended=False), named=True)
    found = read_call(exchange("/v1/responses", wires.RESPONSES_ASKED, stream, whole=False))
    assert parts_of(found, "text") == [{"type": "text", "content": wires.TEXT}]
    assert found["gen_ai.response.id"] == "resp_1"
    assert found["seekwatch.llm.unread_reason"] == "cut"
    assert not [key for key in found if key.startswith("gen_ai.usage")]


def test_an_error_inside_a_stream_is_told() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Try later."}}
    stream = wires.sse([*wires.anthropic_events()[:4], error], named=True)
    found = read_call(exchange("/v1/messages", wires.ANTHROPIC_ASKED, stream))
    assert found["error.type"] == "overloaded_error"
    frames = wires.aws_frame("throttlingException", {"message": "slow"}, ":exception-type")
    found = read_call(
        exchange(f"{CLAUDE}/converse-stream", {}, frames, host=BEDROCK, content_type=AWS)
    )
    assert found["error.type"] == "throttlingException"


@pytest.mark.parametrize(
    ("answered", "whole", "reason"),
    [
        (b"", False, "empty"),
        (b"<html>busy</html>", True, "not-json"),
        (b'{"surprise": 1}', True, "unknown-shape"),
        (b'{"choices": [{"message": {"content": "He', False, "cut"),
        (b"[" * 5_000, True, "not-json"),
    ],
)
def test_an_answer_that_cannot_be_read_says_why(answered: bytes, whole: bool, reason: str) -> None:
    found = read_call(
        exchange(
            "/v1/chat/completions",
            wires.CHAT_ASKED,
            answered,
            whole=whole,
            content_type="application/json",
        )
    )
    assert found["seekwatch.llm.unread_reason"] == reason
    assert found["gen_ai.request.model"] == "model"


def test_a_call_that_another_span_counts_carries_content_and_no_counts() -> None:
    counted = dataclasses.replace(WHOLE["chat"], counted_above=True)
    found = read_call(counted)
    assert not [key for key in found if key.startswith("gen_ai.usage")]
    assert "gen_ai.output.messages" in found
