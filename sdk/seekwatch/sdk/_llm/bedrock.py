"""Amazon Bedrock: the converse API, and the models' own shapes behind `invoke`."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from seekwatch.sdk._shapes import as_list, as_mapping, is_list, is_mapping, lookup

from . import anthropic, cohere, openai_chat, telling
from .streams import Event
from .telling import Asked, Message, Part, Told, Usage, count, total, word

_METRICS: Final = "amazon-bedrock-invocationMetrics"
"""The service's own count, at the end of a streamed answer."""


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request; the model stands in the path."""
    if "anthropic_version" in body:
        return anthropic.read_asked(body)
    messages = body.get("messages")
    if is_list(messages) and any(is_mapping(lookup(m, "content.0")) for m in messages):
        system = [_part(as_mapping(item)) for item in as_list(body.get("system"))]
        return Asked(messages=[_message(item) for item in messages], instructions=system)
    if "message" in body or is_list(messages):
        return cohere.read_asked(body)
    prompt = word(body.get("prompt")) or word(body.get("inputText"))
    if prompt is None:
        return Asked()
    return Asked(messages=[telling.message("user", [telling.text_part(prompt)])])


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer of converse (Nova speaks it behind `invoke` too), else of a model's own."""
    if is_mapping(body.get("output")) or "stopReason" in body:
        told = _conversed(body)
    elif is_list(body.get("content")):
        told = anthropic.read_told(body)
    elif is_list(body.get("choices")):
        told = openai_chat.read_told(body)
    elif is_mapping(body.get("message")) or "generation_id" in body:
        told = cohere.read_told(body)
    else:
        told = _completed(body)
    metrics = as_mapping(body.get(_METRICS))
    if metrics and told.usage.input is None and told.usage.output is None:
        told.usage = _metered(
            count(metrics.get("inputTokenCount")),
            count(metrics.get("outputTokenCount")),
            count(metrics.get("cacheReadInputTokenCount")),
            count(metrics.get("cacheWriteInputTokenCount")),
        )
    return told


def header_usage(headers: Mapping[str, str]) -> Usage:
    """Read usage from the headers of an answer: of some models it stands nowhere else."""

    def read(name: str) -> int | None:
        value = headers.get(f"x-amzn-bedrock-{name}-token-count", "")
        return (
            count(int(value)) if value.isascii() and value.isdigit() and len(value) < 16 else None
        )

    return _metered(
        read("input"), read("output"), read("cache-read-input"), read("cache-write-input")
    )


def _metered(fresh: int | None, output: int | None, read: int | None, new: int | None) -> Usage:
    """Bedrock's own meters count cached input apart from the rest."""
    given = None if fresh is None else total(fresh, read, new)
    return Usage(input=given, output=output, cache_read=read, cache_creation=new)


def _conversed(body: Mapping[str, Any]) -> Told:
    usage = as_mapping(body.get("usage"))
    reason = word(body.get("stopReason"))
    told = Told(
        usage=_metered(
            count(usage.get("inputTokens")),
            count(usage.get("outputTokens")),
            count(usage.get("cacheReadInputTokens", usage.get("cacheReadInputTokenCount"))),
            count(usage.get("cacheWriteInputTokens", usage.get("cacheWriteInputTokenCount"))),
        )
    )
    said = as_mapping(lookup(body, "output.message"))
    if said or reason is not None:
        made = _message(said, "assistant")
        if reason is not None:
            made["finish_reason"] = reason
            told.finish_reasons = [reason]
        told.messages = [made]
    return told


def _completed(body: Mapping[str, Any]) -> Told:
    """Read the one-field answers of Titan, Llama and Mistral."""
    first = as_mapping(lookup(body, "results.0")) or as_mapping(lookup(body, "outputs.0")) or body
    texts = (first.get(key) for key in ("outputText", "generation", "text"))
    text = next((text for text in texts if isinstance(text, str)), None)
    reason = word(first.get("completionReason")) or word(first.get("stop_reason"))
    told = Told(
        usage=Usage(
            input=count(body.get("inputTextTokenCount", body.get("prompt_token_count"))),
            output=count(first.get("tokenCount", first.get("generation_token_count"))),
        ),
        finish_reasons=[] if reason is None else [reason],
    )
    if text is not None:
        told.messages = [telling.message("assistant", [telling.text_part(text)], reason)]
    return told


def _message(value: object, role: str = "user") -> Message:
    item = as_mapping(value)
    parts: list[Part] = []
    for block in as_list(item.get("content")):
        fields = as_mapping(block)
        cited = fields.get("citationsContent")
        parts.append(_cited(as_mapping(cited)) if is_mapping(cited) else _part(fields))
    role = str(item.get("role", role))
    if parts and all(part["type"] == "tool_call_response" for part in parts):
        role = "tool"
    return telling.message(role, parts)


def _part(block: Mapping[str, Any]) -> Part:
    if isinstance(block.get("text"), str):
        return telling.text_part(block["text"])
    if is_mapping(block.get("toolUse")):
        call = block["toolUse"]
        if call.get("type") == "server_tool_use":
            name = word(call.get("name")) or "tool"
            details = {"type": name, "input": call.get("input")}
            return telling.server_call(call.get("toolUseId"), name, details)
        return telling.tool_call(call.get("toolUseId"), call.get("name"), call.get("input"))
    if is_mapping(block.get("toolResult")):
        answer = block["toolResult"]
        content = [
            part.get("text", part.get("json", next(iter(part), None)))
            for part in map(as_mapping, as_list(answer.get("content")))
        ]
        return telling.tool_answer(answer.get("toolUseId"), content)
    if is_mapping(block.get("reasoningContent")):
        text = lookup(block, "reasoningContent.reasoningText.text")
        return telling.reasoning_part(text if isinstance(text, str) else "")
    return telling.other_part(next(iter(block), None))


def _cited(content: Mapping[str, Any]) -> Part:
    """Read text with citations; they are for all of it."""
    texts = [lookup(item, "text") for item in as_list(content.get("content"))]
    text = "".join(item for item in texts if isinstance(item, str))
    found = [
        telling.citation(
            lookup(item, "location.web.url"),
            title=word(lookup(item, "title")),
            cited_text=word(lookup(item, "sourceContent.0.text")),
            start=0,
            end=len(text),
        )
        for item in as_list(content.get("citations"))
        if isinstance(lookup(item, "location.web.url"), str)
    ]
    return telling.text_part(text, found)


class _Block:
    """One block of a streamed answer."""

    def __init__(self) -> None:
        self.start: dict[str, Any] = {}
        self.pieces: dict[str, list[str]] = {}
        self.citations: list[Any] = []

    def add(self, delta: Mapping[str, Any]) -> None:
        pieces = {
            "text": delta.get("text"),
            "input": lookup(delta, "toolUse.input"),
            "reasoning": lookup(delta, "reasoningContent.text"),
        }
        for key, piece in pieces.items():
            if isinstance(piece, str):
                self.pieces.setdefault(key, []).append(piece)
        if is_mapping(delta.get("citation")):
            self.citations.append(delta["citation"])

    def whole(self) -> dict[str, Any]:
        joined = {key: "".join(pieces) for key, pieces in self.pieces.items()}
        if is_mapping(self.start.get("toolUse")):
            return {"toolUse": {**self.start["toolUse"], "input": joined.get("input")}}
        if "reasoning" in joined:
            return {"reasoningContent": {"reasoningText": {"text": joined["reasoning"]}}}
        text = joined.get("text", "")
        if self.citations:
            cited = {"content": [{"text": text}], "citations": self.citations}
            return {"citationsContent": cited}
        return {"text": text}


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together: converse's events, else the model's own."""
    kept = list(events)
    if any(_kind(event).startswith(("messageS", "contentBlock")) for event in kept):
        return _assemble_converse(kept)
    metrics: dict[str, Any] = {}
    for event in kept:
        metrics |= {key: value for key, value in event.data.items() if key == _METRICS}
    if any(event.data.get("type") == "message_start" for event in kept):
        return {**anthropic.assemble(kept), **metrics}
    if any(is_list(event.data.get("choices")) for event in kept):
        return {**openai_chat.assemble(kept), **metrics}
    if any("event_type" in event.data for event in kept):
        return {**cohere.assemble(kept), **metrics}
    return {**_assemble_completion(kept), **metrics}


def _kind(event: Event) -> str:
    """Name an event; Nova behind `invoke` names it by its only key."""
    return event.name if event.name not in ("", "chunk") else next(iter(event.data), "")


def _assemble_converse(events: Iterable[Event]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    blocks: dict[int, _Block] = {}
    for event in events:
        kind = _kind(event)
        data = as_mapping(event.data.get(kind)) or event.data
        index = count(data.get("contentBlockIndex")) or 0
        if kind == "contentBlockStart":
            blocks.setdefault(index, _Block()).start = dict(as_mapping(data.get("start")))
        elif kind == "contentBlockDelta":
            blocks.setdefault(index, _Block()).add(as_mapping(data.get("delta")))
        elif kind == "messageStop":
            whole["stopReason"] = data.get("stopReason")
        elif kind == "metadata":
            whole["usage"] = data.get("usage")
    content = [blocks[index].whole() for index in sorted(blocks)]
    whole["output"] = {"message": {"role": "assistant", "content": content}}
    return whole


def _assemble_completion(events: Iterable[Event]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    texts: list[str] = []
    for event in events:
        first = as_mapping(lookup(event.data, "outputs.0")) or event.data
        for key, value in {**event.data, **first}.items():
            if key in ("outputText", "generation", "text") and isinstance(value, str):
                texts.append(value)
            elif value is not None and key != "outputs":
                whole[key] = value
    if "totalOutputTextTokenCount" in whole:
        whole["tokenCount"] = whole["totalOutputTextTokenCount"]
    return {**whole, "text": "".join(texts)}
