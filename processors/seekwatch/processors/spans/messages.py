"""Messages to and from models, in the shapes that conventions and providers use.

GenAI 1.37 and later: `[{"role", "parts": [{"type", "content"}]}]`. OpenAI and what imitates it:
`[{"role", "content": text or parts, "tool_calls"}]`. Both come as JSON text or as decoded data.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from seekwatch.processors.spans.final_calls import final_words, is_final, without_preface
from seekwatch.processors.spans.values import as_list, as_mapping, as_text, first_text, opened

_MAX_MESSAGES: Final = 1_000
_ROLES: Final = ("system", "user", "human", "assistant", "ai")
_TEXT_TYPES: Final = frozenset({"text", "output_text", "input_text"})
_CALL_TYPES: Final = frozenset({"tool_call", "function_call", "tool_use"})
_RESULT_TYPES: Final = frozenset({"tool_call_response", "tool_result", "function_call_output"})
_SERVER_CALL_TYPES: Final = frozenset({"server_tool_call", "server_tool_use", "web_search_call"})
_SERVER_RESULT_TYPES: Final = frozenset(
    {"server_tool_call_response", "server_tool_result", "web_search_tool_result"}
)


@dataclass(slots=True)
class Message:
    """One message.

    Attributes:
        text: its text parts joined; None when it has none.
        tool_calls: parts that ask the agent to call a tool.
        answers: whether the text is the model's answer whatever tools it asks for beside it.
        tool_results: parts that bring a tool's result back.
        server_calls: parts in which the provider itself called a tool, with the results that
            followed in the same message.
        annotations: structured citations (`url_citation` and the like) of the text.
    """

    role: str
    text: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    answers: bool = False
    tool_results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    server_calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    server_results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    annotations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def waits_for_tools(self) -> bool:
        """Whether the model has to hear from tools before it can answer."""
        return bool(self.tool_calls) and not self.answers


def read_messages(value: Any) -> list[Message]:
    """Read a list of messages, or one message; what is no message is left out."""
    value = opened(value)
    items = [as_mapping(value)] if isinstance(value, dict) else as_list(value)
    messages: list[Message] = []
    for item in items[:_MAX_MESSAGES]:
        pair = _role_and_text(item)
        if pair is not None:
            messages.append(pair)
            continue
        fields = as_mapping(opened(item))
        if "role" in fields or "parts" in fields or "content" in fields:
            messages.append(read_message(fields))
    return messages


def _role_and_text(item: Any) -> Message | None:
    """Read a message in LangChain's short form, a pair of role and text."""
    pair = as_list(item)
    if len(pair) != 2 or pair[0] not in _ROLES or not isinstance(pair[1], str):
        return None
    return Message(role=pair[0], text=pair[1] if pair[1].strip() else None)


def read_message(fields: dict[str, Any], role: str = "") -> Message:
    """Read one message."""
    message = Message(role=as_text(fields.get("role")) or role)
    texts: list[str] = []
    parts = fields.get("parts")
    content = fields.get("content") if parts is None else parts
    if isinstance(content, str):
        texts.append(content)
    for part in as_list(content)[:_MAX_MESSAGES]:
        _read_part(part, message, texts)
    for call in as_list(fields.get("tool_calls")):
        message.tool_calls.append(as_mapping(call))
    if message.role == "tool" and not message.tool_results:
        message.tool_results.append({"id": fields.get("tool_call_id"), "response": content})
    message.annotations.extend(as_mapping(item) for item in as_list(fields.get("annotations")))
    joined = "".join(texts)
    message.text = joined if joined.strip() else None
    return settled(message)


def settled(message: Message) -> Message:
    """Take a call by which the model answers for the text that it is; other calls stay calls."""
    words = final_words(message.tool_calls)
    if words is not None:
        message.text = words
        message.answers = True
        message.tool_calls = [call for call in message.tool_calls if not is_final(call)]
    return message


def _read_part(part: Any, message: Message, texts: list[str]) -> None:
    if isinstance(part, str):
        texts.append(part)
        return
    fields = as_mapping(part)
    kind = as_text(fields.get("type")) or ""
    if kind in _TEXT_TYPES or (not kind and "text" in fields):
        text = first_text(fields, ("content", "text"))
        if text is not None:
            _shifted(fields, sum(len(earlier) for earlier in texts), message)
            texts.append(text)
    elif kind in _CALL_TYPES:
        message.tool_calls.append(fields)
    elif kind in _RESULT_TYPES:
        message.tool_results.append(fields)
    elif kind in _SERVER_CALL_TYPES:
        message.server_calls.append(fields)
    elif kind in _SERVER_RESULT_TYPES:
        message.server_results.append(fields)


def _shifted(fields: dict[str, Any], offset: int, message: Message) -> None:
    """Keep a text part's annotations, their positions counted in the joined text."""
    for item in [*as_list(fields.get("annotations")), *as_list(fields.get("citations"))]:
        annotation = dict(as_mapping(item))
        for key in ("start_index", "end_index"):
            position = annotation.get(key)
            if isinstance(position, int):
                annotation[key] = position + offset
        message.annotations.append(annotation)


def user_question(messages: list[Message]) -> str | None:
    """Return what the user asked last before the model first spoke to this request."""
    asked = [message.text for message in messages if message.role in ("user", "human")]
    texts = [text for text in asked if text is not None]
    return without_preface(texts[-1]) if texts else None


def final_text(messages: list[Message]) -> str | None:
    """Return the last text that an assistant wrote without waiting for a tool."""
    for message in reversed(messages):
        if message.role in ("assistant", "model", "ai", "") and message.text is not None:
            return None if message.waits_for_tools else message.text
    return None
