"""Answers of model APIs as they stand on the wire, whole and streamed: one story in every shape.

The model is asked when a bridge opened, searches the web where its API can, cites what it found and
asks for a tool. What the spans of all of them must say is `MODEL`, `TEXT`, `URL` and the counts.
"""

import base64
import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any

from seekwatch.sdk._llm.exchange import ModelExchange

MODEL = "model-2026-01-02"
TEXT = "Die Brücke wurde 1932 eröffnet."
URL = "https://news.example/bridge"
TITLE = "The bridge"
QUERY = "bridge opening year"
SECOND = 1_000_000_000


def exchange(
    path: str,
    asked: object,
    answered: object,
    *,
    host: str = "models.example",
    content_type: str | None = None,
    **fields: Any,
) -> ModelExchange:
    """Return a finished exchange; bodies that are no bytes are written as JSON."""
    streamed = isinstance(answered, bytes)
    kind = content_type or ("text/event-stream" if streamed else "application/json")
    values: dict[str, Any] = {
        "query": "",
        "status": 200,
        "headers": {"content-type": kind},
        "whole": True,
        "started_ns": 10 * SECOND,
        "first_chunk_ns": 10 * SECOND + SECOND // 2,
        "ended_ns": 12 * SECOND,
    }
    return ModelExchange(
        host=host,
        path=path,
        asked=asked if isinstance(asked, bytes) else json.dumps(asked).encode(),
        answered=answered if isinstance(answered, bytes) else json.dumps(answered).encode(),
        **{**values, **fields},
    )


def sse(events: Iterable[object], *, named: bool = False, done: bool = False) -> bytes:
    """Write events as server-sent ones; named ones carry their `type` as `event:` too."""
    lines: list[str] = []
    for event in events:
        if named and isinstance(event, dict):
            lines.append(f"event: {event['type']}\n")
        lines.append(f"data: {json.dumps(event)}\n\n")
    return ("".join(lines) + ("data: [DONE]\n\n" if done else "")).encode()


def aws_frame(name: str, payload: object, kind: str = ":event-type") -> bytes:
    """Write one frame of an AWS event stream."""
    headers = b""
    for key, value in ((kind, name), (":content-type", "application/json")):
        headers += bytes([len(key)]) + key.encode() + b"\x07"
        headers += struct.pack(">H", len(value)) + value.encode()
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    frame = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return frame + struct.pack(">I", zlib.crc32(frame))


def aws_chunks(events: Iterable[object]) -> bytes:
    """Write events as Bedrock's `invoke-with-response-stream` wraps them."""
    return b"".join(
        aws_frame("chunk", {"bytes": base64.b64encode(json.dumps(event).encode()).decode()})
        for event in events
    )


def cut_in_two(text: str) -> tuple[str, str]:
    """Cut a text where a stream might."""
    return text[: len(text) // 2], text[len(text) // 2 :]


A, B = cut_in_two(TEXT)
ARGUMENTS = {"page": 2}
ARGUMENTS_A, ARGUMENTS_B = cut_in_two(json.dumps(ARGUMENTS))

# --- OpenAI: chat completions -------------------------------------------------------------------

CHAT_ASKED: dict[str, Any] = {
    "model": "model",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "When?"}, {"type": "image_url"}]},
    ],
}
CHAT_USAGE: dict[str, Any] = {
    "prompt_tokens": 100,
    "completion_tokens": 40,
    "total_tokens": 140,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 16},
}
CHAT_CITATION: dict[str, Any] = {
    "type": "url_citation",
    "url_citation": {"url": URL, "title": TITLE, "start_index": 4, "end_index": 10},
}
CHAT_CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "turn_page", "arguments": json.dumps(ARGUMENTS)},
}
CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": MODEL,
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": TEXT,
                "refusal": None,
                "annotations": [CHAT_CITATION],
                "tool_calls": [CHAT_CALL],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": CHAT_USAGE,
}


def chat_chunk(delta: object, reason: str | None = None) -> dict[str, Any]:
    """Write one chunk of a streamed chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "chatcmpl-1", "model": MODEL, "choices": [choice], "usage": None}


CHAT_CHUNKS: list[dict[str, Any]] = [
    chat_chunk({"role": "assistant", "content": "", "refusal": None}),
    chat_chunk({"content": A}),
    chat_chunk({"content": B}),
    chat_chunk({"annotations": [CHAT_CITATION]}),
    chat_chunk({"tool_calls": [{**CHAT_CALL, "index": 0, "function": {"name": "turn_page"}}]}),
    chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS_A}}]}),
    chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS_B}}]}),
    chat_chunk({}, "tool_calls"),
]
CHAT_LAST: dict[str, Any] = {
    "id": "chatcmpl-1",
    "model": MODEL,
    "choices": [],
    "usage": CHAT_USAGE,
}
CHAT_STREAM = sse([*CHAT_CHUNKS, CHAT_LAST], done=True)

# --- OpenAI: responses --------------------------------------------------------------------------

RESPONSES_ASKED: dict[str, Any] = {
    "model": "model",
    "input": "When?",
    "instructions": "Be brief.",
    "tools": [{"type": "web_search"}],
}
RESPONSES_OUTPUT: list[dict[str, Any]] = [
    {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
    {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {
            "type": "search",
            "query": QUERY,
            "sources": [{"type": "url", "url": URL}, {"type": "url", "url": URL + "/2"}],
        },
    },
    {
        "id": "ws_2",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "open_page", "url": URL},
    },
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {
                "type": "output_text",
                "text": TEXT,
                "annotations": [
                    {
                        "type": "url_citation",
                        "url": URL,
                        "title": TITLE,
                        "start_index": 4,
                        "end_index": 10,
                    }
                ],
            }
        ],
    },
    {
        "id": "fc_1",
        "type": "function_call",
        "call_id": "call_1",
        "name": "turn_page",
        "arguments": json.dumps(ARGUMENTS),
    },
]
RESPONSES_USAGE: dict[str, Any] = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60},
    "output_tokens": 40,
    "output_tokens_details": {"reasoning_tokens": 16},
    "total_tokens": 140,
}
RESPONSES: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": MODEL,
    "output": RESPONSES_OUTPUT,
    "usage": RESPONSES_USAGE,
}


def responses_events(*, ended: bool = True, tool: bool = True) -> list[dict[str, Any]]:
    """Write a response as its events; one that broke off has the text deltas but no item's end.

    Args:
        ended: the answer came to its end.
        tool: its last item calls a tool of the agent's.
    """
    begun: dict[str, Any] = {**RESPONSES, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    output = RESPONSES_OUTPUT if tool else RESPONSES_OUTPUT[:-1]
    for index, item in enumerate(output):
        place = {"output_index": index}
        bare = {"id": item["id"], "type": item["type"], "status": "in_progress"}
        events.append({"type": "response.output_item.added", **place, "item": bare})
        if item["type"] == "message":
            events.extend(
                {"type": "response.output_text.delta", **place, "content_index": 0, "delta": piece}
                for piece in (A, B)
            )
            if not ended:
                return events
        events.append({"type": "response.output_item.done", **place, "item": item})
    whole = {**RESPONSES, "output": output}
    return [*events, {"type": "response.completed", "response": whole}]


RESPONSES_STREAM = sse(responses_events(), named=True)

# --- Anthropic ----------------------------------------------------------------------------------

ANTHROPIC_ASKED: dict[str, Any] = {
    "model": "model",
    "max_tokens": 100,
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "When?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "Nothing."},
                {"type": "text", "text": "When?"},
            ],
        },
    ],
}
ANTHROPIC_CITATION: dict[str, Any] = {
    "type": "web_search_result_location",
    "url": URL,
    "title": TITLE,
    "encrypted_index": "RW5jcnlwdGVk",
    "cited_text": "It opened in 1932.",
}
ANTHROPIC_BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "Look.", "signature": "c2lnbmVk"},
    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": QUERY}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srv_1",
        "content": [
            {
                "type": "web_search_result",
                "url": URL,
                "title": TITLE,
                "encrypted_content": "RW5jcnlwdGVkIGNvbnRlbnQ=",
                "page_age": "April 30, 2025",
            },
            {
                "type": "web_search_result",
                "url": URL + "/2",
                "title": "Another",
                "encrypted_content": "RW5jcnlwdGVkIGNvbnRlbnQ=",
                "page_age": None,
            },
        ],
    },
    {"type": "text", "text": TEXT, "citations": [ANTHROPIC_CITATION]},
    {"type": "tool_use", "id": "call_1", "name": "turn_page", "input": ARGUMENTS},
]
ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": ANTHROPIC_BLOCKS,
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 30,
        "cache_read_input_tokens": 60,
        "cache_creation_input_tokens": 10,
        "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 16},
        "server_tool_use": {"web_search_requests": 1},
    },
}


def anthropic_events(*, tool: bool = True) -> list[dict[str, Any]]:
    """Write a message as its events, with or without its last block, which calls a tool."""
    usage = {**ANTHROPIC["usage"], "output_tokens": 1}
    begun: dict[str, Any] = {**ANTHROPIC, "content": [], "stop_reason": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(ANTHROPIC_BLOCKS if tool else ANTHROPIC_BLOCKS[:-1]):
        start = dict(block)
        deltas: list[dict[str, Any]] = []
        if block["type"] == "text":
            start |= {"text": "", "citations": None}
            deltas = [{"type": "text_delta", "text": piece} for piece in (A, B)]
            deltas.append({"type": "citations_delta", "citation": ANTHROPIC_CITATION})
        elif block["type"] == "thinking":
            start |= {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif "input" in block:
            start["input"] = {}
            pieces = cut_in_two(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.extend(
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        )
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
    told = {"output_tokens": 40, "output_tokens_details": {"thinking_tokens": 16}}
    events.append({"type": "message_delta", "delta": delta, "usage": told})
    return [*events, {"type": "message_stop"}]


ANTHROPIC_STREAM = sse(anthropic_events(), named=True)

# --- Gemini -------------------------------------------------------------------------------------

GEMINI_ASKED: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [{"role": "user", "parts": [{"text": "When?"}]}],
    "tools": [{"google_search": {}}],
}
GEMINI_GROUNDING: dict[str, Any] = {
    "webSearchQueries": [QUERY],
    "searchEntryPoint": {"renderedContent": "<div>a button</div>"},
    "groundingChunks": [{"web": {"uri": URL, "title": TITLE}}],
    "groundingSupports": [
        {
            # Bytes: the ü before the end takes two.
            "segment": {"startIndex": 4, "endIndex": 11, "text": "Brücke"},
            "groundingChunkIndices": [0],
        }
    ],
}
GEMINI_USAGE: dict[str, Any] = {
    "promptTokenCount": 90,
    "toolUsePromptTokenCount": 10,
    "cachedContentTokenCount": 60,
    "candidatesTokenCount": 24,
    "thoughtsTokenCount": 16,
    "totalTokenCount": 140,
}
GEMINI_CALL: dict[str, Any] = {"functionCall": {"name": "turn_page", "args": ARGUMENTS}}


def gemini_answer(
    parts: list[dict[str, Any]], *, last: bool = True, grounded: bool = True
) -> dict[str, Any]:
    """Write one answer, which is also one event of a stream."""
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if grounded:
        candidate["groundingMetadata"] = GEMINI_GROUNDING
    answer: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": MODEL,
        "responseId": "gen_1",
        "usageMetadata": {"promptTokenCount": 90},
    }
    if last:
        candidate["finishReason"] = "STOP"
        answer["usageMetadata"] = GEMINI_USAGE
    return answer


GEMINI = gemini_answer([{"text": "Look.", "thought": True}, {"text": TEXT}, GEMINI_CALL])
# The thought is a part before the text, so the support names the second part.
GEMINI_GROUNDING["groundingSupports"][0]["segment"]["partIndex"] = 1
GEMINI_EVENTS: list[dict[str, Any]] = [
    gemini_answer([{"text": "Look.", "thought": True}], last=False, grounded=False),
    gemini_answer([{"text": A}], last=False, grounded=False),
    gemini_answer([{"text": B}, GEMINI_CALL]),
]
GEMINI_STREAM = sse(GEMINI_EVENTS)
GEMINI_ANSWER = sse([*GEMINI_EVENTS[:2], gemini_answer([{"text": B}])])
"""The same without a call of a tool."""
GEMINI_ARRAY = json.dumps(GEMINI_EVENTS, indent=1).encode()

# --- Cohere -------------------------------------------------------------------------------------

COHERE_ASKED: dict[str, Any] = {**CHAT_ASKED}
COHERE_CITATION: dict[str, Any] = {
    "start": 4,
    "end": 10,
    "text": "Brücke",
    "sources": [{"type": "document", "id": "d1", "document": {"url": URL, "title": TITLE}}],
}
COHERE_CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "turn_page", "arguments": json.dumps(ARGUMENTS)},
}
COHERE_USAGE: dict[str, Any] = {
    "billed_units": {"input_tokens": 30, "output_tokens": 20},
    "tokens": {"input_tokens": 100.0, "output_tokens": 40.0},
    "cached_tokens": 60,
}
COHERE: dict[str, Any] = {
    "id": "coh_1",
    "finish_reason": "TOOL_CALL",
    "message": {
        "role": "assistant",
        "tool_plan": "Look.",
        "content": [{"type": "text", "text": TEXT}],
        "citations": [COHERE_CITATION],
        "tool_calls": [COHERE_CALL],
    },
    "usage": COHERE_USAGE,
}


def cohere_event(kind: str, message: object = None, **fields: Any) -> dict[str, Any]:
    """Write one event of a stream of version 2."""
    delta = {} if message is None else {"delta": {"message": message}}
    return {"type": kind, "index": 0, **delta, **fields}


COHERE_STREAM = sse(
    [
        cohere_event("message-start", {"role": "assistant"}, id="coh_1"),
        cohere_event("tool-plan-delta", {"tool_plan": "Look."}),
        cohere_event("content-start", {"content": {"type": "text", "text": ""}}),
        cohere_event("content-delta", {"content": {"text": A}}),
        cohere_event("content-delta", {"content": {"text": B}}),
        cohere_event("citation-start", {"citations": COHERE_CITATION}),
        cohere_event("citation-end"),
        cohere_event("content-end"),
        cohere_event(
            "tool-call-start",
            {"tool_calls": {**COHERE_CALL, "function": {"name": "turn_page", "arguments": ""}}},
        ),
        cohere_event(
            "tool-call-delta", {"tool_calls": {"function": {"arguments": json.dumps(ARGUMENTS)}}}
        ),
        cohere_event("tool-call-end"),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": COHERE_USAGE}},
    ]
)
COHERE_1_ASKED: dict[str, Any] = {
    "model": "model",
    "preamble": "Be brief.",
    "chat_history": [{"role": "CHATBOT", "message": "Yes?"}],
    "message": "When?",
    "connectors": [{"id": "web-search"}],
}
COHERE_1: dict[str, Any] = {
    "generation_id": "coh_1",
    "text": TEXT,
    "finish_reason": "COMPLETE",
    "citations": [{"start": 4, "end": 10, "text": "Brücke", "document_ids": ["web_0"]}],
    "documents": [
        {
            "id": "web_0",
            "url": URL,
            "title": TITLE,
            "snippet": "It opened.",
            "timestamp": "2025-04-30",
        }
    ],
    "search_queries": [{"text": QUERY, "generation_id": "g"}],
    "search_results": [{"search_query": {"text": QUERY}, "document_ids": ["web_0"]}],
    "meta": {"tokens": {"input_tokens": 100, "output_tokens": 40}},
}
COHERE_1_STREAM = (
    "\n".join(
        json.dumps(event)
        for event in (
            {"event_type": "stream-start", "generation_id": "coh_1", "is_finished": False},
            {"event_type": "text-generation", "text": A, "is_finished": False},
            {"event_type": "text-generation", "text": B, "is_finished": False},
            {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": COHERE_1},
        )
    )
    + "\n"
).encode()

# --- Bedrock ------------------------------------------------------------------------------------

CONVERSE_ASKED: dict[str, Any] = {
    "system": [{"text": "Be brief."}],
    "messages": [{"role": "user", "content": [{"text": "When?"}]}],
}
CONVERSE: dict[str, Any] = {
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Look.", "signature": "s"}}},
                {
                    "citationsContent": {
                        "content": [{"text": TEXT}],
                        "citations": [{"title": TITLE, "location": {"web": {"url": URL}}}],
                    }
                },
                {"toolUse": {"toolUseId": "call_1", "name": "turn_page", "input": ARGUMENTS}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {
        "inputTokens": 40,
        "outputTokens": 40,
        "totalTokens": 140,
        "cacheReadInputTokens": 60,
        "cacheWriteInputTokens": 0,
    },
    "metrics": {"latencyMs": 700},
}
CONVERSE_STREAM = b"".join(
    aws_frame(name, payload)
    for name, payload in (
        ("messageStart", {"role": "assistant"}),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Look."}}},
        ),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": A}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": B}}),
        (
            "contentBlockDelta",
            {
                "contentBlockIndex": 1,
                "delta": {"citation": {"title": TITLE, "location": {"web": {"url": URL}}}},
            },
        ),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        (
            "contentBlockStart",
            {
                "contentBlockIndex": 2,
                "start": {"toolUse": {"toolUseId": "call_1", "name": "turn_page"}},
            },
        ),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 2, "delta": {"toolUse": {"input": ARGUMENTS_A}}},
        ),
        (
            "contentBlockDelta",
            {"contentBlockIndex": 2, "delta": {"toolUse": {"input": ARGUMENTS_B}}},
        ),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": CONVERSE["usage"], "metrics": {"latencyMs": 700}}),
    )
)

# --- Ollama, Mistral ----------------------------------------------------------------------------

OLLAMA: dict[str, Any] = {
    "model": MODEL,
    "message": {
        "role": "assistant",
        "content": TEXT,
        "thinking": "Look.",
        "tool_calls": [{"function": {"name": "turn_page", "arguments": ARGUMENTS}}],
    },
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 100,
    "eval_count": 40,
}
OLLAMA_STREAM = (
    "\n".join(
        json.dumps({"model": MODEL, "done": False, "message": {"role": "assistant", **said}})
        for said in (
            {"content": "", "thinking": "Look."},
            {"content": A},
            {"content": B},
            {"content": "", "tool_calls": OLLAMA["message"]["tool_calls"]},
        )
    )
    + "\n"
    + json.dumps({**OLLAMA, "message": {"role": "assistant", "content": ""}})
    + "\n"
).encode()
MISTRAL: dict[str, Any] = {
    "conversation_id": "conv_1",
    "object": "conversation.response",
    "outputs": [
        {
            "type": "tool.execution",
            "id": "tool_1",
            "name": "web_search",
            "arguments": json.dumps({"query": QUERY}),
        },
        {
            "type": "message.output",
            "role": "assistant",
            "model": MODEL,
            "content": [
                {"type": "text", "text": TEXT},
                {"type": "tool_reference", "tool": "web_search", "title": TITLE, "url": URL},
            ],
        },
    ],
    "usage": {"prompt_tokens": 30, "completion_tokens": 40, "connector_tokens": 70},
}
MISTRAL_STREAM = sse(
    [
        {"type": "conversation.response.started", "conversation_id": "conv_1"},
        {"type": "tool.execution.started", "output_index": 0, "id": "tool_1", "name": "web_search"},
        {
            "type": "tool.execution.done",
            "output_index": 0,
            "id": "tool_1",
            "name": "web_search",
            "arguments": json.dumps({"query": QUERY}),
        },
        *(
            {
                "type": "message.output.delta",
                "output_index": 1,
                "role": "assistant",
                "model": MODEL,
                "content": piece,
            }
            for piece in (A, B, MISTRAL["outputs"][1]["content"][1])
        ),
        {"type": "conversation.response.done", "usage": MISTRAL["usage"]},
    ],
    named=True,
)
