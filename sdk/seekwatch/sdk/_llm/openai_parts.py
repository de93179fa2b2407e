"""Content of messages as OpenAI writes it, and others after it: text, parts, citations."""

from collections.abc import Mapping
from typing import Any, Final

from seekwatch.sdk._shapes import as_list, as_mapping, is_mapping, lookup

from .telling import Part, other_part, reasoning_part, text_part, tool_call, word

_TEXT: Final = frozenset({"text", "input_text", "output_text", "summary_text"})
_REASONING: Final = frozenset({"thinking", "reasoning", "reasoning_text"})


def content_parts(content: object, annotations: object = None) -> list[Part]:
    """Return the parts of a message's content, which is text or a list of parts.

    Args:
        content: as it stands in the message.
        annotations: citations that the message carries beside its content.
    """
    if isinstance(content, str):
        return [text_part(content, map(flat, as_list(annotations)))]
    parts: list[Part] = []
    for item in as_list(content):
        part = as_mapping(item)
        kind, text = word(part.get("type")), part.get("text")
        if isinstance(item, str):
            parts.append(text_part(item))
        elif kind in _REASONING:
            parts.append(reasoning_part(reasoning_text(part)))
        elif kind == "refusal":
            parts.append(text_part(word(part.get("refusal")) or ""))
        elif isinstance(text, str) and (kind in _TEXT or kind is None):
            parts.append(text_part(text, map(flat, as_list(part.get("annotations")))))
        else:
            parts.append(other_part(kind))
    return parts


def flat(annotation: object) -> Mapping[str, Any]:
    """Return a citation with its fields on one level; chat completions nest them."""
    fields = as_mapping(annotation)
    inner = fields.get("url_citation")
    if not is_mapping(inner):
        return fields
    # `content` (OpenRouter) is the page's text, not what the answer quotes; it may be long.
    kept = {key: value for key, value in inner.items() if key != "content"}
    return {"type": "url_citation", **kept}


def reasoning_text(part: Mapping[str, Any]) -> str:
    """Return the text of a part of reasoning, which may itself be a list of parts."""
    for key in ("thinking", "text", "reasoning"):
        value = part.get(key)
        if isinstance(value, str):
            return value
        texts = [lookup(item, "text") for item in as_list(value)]
        if texts:
            return "".join(text for text in texts if isinstance(text, str))
    return ""


def tool_call_parts(calls: object) -> list[Part]:
    """Return the calls of the agent's tools that a message asks for."""
    parts: list[Part] = []
    for call in as_list(calls):
        function = lookup(call, "function")
        parts.append(
            tool_call(lookup(call, "id"), lookup(function, "name"), lookup(function, "arguments"))
        )
    return parts


def is_tool_role(item: Mapping[str, Any]) -> bool:
    """Tell a message that brings a tool's result back."""
    return item.get("role") in ("tool", "function")
