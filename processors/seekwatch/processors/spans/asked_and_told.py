"""The question out of a span's input and the answer out of its output, whatever wraps them.

Frameworks hand over text, messages, or mappings with a telling key. What is none of these gives
None: a JSON dump is no question.
"""

import re
from typing import Any, Final

from seekwatch.processors.spans.messages import final_text, read_messages, user_question
from seekwatch.processors.spans.values import MAX_DEPTH, as_list, as_mapping, as_text, opened

_ASKED_KEYS: Final = (
    "question",
    "query",
    "query_str",
    "user_msg",
    "user_message",
    "user_input",
    "messages",
    "input",
    "inputs",
    "task",
    "prompt",
    "topic",
    "content",
    "kwargs",
    "args",
)
_TOLD_KEYS: Final = (
    "answer",
    "final_answer",
    "final_output",
    "messages",
    "output_text",
    "output",
    "outputs",
    "response",
    "raw",
    "result",
    "content",
    "text",
    "choices",
    "message",
    "kwargs",
    "blocks",
)


_OBJECT_REPR: Final = re.compile(r"\s*(?:[A-Z]\w*\((?:\w+=|<)|<[\w.]+(?: object at 0x|\())")


def asked_text(value: Any, depth: int = 0) -> str | None:
    """Return the question in a span's input."""
    value = opened(value)
    if isinstance(value, str):
        return _plain(value)
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list | tuple):
        return _from_list(as_list(value), depth, asked=True)
    fields = as_mapping(value)
    for key in _ASKED_KEYS:
        if fields.get(key):
            text = asked_text(fields[key], depth + 1)
            if text is not None:
                return text
    return None


def told_text(value: Any, depth: int = 0) -> str | None:
    """Return the answer in a span's output."""
    value = opened(value)
    if isinstance(value, str):
        return _plain(value)
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, list | tuple):
        return _from_list(as_list(value), depth, asked=False)
    fields = as_mapping(value)
    if fields.get("tool_calls"):
        return None
    for key in _TOLD_KEYS:
        if fields.get(key):
            text = told_text(fields[key], depth + 1)
            if text is not None:
                return text
    return None


def _plain(value: str) -> str | None:
    """Return text, but no `repr` of an object, which holds words and says nothing to a user."""
    return None if _OBJECT_REPR.match(value) else as_text(value)


def _from_list(items: list[Any], depth: int, *, asked: bool) -> str | None:
    messages = [message for message in read_messages(items) if message.role]
    if messages:
        return user_question(messages) if asked else final_text(messages)
    read = asked_text if asked else told_text
    texts = [text for item in items[:100] if (text := read(item, depth + 1)) is not None]
    if not texts:
        return None
    return texts[0] if asked else texts[-1]
