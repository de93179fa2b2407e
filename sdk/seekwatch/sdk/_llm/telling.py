"""What every model API tells, in one form: what was asked, what came back, what it used.

The readers of the wire shapes fill these; one function makes attributes of them. What an answer
does not say stays None, and is never a zero.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from seekwatch.core import attributes
from seekwatch.sdk._shapes import is_mapping

Part = dict[str, Any]
Message = dict[str, Any]

_OURS: Final = frozenset(
    {
        "text",
        "reasoning",
        "tool_call",
        "tool_call_response",
        "server_tool_call",
        "server_tool_call_response",
    }
)
"""Kinds of parts that have fields of their own, which a part of somebody else's does not."""
_MAX_TOKENS: Final = 2**53
"""Larger counts are no counts: they would not survive JSON either."""


@dataclass(slots=True)
class Usage:
    """Tokens of one call, as the GenAI conventions count them.

    `input` holds what was read from and written to a cache, `output` what went into reasoning;
    APIs that count these apart are added up by their readers.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None
    reasoning: int | None = None


@dataclass(slots=True)
class Asked:
    """What a request asks."""

    model: str | None = None
    messages: list[Message] | None = None
    """None where the request says nothing of messages."""
    instructions: list[Part] = field(default_factory=list[Part])
    streams: bool | None = None


@dataclass(slots=True)
class Told:
    """What an answer says."""

    model: str | None = None
    id: str | None = None
    messages: list[Message] = field(default_factory=list[Message])
    finish_reasons: list[str] = field(default_factory=list[str])
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    """US dollars, where the body of the answer says."""
    provider: str | None = None
    """Who answered behind a gateway, where the body says."""


def count(value: object) -> int | None:
    """Return a count of tokens; some APIs send whole numbers as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < _MAX_TOKENS or value != int(value):
        return None
    return int(value)


def total(*parts: int | None) -> int | None:
    """Add up what is known; None when nothing is."""
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def word(value: object) -> str | None:
    """Return non-empty text, None for anything else."""
    return value if isinstance(value, str) and value else None


def flag(value: object) -> bool | None:
    """Return true or false, None for anything else."""
    return value if isinstance(value, bool) else None


def text_part(content: str, annotations: Iterable[object] = ()) -> Part:
    """Return a part of text, with the model's own citations of it.

    No convention has a place for citations yet; they stand beside the text as `annotations`, in
    the form of OpenAI's `url_citation`.
    """
    part: Part = {"type": "text", "content": content}
    kept = [item for item in annotations if is_mapping(item)]
    if kept:
        part["annotations"] = kept
    return part


def citation(
    url: str,
    *,
    title: str | None = None,
    cited_text: str | None = None,
    start: int | None = None,
    end: int | None = None,
) -> Part:
    """Return one citation; offsets are characters of the text part that carries it."""
    found: Part = {"type": "url_citation", "url": url}
    if title is not None:
        found["title"] = title
    if cited_text is not None:
        found["cited_text"] = cited_text
    if start is not None and end is not None and start <= end:
        found |= {"start_index": start, "end_index": end}
    return found


def reasoning_part(content: str) -> Part:
    """Return a part of the model's reasoning."""
    return {"type": "reasoning", "content": content}


def tool_call(identity: object, name: object, arguments: object) -> Part:
    """Return a part in which the model asks the agent to call a tool."""
    return {"type": "tool_call", "id": identity, "name": name, "arguments": arguments}


def tool_answer(identity: object, answer: object) -> Part:
    """Return a part that brings a tool's result back to the model."""
    return {"type": "tool_call_response", "id": identity, "response": answer}


def server_call(identity: object, name: str, details: Mapping[str, Any]) -> Part:
    """Return a part in which the provider itself called a tool."""
    return {
        "type": "server_tool_call",
        "id": identity,
        "name": name,
        "server_tool_call": dict(details),
    }


def server_answer(identity: object, details: Mapping[str, Any]) -> Part:
    """Return a part with what a tool of the provider's gave."""
    return {
        "type": "server_tool_call_response",
        "id": identity,
        "server_tool_call_response": dict(details),
    }


def other_part(kind: object) -> Part:
    """Return a part for an image, a file or a sound: that there was one is enough."""
    return {"type": kind if isinstance(kind, str) and kind not in _OURS else "unknown"}


def message(role: object, parts: list[Part], finish_reason: str | None = None) -> Message:
    """Return a message."""
    made: Message = {"role": role if isinstance(role, str) else "assistant", "parts": parts}
    if finish_reason is not None:
        made["finish_reason"] = finish_reason
    return made


def asked_attributes(asked: Asked) -> dict[str, Any]:
    """Return the attributes of a request."""
    values: dict[str, Any] = {}
    if asked.model is not None:
        values[attributes.REQUEST_MODEL] = asked.model
    if asked.streams is not None:
        values[attributes.REQUEST_STREAM] = asked.streams
    if asked.messages is not None:
        values[attributes.INPUT_MESSAGES] = dump(asked.messages)
    if asked.instructions:
        values[attributes.SYSTEM_INSTRUCTIONS] = dump(asked.instructions)
    return values


def told_attributes(told: Told) -> dict[str, Any]:
    """Return the attributes of an answer, those of its gateway left out."""
    usage = told.usage
    values: dict[str, Any] = {
        attributes.RESPONSE_MODEL: told.model,
        attributes.RESPONSE_ID: told.id,
        attributes.INPUT_TOKENS: usage.input,
        attributes.OUTPUT_TOKENS: usage.output,
        attributes.CACHE_READ_INPUT_TOKENS: usage.cache_read,
        attributes.CACHE_CREATION_INPUT_TOKENS: usage.cache_creation,
        attributes.REASONING_OUTPUT_TOKENS: usage.reasoning,
        attributes.FINISH_REASONS: told.finish_reasons or None,
    }
    if told.messages:
        values[attributes.OUTPUT_MESSAGES] = dump(told.messages)
    return {key: value for key, value in values.items() if value is not None}


def dump(value: object) -> str:
    """Return JSON; what cannot be said in it (NaN) is already out of what was decoded."""
    return json.dumps(value, ensure_ascii=False, default=str)
