"""Mistral's conversations API, the one in which its models search the web.

Its chat completions have OpenAI's shape and are read there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from seekwatch.sdk._decoding import decode
from seekwatch.sdk._shapes import as_list, as_mapping, is_list, lookup

from . import telling
from .openai_parts import content_parts
from .streams import Event
from .telling import Asked, Message, Part, Told, Usage, count, flag, total, word


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request; one that names an agent names no model."""
    inputs = body.get("inputs")
    if isinstance(inputs, str):
        inputs = [{"role": "user", "content": inputs}]
    instructions = word(body.get("instructions"))
    return Asked(
        model=word(body.get("model")),
        messages=[_entry(item, "user") for item in as_list(inputs)] if is_list(inputs) else None,
        instructions=[] if instructions is None else [telling.text_part(instructions)],
        streams=flag(body.get("stream")),
    )


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer."""
    usage = as_mapping(body.get("usage"))
    outputs = as_list(body.get("outputs"))
    models = (word(lookup(item, "model")) for item in outputs)
    return Told(
        model=next((model for model in models if model is not None), None),
        id=word(body.get("conversation_id")),
        messages=[_entry(item, "assistant") for item in outputs],
        usage=Usage(
            # What its own tools put before the model is counted apart.
            input=total(count(usage.get("prompt_tokens")), count(usage.get("connector_tokens"))),
            output=count(usage.get("completion_tokens")),
        ),
    )


def _entry(value: object, role: str) -> Message:
    entry = as_mapping(value)
    kind = entry.get("type")
    if kind == "tool.execution":
        name = word(entry.get("name")) or "tool"
        given = entry.get("arguments")
        details = {"type": name, "input": decode(given) if isinstance(given, str) else given}
        return telling.message("assistant", [telling.server_call(entry.get("id"), name, details)])
    if kind == "function.call":
        identity = entry.get("tool_call_id")
        part = telling.tool_call(identity, entry.get("name"), entry.get("arguments"))
        return telling.message("assistant", [part])
    if kind == "function.result":
        part = telling.tool_answer(entry.get("tool_call_id"), entry.get("result"))
        return telling.message("tool", [part])
    return telling.message(entry.get("role", role), _content(entry.get("content")))


def _content(content: object) -> list[Part]:
    """Read content; references to pages stand between the texts that rest on them."""
    parts: list[Part] = []
    for item in as_list([content] if isinstance(content, str) else content):
        if lookup(item, "type") != "tool_reference":
            parts += content_parts([item])
            continue
        url, text = word(lookup(item, "url")), parts[-1] if parts else None
        if url is not None and text is not None and text["type"] == "text":
            length = len(text["content"])
            found = telling.citation(url, title=word(item.get("title")), start=0, end=length)
            text.setdefault("annotations", []).append(found)
    return parts


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together."""
    whole: dict[str, Any] = {}
    entries: dict[int, dict[str, Any]] = {}
    for event in events:
        data = event.data
        kind = word(data.get("type")) or event.name
        index = count(data.get("output_index")) or 0
        if kind == "conversation.response.started":
            whole["conversation_id"] = data.get("conversation_id")
        elif kind == "conversation.response.done":
            whole["usage"] = data.get("usage")
        elif kind == "message.output.delta":
            entry = entries.setdefault(index, {"type": "message.output"})
            entry |= {key: data[key] for key in ("role", "model") if data.get(key)}
            _append(entry.setdefault("content", []), data.get("content"))
        elif kind == "function.call.delta":
            entry = entries.setdefault(index, {**data, "type": "function.call", "arguments": ""})
            entry["arguments"] = f"{entry.get('arguments', '')}{word(data.get('arguments')) or ''}"
        elif kind.startswith("tool.execution"):
            done = {key: value for key, value in data.items() if key != "content"}
            entries.setdefault(index, {}).update({**done, "type": "tool.execution"})
    whole["outputs"] = [entries[index] for index in sorted(entries)]
    for entry in whole["outputs"]:
        for part in as_list(entry.get("content")):
            if isinstance(lookup(part, "text"), list):
                part["text"] = "".join(part["text"])
    return whole


def _append(content: list[Any], piece: object) -> None:
    text = piece if isinstance(piece, str) else lookup(piece, "text")
    if not isinstance(text, str):
        if piece is not None:
            content.append(piece)
        return
    if not content or not isinstance(lookup(content[-1], "text"), list):
        content.append({"type": "text", "text": []})
    content[-1]["text"].append(text)
