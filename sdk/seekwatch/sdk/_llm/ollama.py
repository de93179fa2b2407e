"""Ollama's own API: chat and generate, streamed as lines of JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from seekwatch.sdk._shapes import as_list, as_mapping

from . import telling
from .openai_chat import read_asked as read_chat
from .openai_parts import content_parts, tool_call_parts
from .streams import Event
from .telling import Asked, Told, Usage, count, word


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request; without `stream` the API streams."""
    asked = read_chat(body)
    if word(body.get("system")):
        asked.instructions = content_parts(body["system"])
    asked.streams = body.get("stream") is not False
    return asked


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer."""
    said = as_mapping(body.get("message")) or {
        "content": body.get("response"),
        "thinking": body.get("thinking"),
    }
    reason = word(body.get("done_reason"))
    thinking = word(said.get("thinking"))
    parts = [] if thinking is None else [telling.reasoning_part(thinking)]
    parts += content_parts(said.get("content"))
    parts += tool_call_parts(said.get("tool_calls"))
    return Told(
        model=word(body.get("model")),
        messages=[telling.message("assistant", parts, reason)] if parts or reason else [],
        finish_reasons=[] if reason is None else [reason],
        usage=Usage(
            input=count(body.get("prompt_eval_count")), output=count(body.get("eval_count"))
        ),
    )


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together; the last line has the counts."""
    whole: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    calls: list[Any] = []
    for event in events:
        whole |= event.data
        said = as_mapping(event.data.get("message"))
        calls.extend(as_list(said.get("tool_calls")))
        for key, value in (
            ("content", said.get("content")),
            ("thinking", said.get("thinking", event.data.get("thinking"))),
            ("content", event.data.get("response")),
        ):
            if isinstance(value, str):
                texts.setdefault(key, []).append(value)
    joined = {key: "".join(pieces) for key, pieces in texts.items()}
    whole["message"] = {**joined, "tool_calls": calls}
    return whole
