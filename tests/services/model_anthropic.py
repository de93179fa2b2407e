"""Anthropic's wire format, messages: whole and as a stream of events, with its own web search."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from tests.services.model_turns import Asked, Tool, Turn, texts


def asked(body: Mapping[str, Any]) -> Asked:
    """Read a request to `/v1/messages`."""
    tools = body.get("tools") or []
    functions = [tool for tool in tools if "input_schema" in tool]
    return Asked(
        model=body["model"],
        said="\n".join(texts([body.get("system") or "", body["messages"]])),
        tools=tuple(Tool.of(each["name"], each["input_schema"]) for each in functions),
        hosted_search=any(tool.get("type", "").startswith("web_search_") for tool in tools),
        stream=bool(body.get("stream")),
    )


def whole(turn: Turn) -> dict[str, Any]:
    """Write a message."""
    usage = _usage(turn)
    return _message(turn, _blocks(turn)) | {"stop_reason": _reason(turn), "usage": usage}


def events(turn: Turn) -> Iterator[bytes]:
    """Write the same as a stream."""
    begun = _message(turn, []) | {"usage": {**_usage(turn), "output_tokens": 1}}
    yield _event("message_start", {"message": begun})
    yield _event("ping", {})
    for index, block in enumerate(_blocks(turn)):
        blank = {**block, **{key: empty for key, empty in _BLANK.items() if key in block}}
        yield _event("content_block_start", {"index": index, "content_block": blank})
        for delta in _deltas(turn, block):
            yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    ended = {"stop_reason": _reason(turn), "stop_sequence": None}
    yield _event("message_delta", {"delta": ended, "usage": _usage(turn)})
    yield _event("message_stop", {})


_BLANK: dict[str, Any] = {"text": "", "input": {}, "citations": []}


def _deltas(turn: Turn, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if "input" in block:
        for piece in turn.pieces(json.dumps(block["input"])):
            yield {"type": "input_json_delta", "partial_json": piece}
    for citation in block.get("citations") or ():
        yield {"type": "citations_delta", "citation": citation}
    for piece in turn.pieces(block.get("text", "")):
        yield {"type": "text_delta", "text": piece}


def _message(turn: Turn, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(turn: Turn) -> list[dict[str, Any]]:
    if turn.call is not None:
        call = {"id": f"toolu_{turn.number}", "name": turn.call.name, "input": turn.call.arguments}
        return [{"type": "tool_use", **call}]
    if turn.searched is None:
        return [{"type": "text", "text": turn.text}]
    search = f"srvtoolu_{turn.number}"
    results = [
        {
            "type": "web_search_result",
            "url": document.url,
            "title": document.title,
            "encrypted_content": "RW5jcnlwdGVk",
            "page_age": _page_age(document.published),
        }
        for document in turn.found
    ]
    return [
        {
            "type": "server_tool_use",
            "id": search,
            "name": "web_search",
            "input": {"query": turn.searched},
        },
        {"type": "web_search_tool_result", "tool_use_id": search, "content": results},
        *_cited_texts(turn),
    ]


def _cited_texts(turn: Turn) -> Iterator[dict[str, Any]]:
    """Yield one text block for each sentence, with its citation beside it and no mark inside."""
    for document in turn.found:
        citation = {
            "type": "web_search_result_location",
            "url": document.url,
            "title": document.title,
            "encrypted_index": "SW5kZXg=",
            "cited_text": document.sentence,
        }
        yield {"type": "text", "text": document.sentence + " ", "citations": [citation]}


def _page_age(published: str) -> str:
    day = date.fromisoformat(published)
    return f"{day:%B} {day.day}, {day.year}"


def _usage(turn: Turn) -> dict[str, Any]:
    usage: dict[str, Any] = {
        # Unlike others, this API counts the cached part apart.
        "input_tokens": turn.input_tokens - turn.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": turn.cached_tokens,
        "output_tokens": turn.output_tokens,
        "service_tier": "standard",
    }
    if turn.searched is not None:
        usage["server_tool_use"] = {"web_search_requests": 1}
    return usage


def _reason(turn: Turn) -> str:
    return "tool_use" if turn.call else "end_turn"


def _event(name: str, value: Mapping[str, Any]) -> bytes:
    data = json.dumps({"type": name, **value}).encode()
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
