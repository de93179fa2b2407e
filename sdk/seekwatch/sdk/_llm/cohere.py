"""Cohere's chat, versions 1 and 2."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from seekwatch.sdk._shapes import as_list, as_mapping, is_list, lookup

from . import telling
from .openai_chat import read_asked as read_chat
from .openai_parts import content_parts, tool_call_parts
from .streams import Event
from .telling import Asked, Part, Told, Usage, count, flag, word

_ROLES: Final = {"CHATBOT": "assistant", "USER": "user", "SYSTEM": "system", "TOOL": "tool"}
_SNIPPET: Final = 2_000
"""Characters of a document that are kept: enough to tell what it is."""


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request; version 2 asks as OpenAI does."""
    if "messages" in body:
        return read_chat(body)
    asked = Asked(model=word(body.get("model")))
    asked.streams = flag(body.get("stream"))
    said = [
        telling.message(
            _ROLES.get(str(lookup(turn, "role")), "user"), content_parts(lookup(turn, "message"))
        )
        for turn in as_list(body.get("chat_history"))
    ]
    if isinstance(body.get("message"), str):
        said.append(telling.message("user", content_parts(body["message"])))
    if said:
        asked.messages = said
    if word(body.get("preamble")):
        asked.instructions = content_parts(body["preamble"])
    return asked


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer of either version."""
    meta = as_mapping(body.get("usage")) or as_mapping(body.get("meta"))
    tokens = as_mapping(meta.get("tokens")) or as_mapping(meta.get("billed_units"))
    told = Told(
        id=word(body.get("id")) or word(body.get("generation_id")) or word(body.get("response_id")),
        usage=Usage(
            input=count(tokens.get("input_tokens")),
            output=count(tokens.get("output_tokens")),
            cache_read=count(meta.get("cached_tokens")),
        ),
    )
    reason = word(body.get("finish_reason"))
    said = as_mapping(body.get("message"))
    parts = _said(said) if said else _said_by_version_1(body)
    if parts or reason is not None:
        told.messages = [telling.message("assistant", parts, reason)]
    if reason is not None:
        told.finish_reasons = [reason]
    return told


def _said(message: Mapping[str, Any]) -> list[Part]:
    plan = word(message.get("tool_plan"))
    parts = [] if plan is None else [telling.reasoning_part(plan)]
    blocks = content_parts(message.get("content"))
    for item in as_list(message.get("citations")):
        number = count(lookup(item, "content_index")) or 0
        if number < len(blocks) and blocks[number]["type"] == "text":
            documents = [_document(source) for source in as_list(lookup(item, "sources"))]
            _annotate(blocks[number], item, documents)
    parts += blocks
    return parts + tool_call_parts(message.get("tool_calls"))


def _document(source: object) -> Mapping[str, Any]:
    """Return a source's document: the agent's own, or what one of its tools returned."""
    return as_mapping(lookup(source, "document")) or as_mapping(lookup(source, "tool_output"))


def _said_by_version_1(body: Mapping[str, Any]) -> list[Part]:
    parts = _searched(body)
    text = body.get("text")
    if isinstance(text, str):
        listed = map(as_mapping, as_list(body.get("documents")))
        documents = {item["id"]: item for item in listed if isinstance(item.get("id"), str)}
        part = telling.text_part(text)
        for item in as_list(body.get("citations")):
            ids = as_list(lookup(item, "document_ids"))
            _annotate(
                part, item, [documents[i] for i in ids if isinstance(i, str) and i in documents]
            )
        parts.append(part)
    for call in as_list(body.get("tool_calls")):
        parts.append(telling.tool_call(None, lookup(call, "name"), lookup(call, "parameters")))
    return parts


def _searched(body: Mapping[str, Any]) -> list[Part]:
    """Return the search of the web-search connector, with the documents that it brought."""
    queries = [lookup(item, "text") for item in as_list(body.get("search_queries"))]
    queries = [query for query in queries if word(query)]
    if not queries or not is_list(body.get("search_results")):
        return []
    results = [
        {
            "url": document.get("url"),
            "title": document.get("title"),
            "snippet": str(document.get("snippet", ""))[:_SNIPPET],
            "date": document.get("timestamp"),
        }
        for document in map(as_mapping, as_list(body.get("documents")))
        if word(document.get("url"))
    ]
    results = [{key: value for key, value in item.items() if value} for item in results]
    return [
        telling.server_call(None, "web_search", {"type": "web_search", "queries": queries}),
        telling.server_answer(None, {"type": "web_search", "results": results}),
    ]


def _annotate(part: Part, cited: object, documents: Iterable[Mapping[str, Any]]) -> None:
    """Put citations of documents that are web pages onto a text; offsets are its characters."""
    for document in documents:
        url = word(document.get("url"))
        if url is not None:
            found = telling.citation(
                url,
                title=word(document.get("title")),
                start=count(lookup(cited, "start")),
                end=count(lookup(cited, "end")),
            )
            part.setdefault("annotations", []).append(found)


class _Stream:
    """A streamed answer of version 2."""

    def __init__(self) -> None:
        self.whole: dict[str, Any] = {}
        self.blocks: dict[int, dict[str, Any]] = {}
        self.calls: dict[int, dict[str, Any]] = {}
        self.plan: list[str] = []
        self.citations: list[Any] = []

    def add(self, kind: str, data: Mapping[str, Any]) -> None:
        index = count(data.get("index")) or 0
        said = as_mapping(lookup(data, "delta.message"))
        if kind == "message-start":
            self.whole["id"] = data.get("id")
        elif kind in ("content-start", "content-delta"):
            content = as_mapping(said.get("content"))
            block = self.blocks.setdefault(index, {"type": word(content.get("type")) or "text"})
            for key in ("text", "thinking"):
                if isinstance(content.get(key), str):
                    block.setdefault(key, []).append(content[key])
        elif kind == "tool-plan-delta" and isinstance(said.get("tool_plan"), str):
            self.plan.append(said["tool_plan"])
        elif kind in ("tool-call-start", "tool-call-delta"):
            self._add_call(index, as_mapping(said.get("tool_calls")))
        elif kind == "citation-start":
            self.citations.append(said.get("citations"))
        elif kind == "message-end":
            delta = as_mapping(data.get("delta"))
            self.whole["finish_reason"] = delta.get("finish_reason")
            self.whole["usage"] = delta.get("usage")

    def _add_call(self, index: int, call: Mapping[str, Any]) -> None:
        held = self.calls.setdefault(index, {"arguments": []})
        held["id"] = held.get("id") or call.get("id")
        held["name"] = held.get("name") or lookup(call, "function.name")
        if isinstance(lookup(call, "function.arguments"), str):
            held["arguments"].append(call["function"]["arguments"])

    def message(self) -> dict[str, Any]:
        blocks = [self.blocks[index] for index in sorted(self.blocks)]
        return {
            "tool_plan": "".join(self.plan),
            "content": [
                {key: "".join(v) if is_list(v) else v for key, v in block.items()}
                for block in blocks
            ],
            "citations": self.citations,
            "tool_calls": [
                {
                    "id": call["id"],
                    "function": {"name": call["name"], "arguments": "".join(call["arguments"])},
                }
                for call in self.calls.values()
            ],
        }


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together; version 1 repeats the whole answer at its end."""
    stream = _Stream()
    older: dict[str, Any] = {}
    texts: list[str] = []
    for event in events:
        data = event.data
        if "event_type" not in data:
            stream.add(word(data.get("type")) or event.name, data)
        elif data["event_type"] == "stream-end" and lookup(data, "response"):
            return {**as_mapping(data["response"]), "finish_reason": data.get("finish_reason")}
        else:
            if isinstance(data.get("text"), str):
                texts.append(data["text"])
            for key in ("documents", "citations", "search_queries", "search_results", "tool_calls"):
                if is_list(data.get(key)):
                    older[key] = [*older.get(key, []), *data[key]]
            older |= {"generation_id": data["generation_id"]} if data.get("generation_id") else {}
    if older or texts:
        return {**older, "text": "".join(texts)}
    return {**stream.whole, "message": stream.message()}
