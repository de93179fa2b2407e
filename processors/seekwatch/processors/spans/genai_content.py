"""Where the GenAI conventions put messages: attributes, log records or span events, by version.

1.37 and later: two attributes, on the span or on one event named
`gen_ai.client.inference.operation.details`. Before: one log record or span event per message, named
after its role, and `gen_ai.choice` for what the model said. Input and output are read apart: a
call's input holds the whole conversation, and most often nobody needs it.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.otlp.view import LogView, SpanView
from seekwatch.processors.spans.messages import Message, read_message, read_messages
from seekwatch.processors.spans.values import as_mapping, opened

DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"
_ROLE_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE_EVENTS: Final = {"gen_ai.choice": "assistant"}
_EVENT_FIELDS: Final = ("content", "message", "tool_calls", "role", "id")


@dataclass(slots=True)
class Content:
    """One side of a call and where it stood."""

    messages: list[Message] = field(default_factory=list[Message])
    key: str = ""


def read_input(span: SpanView, logs: list[LogView]) -> Content:
    """Find what was sent to the model or agent."""
    return _read(span, logs, names.INPUT_MESSAGES, _ROLE_EVENTS)


def read_output(span: SpanView, logs: list[LogView]) -> Content:
    """Find what the model or agent said."""
    return _read(span, logs, names.OUTPUT_MESSAGES, _CHOICE_EVENTS)


def _read(span: SpanView, logs: list[LogView], key: str, events: dict[str, str]) -> Content:
    if key in span:
        content = Content(read_messages(span.get(key)), key)
        if content.messages:
            return content
    for log in logs:
        if log.event_name == DETAILS_EVENT and key in log:
            return Content(read_messages(log.get(key)), f"log:{DETAILS_EVENT}:{key}")
    content = Content(key=key)
    for log in logs:
        if log.event_name in events:
            body = as_mapping(opened(log.body()))
            content.messages.append(_message(body, events[log.event_name]))
            content.key = f"log:{log.event_name}"
    return content if content.messages else _from_events(span, key, events)


def _from_events(span: SpanView, key: str, events: dict[str, str]) -> Content:
    """Read span events; only spans without any other content have theirs decoded."""
    content = Content(key=key)
    for event in span.events():
        if event.name == DETAILS_EVENT and key in event.attributes:
            found = read_messages(event.attributes.get(key))
            return Content(found, f"event:{DETAILS_EVENT}:{key}")
        if event.name in events:
            fields: dict[str, Any] = {
                name: opened(event.attributes.get(name))
                for name in _EVENT_FIELDS
                if name in event.attributes
            }
            content.messages.append(_message(fields, events[event.name]))
            content.key = f"event:{event.name}"
    return content


def _message(fields: dict[str, Any], role: str) -> Message:
    """Read one message; a choice carries its message one level down, as text or as an object."""
    inner = fields.get("message")
    if inner is not None:
        fields = as_mapping(inner) or {"content": inner}
    return read_message(fields, role)
