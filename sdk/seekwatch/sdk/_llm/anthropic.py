"""Anthropic's messages API, also as Vertex AI and Bedrock pass it on."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from seekwatch.sdk._decoding import decode
from seekwatch.sdk._shapes import as_list, as_mapping, is_list, is_mapping, lookup

from . import telling
from .streams import Event
from .telling import Asked, Message, Part, Told, Usage, count, flag, total, word

_RESULT: Final = "_tool_result"
_HIDDEN: Final = frozenset({"encrypted_content", "encrypted_index", "signature", "data"})
"""Fields that only the provider can read, as long as the pages themselves."""


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request."""
    messages = body.get("messages")
    return Asked(
        model=word(body.get("model")),
        messages=[_message(item) for item in as_list(messages)] if is_list(messages) else None,
        instructions=_parts(body.get("system")) if body.get("system") else [],
        streams=flag(body.get("stream")),
    )


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer."""
    told = Told(
        model=word(body.get("model")), id=word(body.get("id")), usage=read_usage(body.get("usage"))
    )
    reason = word(body.get("stop_reason"))
    parts = _parts(body.get("content"))
    if parts or reason is not None:
        told.messages = [telling.message(body.get("role", "assistant"), parts, reason)]
    if reason is not None:
        told.finish_reasons = [reason]
    return told


def read_usage(value: object) -> Usage:
    """Read usage; the API counts cached input apart from the rest of it."""
    usage = as_mapping(value)
    fresh = count(usage.get("input_tokens"))
    read = count(usage.get("cache_read_input_tokens"))
    created = count(usage.get("cache_creation_input_tokens"))
    return Usage(
        input=None if fresh is None else total(fresh, read, created),
        output=count(usage.get("output_tokens")),
        cache_read=read,
        cache_creation=created,
        reasoning=count(lookup(usage, "output_tokens_details.thinking_tokens")),
    )


def _message(item: object) -> Message:
    fields = as_mapping(item)
    return telling.message(fields.get("role", "user"), _parts(fields.get("content")))


def _parts(content: object) -> list[Part]:
    if isinstance(content, str):
        return [telling.text_part(content)]
    return [_part(as_mapping(block)) for block in as_list(content)]


def _part(block: Mapping[str, Any]) -> Part:
    kind = word(block.get("type")) or ""
    if kind == "text":
        text = block.get("text")
        return _text(text if isinstance(text, str) else "", block.get("citations"))
    if kind == "thinking":
        return telling.reasoning_part(word(block.get("thinking")) or "")
    if kind == "tool_use":
        return telling.tool_call(block.get("id"), block.get("name"), block.get("input"))
    if kind == "tool_result":
        return telling.tool_answer(block.get("tool_use_id"), _answered(block.get("content")))
    if kind in ("server_tool_use", "mcp_tool_use"):
        name = word(block.get("name")) or kind
        return telling.server_call(
            block.get("id"), name, {"type": name, "input": block.get("input")}
        )
    if kind.endswith(_RESULT):
        return _server_answer(kind, block)
    return telling.other_part(kind)


def _text(text: str, citations: object) -> Part:
    """Read a text block; its citations are for all of it."""
    found = [
        telling.citation(
            item["url"],
            title=word(item.get("title")),
            cited_text=word(item.get("cited_text")),
            start=0,
            end=len(text),
        )
        for item in as_list(citations)
        if is_mapping(item) and isinstance(item.get("url"), str)
    ]
    return telling.text_part(text, found)


def _answered(content: object) -> object:
    """Return a tool's result as text where it is only that; images are not carried."""
    texts = [lookup(part, "text") for part in as_list(content)]
    if texts and all(isinstance(text, str) for text in texts):
        return "\n".join(texts)
    return content if isinstance(content, str) else [_part(as_mapping(p)) for p in as_list(content)]


def _server_answer(kind: str, block: Mapping[str, Any]) -> Part:
    content = block.get("content")
    details: dict[str, Any] = {"type": kind}
    if is_list(content):
        details["results"] = [_visible(item) for item in content]
    elif is_mapping(content):
        code = content.get("error_code")
        details |= {"error": code} if code else {"result": _visible(content, depth=2)}
    return telling.server_answer(block.get("tool_use_id"), details)


def _visible(item: object, depth: int = 1) -> object:
    if not is_mapping(item):
        return item
    return {
        key: _visible(value, depth - 1) if depth > 0 else value
        for key, value in item.items()
        if key not in _HIDDEN
    }


class _Block:
    """One block of a streamed answer."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        self.fields = dict(start)
        self.pieces: dict[str, list[str]] = {}
        self.citations = list(as_list(start.get("citations")))

    def add(self, delta: Mapping[str, Any]) -> None:
        for key in ("text", "thinking", "partial_json"):
            if isinstance(delta.get(key), str):
                self.pieces.setdefault(key, []).append(delta[key])
        if delta.get("type") == "citations_delta":
            self.citations.append(delta.get("citation"))

    def whole(self) -> dict[str, Any]:
        block = {**self.fields, "citations": self.citations}
        for key in ("text", "thinking"):
            if key in self.pieces:
                given = block.get(key)
                block[key] = (given if isinstance(given, str) else "") + "".join(self.pieces[key])
        if "partial_json" in self.pieces:
            written = "".join(self.pieces["partial_json"])
            decoded = decode(written)
            # Arguments that were cut stay as they are written.
            block["input"] = written if decoded is None else decoded
        return block


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together.

    The first event has the input's usage, the last but one the output's, each counted from the
    beginning; what the later one repeats wins.
    """
    whole: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    blocks: dict[int, _Block] = {}
    for event in events:
        data = event.data
        kind = word(data.get("type")) or event.name
        index = count(data.get("index")) or 0
        if kind == "message_start":
            whole = dict(as_mapping(data.get("message")))
            usage = dict(as_mapping(whole.get("usage")))
        elif kind == "content_block_start":
            blocks[index] = _Block(as_mapping(data.get("content_block")))
        elif kind == "content_block_delta":
            block = blocks.setdefault(index, _Block({"type": "text"}))
            block.add(as_mapping(data.get("delta")))
        elif kind == "message_delta":
            told = as_mapping(data.get("usage"))
            usage |= {key: value for key, value in told.items() if value is not None}
            whole["stop_reason"] = lookup(data, "delta.stop_reason") or whole.get("stop_reason")
    whole["usage"] = usage
    whole["content"] = [blocks[index].whole() for index in sorted(blocks)]
    return whole
