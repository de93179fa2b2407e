"""Google's generateContent, by Gemini's own API and by Vertex AI."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from seekwatch.sdk._shapes import as_list, as_mapping, is_list, is_mapping, lookup

from . import telling
from .streams import Event
from .telling import Asked, Message, Part, Told, Usage, count, total, word

_CARRIED: Final = ("usageMetadata", "modelVersion", "responseId", "promptFeedback")


def read_asked(body: Mapping[str, Any]) -> Asked:
    """Read a request; the model stands in the path, and so does whether it streams."""
    contents: Any = body.get("contents")
    if isinstance(contents, str) or is_mapping(contents):
        contents = [contents]
    instruction = body.get("systemInstruction", body.get("system_instruction"))
    return Asked(
        messages=[_message(item) for item in as_list(contents)] if is_list(contents) else None,
        instructions=_parts(instruction),
    )


def read_told(body: Mapping[str, Any]) -> Told:
    """Read an answer."""
    told = Told(
        model=word(body.get("modelVersion")),
        id=word(body.get("responseId")),
        usage=_usage(as_mapping(body.get("usageMetadata"))),
    )
    for candidate in as_list(body.get("candidates")):
        fields = as_mapping(candidate)
        reason = word(fields.get("finishReason"))
        made = telling.message("assistant", _parts(fields.get("content")), reason)
        _ground(made["parts"], as_mapping(fields.get("groundingMetadata")))
        told.messages.append(made)
        if reason is not None:
            told.finish_reasons.append(reason)
    blocked = word(lookup(body, "promptFeedback.blockReason"))
    if blocked is not None and not told.finish_reasons:
        told.finish_reasons = [blocked]
    return told


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Read usage; thoughts and the prompts of tools are counted apart from the rest."""
    prompt, output = count(usage.get("promptTokenCount")), count(usage.get("candidatesTokenCount"))
    thoughts = count(usage.get("thoughtsTokenCount"))
    return Usage(
        input=None
        if prompt is None
        else total(prompt, count(usage.get("toolUsePromptTokenCount"))),
        output=total(output, thoughts),
        cache_read=count(usage.get("cachedContentTokenCount")),
        reasoning=thoughts,
    )


def _message(value: object) -> Message:
    content = as_mapping(value)
    role = content.get("role", "user")
    parts = _parts(value)
    if any(part["type"] == "tool_call_response" for part in parts):
        role = "tool"
    return telling.message("assistant" if role == "model" else role, parts)


def _parts(content: object) -> list[Part]:
    if isinstance(content, str):
        return [telling.text_part(content)]
    parts = as_mapping(content).get("parts")
    return [_part(item) for item in as_list([parts] if is_mapping(parts) else parts)]


def _part(value: object) -> Part:
    part = as_mapping(value)
    if isinstance(value, str):
        return telling.text_part(value)
    text = part.get("text")
    if isinstance(text, str):
        thought = part.get("thought") is True
        return telling.reasoning_part(text) if thought else telling.text_part(text)
    if is_mapping(part.get("functionCall")):
        call = part["functionCall"]
        return telling.tool_call(call.get("id"), call.get("name"), call.get("args"))
    if is_mapping(part.get("functionResponse")):
        answer = part["functionResponse"]
        return telling.tool_answer(answer.get("id"), answer.get("response"))
    return telling.other_part(next(iter(part), None))


def _ground(parts: list[Part], grounding: Mapping[str, Any]) -> None:
    """Put what Google searched and found before the text, and its citations on it."""
    queries = [query for query in as_list(grounding.get("webSearchQueries")) if word(query)]
    sources = [
        as_mapping(lookup(item, "web")) for item in as_list(grounding.get("groundingChunks"))
    ]
    _cite(parts, sources, as_list(grounding.get("groundingSupports")))
    if not queries and not any(sources):
        return
    details: dict[str, Any] = {"type": "google_search"}
    if queries:
        details["queries"] = queries
    searched = [telling.server_call(None, "google_search", details)]
    if is_list(grounding.get("groundingChunks")):
        # The addresses are Google's own redirects to the pages, as the API gives them.
        results = [
            {"url": web.get("uri"), "title": web.get("title")} for web in sources if web.get("uri")
        ]
        searched.append(telling.server_answer(None, {"type": "google_search", "results": results}))
    parts[:0] = searched


def _cite(parts: list[Part], sources: list[Mapping[str, Any]], supports: Iterable[object]) -> None:
    """Put each support onto the text it is for; the API counts bytes of UTF-8 within a part."""
    encoded = {
        number: part["content"].encode(errors="replace")
        for number, part in enumerate(parts)
        if part["type"] == "text"
    }
    for support in supports:
        number = count(lookup(support, "segment.partIndex")) or 0
        if number not in encoded:
            continue
        text = encoded[number]
        start = _characters(text, count(lookup(support, "segment.startIndex")) or 0)
        end = _characters(text, count(lookup(support, "segment.endIndex")))
        for index in as_list(lookup(support, "groundingChunkIndices")):
            place = count(index)
            if place is None or place >= len(sources) or not word(sources[place].get("uri")):
                continue
            found = telling.citation(
                sources[place]["uri"], title=word(sources[place].get("title")), start=start, end=end
            )
            parts[number].setdefault("annotations", []).append(found)


def _characters(text: bytes, offset: int | None) -> int | None:
    if offset is None or offset > len(text):
        return None
    return len(text[:offset].decode(errors="replace"))


class _Candidate:
    """One candidate of a streamed answer; texts of one kind that follow each other are one."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.texts: list[list[str]] = []
        self.grounding: dict[str, Any] = {}
        self.reason: object = None

    def add(self, candidate: Mapping[str, Any]) -> None:
        self.reason = candidate.get("finishReason") or self.reason
        grounding = as_mapping(candidate.get("groundingMetadata"))
        self.grounding |= {key: value for key, value in grounding.items() if value}
        for value in as_list(lookup(candidate, "content.parts")):
            part = as_mapping(value)
            text = part.get("text")
            if not isinstance(text, str):
                self.parts.append(dict(part))
                self.texts.append([])
                continue
            thought = part.get("thought") is True
            if not self.texts or not self.texts[-1] or self.parts[-1]["thought"] is not thought:
                self.parts.append({"thought": thought})
                self.texts.append([])
            self.texts[-1].append(text)

    def whole(self) -> dict[str, Any]:
        parts = [
            {**part, "text": "".join(texts)} if texts else part
            for part, texts in zip(self.parts, self.texts, strict=True)
        ]
        return {
            "content": {"parts": parts},
            "finishReason": self.reason,
            "groundingMetadata": self.grounding,
        }


def assemble(events: Iterable[Event]) -> dict[str, Any]:
    """Put a streamed answer together: each event is an answer of its own, with what is new."""
    whole: dict[str, Any] = {}
    candidates: dict[int, _Candidate] = {}
    for event in events:
        whole |= {key: event.data[key] for key in _CARRIED if event.data.get(key)}
        for candidate in as_list(event.data.get("candidates")):
            index = count(lookup(candidate, "index")) or 0
            candidates.setdefault(index, _Candidate()).add(as_mapping(candidate))
    whole["candidates"] = [candidates[index].whole() for index in sorted(candidates)]
    return whole
