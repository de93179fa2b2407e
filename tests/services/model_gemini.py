"""Gemini's wire format, `generateContent` and its stream, with grounding by Google search."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.services.model_turns import Asked, Tool, Turn, texts


def asked(model: str, body: Mapping[str, Any], *, stream: bool) -> Asked:
    """Read a request to `/v1beta/models/MODEL:generateContent` or its stream."""
    tools = body.get("tools") or []
    functions = [each for tool in tools for each in tool.get("functionDeclarations", ())]
    return Asked(
        model=model,
        said="\n".join(texts([body.get("systemInstruction") or "", body["contents"]])),
        tools=tuple(Tool.of(each["name"], _schema(each)) for each in functions),
        hosted_search=any("googleSearch" in tool or "google_search" in tool for tool in tools),
        stream=stream,
    )


def whole(turn: Turn) -> dict[str, Any]:
    """Write an answer."""
    parts: list[dict[str, Any]] = []
    if turn.call is not None:
        parts = [{"functionCall": {"name": turn.call.name, "args": turn.call.arguments}}]
    else:
        parts = [{"text": turn.text}]
    return _answer(turn, parts, last=True)


def events(turn: Turn) -> Iterator[bytes]:
    """Write the same as server-sent events (`alt=sse`)."""
    for answer in _stream(turn):
        yield b"data: " + json.dumps(answer).encode() + b"\r\n\r\n"


def array(turn: Turn) -> Iterator[bytes]:
    """Write the same as one JSON array, which is what a stream is without `alt=sse`."""
    for number, answer in enumerate(_stream(turn)):
        yield (b",\r\n" if number else b"[") + json.dumps(answer).encode()
    yield b"]"


def _stream(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.call is not None:
        yield whole(turn)
        return
    pieces = list(turn.pieces(turn.text))
    for piece in pieces[:-1]:
        yield _answer(turn, [{"text": piece}], last=False)
    yield _answer(turn, [{"text": pieces[-1]}], last=True)


def _schema(function: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = (
        function.get("parameters") or function.get("parametersJsonSchema") or {}
    )
    return schema


def _answer(turn: Turn, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    usage: dict[str, Any] = {
        "promptTokenCount": turn.input_tokens,
        "totalTokenCount": turn.input_tokens,
    }
    if last:
        candidate["finishReason"] = "STOP"
        usage |= {
            "cachedContentTokenCount": turn.cached_tokens,
            "candidatesTokenCount": turn.output_tokens,
            "totalTokenCount": turn.input_tokens + turn.output_tokens,
        }
        if turn.searched is not None:
            candidate["groundingMetadata"] = _grounding(turn)
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": turn.model,
        "responseId": f"response-{turn.number}",
    }


def _grounding(turn: Turn) -> dict[str, Any]:
    chunks = [{"web": {"uri": each.url, "title": each.title}} for each in turn.found]
    supports: list[dict[str, Any]] = []
    end = 0
    for number, cited in enumerate(turn.citations):
        # Byte offsets, by the API's documentation; the texts here are ASCII.
        segment = {"endIndex": cited.start, "text": turn.text[end : cited.start]}
        supports.append(
            {
                "segment": segment | ({"startIndex": end} if end else {}),
                "groundingChunkIndices": [number],
            }
        )
        end = cited.end
    return {
        "webSearchQueries": [turn.searched],
        "searchEntryPoint": {"renderedContent": "<div></div>"},
        "groundingChunks": chunks,
        "groundingSupports": supports,
    }
