"""Reads question and answer from what an agent's function was given and what it returned.

The agent's own functions have them in a few usual places; those of frameworks in a few more.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from seekwatch.sdk._shapes import as_list, get_field, is_list, is_mapping, is_number

from . import recorded

_QUESTIONS: Final = ("question", "input", "query", "user_msg", "user_prompt", "task", "prompt")
_USERS: Final = frozenset({"human", "user"})
_AGENTS: Final = frozenset({"ai", "assistant"})
_MAX_DEPTH: Final = 4


def read_answer(value: Any) -> tuple[str | None, Sequence[Any]]:
    """Read the answer and its citations from what an agent's function returned.

    A string is the answer; pieces of text that were yielded are joined; a mapping or object has
    it under `answer`, `output` or `content`, and citations under `citations` or `sources`.
    """
    if isinstance(value, str):
        return value, ()
    if is_list(value):
        items = as_list(value)
        if items and all(isinstance(item, str) for item in items):
            return "".join(items), ()
        return read_answer(items[-1]) if items else (None, ())
    for name in ("answer", "output", "content"):
        found = get_field(value, name)
        if isinstance(found, str):
            return found, _citations(value)
    return None, ()


def _citations(value: Any) -> Sequence[Any]:
    for name in ("citations", "sources"):
        found = get_field(value, name)
        if is_list(found):
            return [each for each in map(_citation, as_list(found)) if each is not None]
    return ()


def _citation(value: Any) -> Any:
    if isinstance(value, str):
        return value
    given = {name: get_field(value, name) for name in ("url", "title", "quote", "start", "end")}
    return given if isinstance(given["url"], str) else None


class Told:
    """What a framework's agent was called with, and what came of it; read when its run ends."""

    __slots__ = ("_given", "error", "result", "started_ns")

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], started_ns: int) -> None:
        self._given = (*args, *kwargs.values())
        self.started_ns = started_ns
        self.result: Any = None
        self.error: BaseException | None = None

    @property
    def question(self) -> str | None:
        """What the user asked, where it is among the arguments."""
        return next((text for text in map(_asked, self._given) if text), None)

    @property
    def answer(self) -> str | None:
        """What was returned as an answer."""
        return _answered(self.result)


def _asked(value: Any) -> str | None:
    """Return the question in one argument: itself, its last message of a user, or a usual field.

    Nothing but strings, lists, mappings and a workflow's event is looked into: anything else may
    be an object whose attributes do something.
    """
    if isinstance(value, str):
        return value
    if is_list(value):
        return _last_of(value, _USERS) or recorded.first_string(value, {})
    if is_mapping(value):
        messages = value.get("messages")
        if is_list(messages):
            return _last_of(messages, _USERS)
        return _first_text(value.get(name) for name in _QUESTIONS)
    if type(value).__name__.endswith("StartEvent"):
        return _first_text(get_field(value, name) for name in _QUESTIONS)
    return None


def _first_text(values: Iterable[Any]) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


def _last_of(messages: Sequence[Any], roles: frozenset[str]) -> str | None:
    for message in reversed(messages):
        role, content = _message(message)
        if role in roles:
            return _text(content)
    return None


def _message(message: Any) -> tuple[Any, Any]:
    """Return role and content of a pair, a mapping, or an object of LangChain's or others."""
    if is_list(message):
        return (message[0], message[1]) if len(message) == 2 else (None, None)
    role = get_field(message, "role") or get_field(message, "type")
    return getattr(role, "value", role), get_field(message, "content")


def _text(content: Any) -> str | None:
    if isinstance(content, str):
        return content or None
    parts = [get_field(part, "text") for part in as_list(content)]
    return "".join(part for part in parts if isinstance(part, str)) or None


def _answered(value: Any, depth: int = 0) -> str | None:
    if value is None or depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return value or None
    if is_number(value):
        return str(value)
    if is_list(value):
        # What was streamed: text, or steps of which the last may be the answer.
        texts = [item for item in value if isinstance(item, str)]
        if texts and len(texts) == len(value):
            return "".join(texts)
        return _answered(value[-1], depth + 1) if value else None
    messages = get_field(value, "messages")
    if is_list(messages) and messages:
        role, content = _message(messages[-1])
        return _text(content) if role in _AGENTS else None
    for name in ("final_output", "output", "answer", "content", "response", "result"):
        found = get_field(value, name)
        if found is None or callable(found):
            continue
        text = _answered(found, depth + 1)
        if text is not None:
            return text
        if name in {"final_output", "output"}:
            return recorded.to_json(found)
    return None
