"""The local model and search APIs keep to the wire formats that client libraries rely on."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.services.library import TOPICS
from tests.services.model_server import ModelServer
from tests.services.search_server import SearchServer

TOPIC = TOPICS[0]
URLS = [document.url for document in TOPIC.documents]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def post(url: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as response:
        answered: bytes = response.read()
    return answered


def events(data: bytes) -> list[dict[str, Any]]:
    lines = [line.removeprefix(b"data: ") for line in data.splitlines()]
    return [json.loads(line) for line in lines if line.startswith(b"{")]


def chat(**changes: Any) -> dict[str, Any]:
    asked = [{"role": "user", "content": TOPIC.question}]
    return {"model": "gpt-4o-mini", "messages": asked, **changes}


def function() -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
    return {"type": "function", "function": {"name": "web_search", "parameters": parameters}}


def test_it_asks_for_a_search_and_then_answers_from_the_results(server: ModelServer) -> None:
    url = f"{server.url}/v1/chat/completions"
    [asked] = json.loads(post(url, chat(tools=[function()])))["choices"]
    assert asked["finish_reason"] == "tool_calls"
    [call] = asked["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"query": TOPIC.query}
    result = {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(URLS)}
    messages = [*chat()["messages"], asked["message"], result]
    whole = json.loads(post(url, chat(messages=messages, tools=[function()])))
    [answered] = whole["choices"]
    assert all(f"({each})" in answered["message"]["content"] for each in URLS)
    assert whole["usage"]["prompt_tokens"] == server.turns[1].input_tokens


@pytest.mark.parametrize("wanted", [True, False])
def test_a_chat_stream_has_usage_only_where_it_is_asked_for(
    server: ModelServer, wanted: bool
) -> None:
    options = {"stream_options": {"include_usage": True}} if wanted else {}
    streamed = post(f"{server.url}/v1/chat/completions", chat(stream=True, **options))
    assert streamed.endswith(b"data: [DONE]\n\n")
    told = [event for event in events(streamed) if event.get("usage")]
    assert len(told) == wanted
    assert server.turns[0].usage_told is wanted


def test_openai_s_hosted_search_is_streamed_with_its_citations(server: ModelServer) -> None:
    asked = {"model": "gpt-4o-mini", "input": TOPIC.question, "stream": True}
    streamed = post(f"{server.url}/v1/responses", {**asked, "tools": [{"type": "web_search"}]})
    happened = events(streamed)
    assert [event["sequence_number"] for event in happened] == list(range(len(happened)))
    search, message = happened[-1]["response"]["output"]
    assert search["action"]["query"] == TOPIC.query
    [text] = message["content"]
    for annotation, url in zip(text["annotations"], URLS, strict=True):
        marked = text["text"][annotation["start_index"] : annotation["end_index"]]
        assert annotation["url"] == url
        assert url in marked
    deltas = [each["delta"] for each in happened if each["type"] == "response.output_text.delta"]
    assert "".join(deltas) == text["text"]


def test_anthropic_s_stream_sums_up_to_its_message(server: ModelServer) -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search"}]
    asked = {"model": "claude-sonnet-4-6", "max_tokens": 10, "messages": chat()["messages"]}
    whole = json.loads(post(f"{server.url}/v1/messages", {**asked, "tools": tools}))
    streamed = events(post(f"{server.url}/v1/messages", {**asked, "tools": tools, "stream": True}))
    assert [block["type"] for block in whole["content"][:2]] == [
        "server_tool_use",
        "web_search_tool_result",
    ]
    said = "".join(block.get("text", "") for block in whole["content"])
    deltas = [each["delta"] for each in streamed if each["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == said
    cited = [delta["citation"]["url"] for delta in deltas if "citation" in delta]
    assert cited == URLS
    turn = server.turns[0]
    counted = whole["usage"]["input_tokens"] + whole["usage"]["cache_read_input_tokens"]
    assert counted == turn.input_tokens


@pytest.mark.parametrize("events_asked", [True, False], ids=["sse", "array"])
def test_gemini_s_stream_ends_with_its_grounding(server: ModelServer, events_asked: bool) -> None:
    path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"
    contents = [{"role": "user", "parts": [{"text": TOPIC.question}]}]
    body = {"contents": contents, "tools": [{"googleSearch": {}}]}
    streamed = post(f"{server.url}{path}{'?alt=sse' if events_asked else ''}", body)
    answers = events(streamed) if events_asked else json.loads(streamed)
    [candidate] = answers[-1]["candidates"]
    grounding = candidate["groundingMetadata"]
    assert grounding["webSearchQueries"] == [TOPIC.query]
    assert [chunk["web"]["uri"] for chunk in grounding["groundingChunks"]] == URLS
    parts = [answer["candidates"][0]["content"]["parts"][0]["text"] for answer in answers]
    assert "".join(parts) == server.turns[0].text


def test_each_search_api_answers_with_the_dated_documents() -> None:
    with SearchServer() as search:
        tavily = json.loads(post(f"{search.base('tavily')}/search", {"query": TOPIC.query}))
        serper = json.loads(post(f"{search.base('serper')}/search", {"q": TOPIC.query}))
        query = urllib.parse.urlencode({"q": TOPIC.query, "format": "json"})
        read = urllib.request.urlopen
        brave = json.load(read(f"{search.base('brave')}/res/v1/web/search?{query}"))
        searxng = json.load(read(f"{search.base('searxng')}/search?{query}"))
    assert [each["url"] for each in tavily["results"]] == URLS
    assert [each["link"] for each in serper["organic"]] == URLS
    assert [each["url"] for each in brave["web"]["results"]] == URLS
    assert [each["url"] for each in searxng["results"]] == URLS
    dates = (
        tavily["results"][0]["published_date"],
        serper["organic"][0]["date"],
        brave["web"]["results"][0]["page_age"],
        searxng["results"][0]["publishedDate"],
    )
    assert dates == ("2026-09-14", "Sep 14, 2026", "2026-09-14T08:00:00", "2026-09-14T08:00:00")
    assert search.queries == [
        (api, TOPIC.query) for api in ("tavily", "serper", "brave", "searxng")
    ]
