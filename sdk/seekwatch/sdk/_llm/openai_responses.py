"""OpenAI's responses API: items of output, among them calls of the provider's own tools."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from seekwatch.sdk._shapes import as_list, as_mapping, is_list, lookup

from . import telling
from .openai_parts import content_parts, is_tool_role
from .streams import Event
from .telling import Asked, Message, Part, Told, Usage, count, flag, word

_ENDINGS: Final = ("response.completed", "response.incomplete", "response.failed")
_BULK: Final = frozenset({"result", "results", "outputs", "output", "screenshot"})
"""What tools of the provider's return besides sources: images, files' text, logs."""


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request."""
    given = body.get("input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    instructions = word(body.get("instructions"))
    return Asked(
        model=word(body.get("model")),
        messages=None if given is None else [_message(item, "user") for item in as_list(given)],
        instructions=[] if instructions is None else [telling.text_part(instructions)],
        streams=flag(body.get("stream")),
    )


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer."""
    usage = as_mapping(body.get("usage"))
    told = Told(
        model=word(body.get("model")),
        id=word(body.get("id")),
        messages=[_message(item, "assistant") for item in as_list(body.get("output"))],
        usage=Usage(
            input=count(usage.get("input_tokens")),
            output=count(usage.get("output_tokens")),
            cache_read=count(lookup(usage, "input_tokens_details.cached_tokens")),
            cache_creation=count(lookup(usage, "input_tokens_details.cache_write_tokens")),
            reasoning=count(lookup(usage, "output_tokens_details.reasoning_tokens")),
        ),
    )
    status = word(body.get("status"))
    if is_list(body.get("output")) and status not in (None, "in_progress", "queued"):
        reason = word(lookup(body, "incomplete_details.reason")) or status
        told.finish_reasons = ["stop" if reason == "completed" else str(reason)]
    return told


def _message(value: object, role: str) -> Message:
    """Read one item of a conversation."""
    item = as_mapping(value)
    kind = item.get("type", "message")
    if not item:
        return telling.message(role, content_parts(value))
    if kind in ("function_call", "custom_tool_call"):
        arguments = item.get("arguments", item.get("input"))
        part = telling.tool_call(item.get("call_id"), item.get("name"), arguments)
        return telling.message("assistant", [part])
    if kind in ("function_call_output", "custom_tool_call_output"):
        part = telling.tool_answer(item.get("call_id"), item.get("output"))
        return telling.message("tool", [part])
    if kind == "reasoning":
        texts = [lookup(part, "text") for part in as_list(item.get("summary"))]
        joined = "\n".join(text for text in texts if isinstance(text, str))
        return telling.message("assistant", [telling.reasoning_part(joined)])
    if kind != "message":
        return telling.message("assistant", _server_parts(item, str(kind)))
    if is_tool_role(item):
        part = telling.tool_answer(item.get("tool_call_id"), item.get("content"))
        return telling.message("tool", [part])
    return telling.message(item.get("role", role), content_parts(item.get("content")))


def _server_parts(item: Mapping[str, Any], kind: str) -> list[Part]:
    """Read a call of the provider's own tool, with the sources that it names.

    A search call also stands for opening a page that was found and for looking for words in it;
    these go by their own names, since they are no searches.
    """
    name = kind.removesuffix("_call")
    details = {key: value for key, value in item.items() if key not in _BULK}
    action = word(lookup(item, "action.type"))
    if kind != "web_search_call":
        return [telling.server_call(item.get("id"), name, details)]
    if action in ("open_page", "find_in_page"):
        return [telling.server_call(item.get("id"), action, details)]
    sources = lookup(item, "action.sources")
    if not is_list(sources):
        return [telling.server_call(item.get("id"), name, details)]
    details["action"] = {
        key: value for key, value in as_mapping(item["action"]).items() if key != "sources"
    }
    return [
        telling.server_call(item.get("id"), name, details),
        telling.server_answer(item.get("id"), {"type": kind, "results": list(sources)}),
    ]


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together.

    The last event repeats the whole answer. Where it was not seen, the items that ended and the
    text that had come by then are what there is.
    """
    whole: dict[str, Any] = {}
    items: dict[int, Any] = {}
    texts: dict[int, list[str]] = {}
    for event in events:
        data = event.data
        kind = word(data.get("type")) or event.name
        if kind in _ENDINGS and lookup(data, "response"):
            return dict(as_mapping(data["response"]))
        index = count(data.get("output_index")) or 0
        if kind == "response.created":
            whole = dict(as_mapping(data.get("response")))
        elif kind == "response.output_item.done":
            items[index] = data.get("item")
            texts.pop(index, None)
        elif kind == "response.output_text.delta" and isinstance(data.get("delta"), str):
            texts.setdefault(index, []).append(data["delta"])
    for index, pieces in texts.items():
        text = {"type": "output_text", "text": "".join(pieces)}
        items.setdefault(index, {"type": "message", "role": "assistant", "content": [text]})
    whole["output"] = [items[index] for index in sorted(items)]
    return whole
