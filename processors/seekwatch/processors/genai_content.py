"""Where the GenAI conventions put messages: attributes, log records or span events, by version.

1.37 and later: two attributes, on the span or on one event named
`gen_ai.client.inference.operation.details`. Before: one log record or span event per message, named
after its role, and `gen_ai.choice` for what the model said.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.otlp.view import Attributes, LogView, SpanView
from seekwatch.processors.messages import Message, read_message, read_messages
from seekwatch.processors.values import as_mapping, opened

DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"
_ROLE_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE: Final = "gen_ai.choice"


@dataclass(slots=True)
class Content:
    """The messages of one call and where they stood."""

    input: list[Message] = field(default_factory=list[Message])
    output: list[Message] = field(default_factory=list[Message])
    input_key: str = names.INPUT_MESSAGES
    output_key: str = names.OUTPUT_MESSAGES


def read_content(span: SpanView, logs: list[LogView]) -> Content:
    """Find the messages of a span."""
    content = Content()
    _from_attributes(span, "", content)
    for log in logs:
        if content.input and content.output:
            return content
        if log.event_name == DETAILS_EVENT:
            _from_attributes(log, f"log:{DETAILS_EVENT}:", content)
    if not content.input and not content.output:
        _from_old_logs(logs, content)
    if not content.input and not content.output:
        _from_events(span, content)
    return content


def _from_attributes(source: Attributes, where: str, content: Content) -> None:
    if not content.input and names.INPUT_MESSAGES in source:
        content.input = read_messages(source.get(names.INPUT_MESSAGES))
        content.input_key = where + names.INPUT_MESSAGES
    if not content.output and names.OUTPUT_MESSAGES in source:
        content.output = read_messages(source.get(names.OUTPUT_MESSAGES))
        content.output_key = where + names.OUTPUT_MESSAGES


def _from_old_logs(logs: list[LogView], content: Content) -> None:
    for log in logs:
        body = as_mapping(opened(log.body()))
        if log.event_name in _ROLE_EVENTS or log.event_name == _CHOICE:
            _add(log.event_name, body, f"log:{log.event_name}", content)


def _from_events(span: SpanView, content: Content) -> None:
    """Read span events; only spans without any other content have theirs decoded."""
    for event in span.events():
        if event.name == DETAILS_EVENT:
            _from_attributes(event.attributes, f"event:{DETAILS_EVENT}:", content)
        elif event.name in _ROLE_EVENTS or event.name == _CHOICE:
            fields: dict[str, Any] = {
                key: opened(event.attributes.get(key))
                for key in ("content", "message", "tool_calls", "role")
                if key in event.attributes
            }
            _add(event.name, fields, f"event:{event.name}", content)


def _add(name: str, fields: dict[str, Any], where: str, content: Content) -> None:
    if name == _CHOICE:
        inner = fields.get("message")
        message = as_mapping(inner) or {"content": inner if inner is not None else fields}
        content.output.append(read_message(message, "assistant"))
        content.output_key = where
    else:
        content.input.append(read_message(fields, _ROLE_EVENTS[name]))
        content.input_key = where
