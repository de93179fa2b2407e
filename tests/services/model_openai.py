"""OpenAI's two wire formats, chat completions and responses, whole and as a stream of events."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.services.model_turns import Asked, Tool, Turn, texts

_CREATED = 1_790_000_000


def chat_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request to `/v1/chat/completions`."""
    stream = bool(body.get("stream"))
    options = body.get("stream_options") or {}
    functions = [tool["function"] for tool in body.get("tools", ()) if tool["type"] == "function"]
    return Asked(
        model=body["model"],
        said="\n".join(texts(body["messages"])),
        tools=tuple(Tool.of(each["name"], each.get("parameters", {})) for each in functions),
        hosted_search="web_search_options" in body,
        stream=stream,
        usage_wanted=not stream or bool(options.get("include_usage")),
    )


def chat_whole(turn: Turn) -> dict[str, Any]:
    """Write a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None, "refusal": None}
    message["annotations"] = [_chat_annotation(turn, n) for n in _cited_by_search(turn)]
    if turn.call is not None:
        function = {"name": turn.call.name, "arguments": json.dumps(turn.call.arguments)}
        call = {"id": f"call_{turn.number}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(turn)}
    return _chat_object(turn, "chat.completion", [choice]) | {"usage": _chat_usage(turn)}


def chat_events(turn: Turn) -> Iterator[bytes]:
    """Write the same as a stream."""
    first = {"role": "assistant", "content": None if turn.call else "", "refusal": None}
    yield _chat_chunk(turn, first)
    if turn.call is not None:
        function = {"name": turn.call.name, "arguments": ""}
        begun = {"index": 0, "id": f"call_{turn.number}", "type": "function", "function": function}
        yield _chat_chunk(turn, {"tool_calls": [begun]})
        for piece in turn.pieces(json.dumps(turn.call.arguments)):
            part = {"index": 0, "function": {"arguments": piece}}
            yield _chat_chunk(turn, {"tool_calls": [part]})
    for piece in turn.pieces(turn.text):
        yield _chat_chunk(turn, {"content": piece})
    cited = [_chat_annotation(turn, n) for n in _cited_by_search(turn)]
    if cited:
        yield _chat_chunk(turn, {"annotations": cited})
    yield _chat_chunk(turn, {}, _reason(turn))
    if turn.usage_told:
        last = _chat_object(turn, "chat.completion.chunk", []) | {"usage": _chat_usage(turn)}
        yield _data(last)
    yield b"data: [DONE]\n\n"


def _chat_object(turn: Turn, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": kind,
        "created": _CREATED,
        "model": turn.model,
        "choices": choices,
        "service_tier": "default",
        "system_fingerprint": "fp_local",
    }


def _chat_chunk(turn: Turn, delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    chunk = _chat_object(turn, "chat.completion.chunk", [choice])
    # Where usage was asked for, every chunk but the last carries a null of it.
    return _data(chunk | ({"usage": None} if turn.usage_told else {}))


def _chat_usage(turn: Turn) -> dict[str, Any]:
    return {
        "prompt_tokens": turn.input_tokens,
        "completion_tokens": turn.output_tokens,
        "total_tokens": turn.input_tokens + turn.output_tokens,
        "prompt_tokens_details": {"cached_tokens": turn.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _chat_annotation(turn: Turn, number: int) -> dict[str, Any]:
    return {"type": "url_citation", "url_citation": _url_citation(turn, number)}


def _reason(turn: Turn) -> str:
    return "tool_calls" if turn.call else "stop"


def responses_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request to `/v1/responses`."""
    tools = body.get("tools") or []
    functions = [tool for tool in tools if tool["type"] == "function"]
    return Asked(
        model=body["model"],
        said="\n".join(texts([body.get("instructions") or "", body["input"]])),
        tools=tuple(Tool.of(each["name"], each.get("parameters") or {}) for each in functions),
        hosted_search=any(tool["type"].startswith("web_search") for tool in tools),
        stream=bool(body.get("stream")),
    )


def responses_whole(body: Mapping[str, Any], turn: Turn) -> dict[str, Any]:
    """Write a response."""
    return _response(body, turn, "completed", _items(body, turn)) | {
        "usage": {
            "input_tokens": turn.input_tokens,
            "input_tokens_details": {"cached_tokens": turn.cached_tokens},
            "output_tokens": turn.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.input_tokens + turn.output_tokens,
        }
    }


def responses_events(body: Mapping[str, Any], turn: Turn) -> Iterator[bytes]:
    """Write the same as a stream."""
    begun = _response(body, turn, "in_progress", [])
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(_items(body, turn)):
        place = {"output_index": index}
        started = {**item, "status": "in_progress"}
        started |= {key: empty for key, empty in _BLANK.items() if key in item}
        events.append({"type": "response.output_item.added", **place, "item": started})
        events += ({**event, **place} for event in _item_events(turn, item))
        events.append({"type": "response.output_item.done", **place, "item": item})
    events.append({"type": "response.completed", "response": responses_whole(body, turn)})
    for number, event in enumerate(events):
        name = event["type"].encode()
        yield b"event: " + name + b"\n" + _data({**event, "sequence_number": number})


_BLANK: dict[str, Any] = {"content": [], "arguments": "", "action": {"type": "search", "query": ""}}


def _item_events(turn: Turn, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    place: dict[str, Any] = {"item_id": item["id"]}
    if item["type"] == "web_search_call":
        for state in ("in_progress", "searching", "completed"):
            yield {"type": f"response.web_search_call.{state}", **place}
    elif item["type"] == "function_call":
        kind = "response.function_call_arguments"
        for piece in turn.pieces(item["arguments"]):
            yield {"type": f"{kind}.delta", **place, "delta": piece}
        yield {
            "type": f"{kind}.done",
            **place,
            "name": item["name"],
            "arguments": item["arguments"],
        }
    else:
        place["content_index"] = 0
        part = item["content"][0]
        blank = {**part, "text": "", "annotations": []}
        yield {"type": "response.content_part.added", **place, "part": blank}
        for piece in turn.pieces(part["text"]):
            delta = {"delta": piece, "logprobs": []}
            yield {"type": "response.output_text.delta", **place, **delta}
        for number, annotation in enumerate(part["annotations"]):
            told = {"annotation_index": number, "annotation": annotation}
            yield {"type": "response.output_text.annotation.added", **place, **told}
        whole = {"text": part["text"], "logprobs": []}
        yield {"type": "response.output_text.done", **place, **whole}
        yield {"type": "response.content_part.done", **place, "part": part}


def _items(body: Mapping[str, Any], turn: Turn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.searched is not None:
        action: dict[str, Any] = {"type": "search", "query": turn.searched}
        action["queries"] = [turn.searched]
        if "web_search_call.action.sources" in (body.get("include") or ()):
            action["sources"] = [{"type": "url", "url": each.url} for each in turn.found]
        kind = {"type": "web_search_call", "id": f"ws_{turn.number}"}
        items.append({**kind, "status": "completed", "action": action})
    if turn.call is not None:
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{turn.number}",
                "call_id": f"call_{turn.number}",
                "name": turn.call.name,
                "arguments": json.dumps(turn.call.arguments),
                "status": "completed",
            }
        )
        return items
    cited = [
        {"type": "url_citation", **_url_citation(turn, number)} for number in _cited_by_search(turn)
    ]
    text = {"type": "output_text", "text": turn.text, "annotations": cited, "logprobs": []}
    message = {"type": "message", "id": f"msg_{turn.number}", "status": "completed"}
    return [*items, {**message, "role": "assistant", "content": [text]}]


def _cited_by_search(turn: Turn) -> range:
    """Return the numbers of the citations that the API itself marks: those of a hosted search."""
    return range(len(turn.citations) if turn.searched is not None else 0)


def _url_citation(turn: Turn, number: int) -> dict[str, Any]:
    cited = turn.citations[number]
    return {
        "start_index": cited.start,
        "end_index": cited.end,
        "url": cited.document.url,
        "title": cited.document.title,
    }


def _response(
    body: Mapping[str, Any], turn: Turn, status: str, output: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": _CREATED,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": None,
        "model": turn.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        "metadata": {},
    }


def _data(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
