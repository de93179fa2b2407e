"""What the local model says, apart from any wire format: first a search, then an answer.

Deterministic: the same conversation gets the same turn, so that a test knows the query, the answer,
its citations and every token count.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.services.library import Document, Topic, document_at, topic_asked

_URL: Final = re.compile(r"https://[a-z0-9./-]+")
_FINAL: Final = "final_answer"
"""The tool by which some frameworks want their answer."""
_DATED_MODELS: Final = {"gpt-4o-mini": "gpt-4o-mini-2024-07-18", "gpt-4o": "gpt-4o-2024-08-06"}


@dataclass(frozen=True)
class Tool:
    """A function that the agent offers: its name and the parameter that a query goes into."""

    name: str
    parameter: str

    @classmethod
    def of(cls, name: str, schema: Mapping[str, Any]) -> "Tool":
        """Read the JSON schema of the parameters."""
        properties = list(schema.get("properties", {}))
        wanted = [each for each in ("query", "q", "answer", "url") if each in properties]
        return cls(name, (wanted or properties or ["query"])[0])


@dataclass(frozen=True)
class Asked:
    """A request, whatever API it came by."""

    model: str
    said: str
    """All text of the conversation, in order."""
    tools: tuple[Tool, ...] = ()
    hosted_search: bool = False
    stream: bool = False
    usage_wanted: bool = True
    """Whether the usage goes onto the wire."""


@dataclass(frozen=True)
class ToolCall:
    """The model wants a function called."""

    name: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class Cited:
    """A mark `[1](url)` in the text, and where it stands."""

    document: Document
    start: int
    end: int


@dataclass(frozen=True)
class Turn:
    """What the model answers, and what it counts for it."""

    number: int
    model: str
    topic: Topic | None
    text: str = ""
    call: ToolCall | None = None
    searched: str | None = None
    """The query of a hosted search, None without one."""
    found: tuple[Document, ...] = ()
    """Results of the hosted search."""
    citations: tuple[Cited, ...] = ()
    input_tokens: int = 0
    """All of the input, the cached part included."""
    cached_tokens: int = 0
    output_tokens: int = 0
    usage_told: bool = True

    def pieces(self, text: str) -> Iterator[str]:
        """Cut a text as a stream does."""
        for start in range(0, len(text), 12):
            yield text[start : start + 12]


@dataclass
class Model:
    """Takes turns, and keeps them."""

    turns: list[Turn] = field(default_factory=list[Turn])
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def turn(self, asked: Asked) -> Turn:
        """Return the next turn of a conversation."""
        topic = topic_asked(asked.said)
        kept: dict[str, Any] = {"number": next(self._numbers), "topic": topic}
        found = _found(asked.said)
        if asked.hosted_search and topic is not None:
            found = topic.documents
            kept |= {"searched": topic.query, "found": found}
        search = None if found else _search_tool(asked.tools)
        if topic is not None and search is not None:
            kept["call"] = ToolCall(search.name, {search.parameter: topic.query})
        else:
            text, citations = _answer(found)
            final = next((tool for tool in asked.tools if tool.name == _FINAL), None)
            if final is None:
                kept |= {"text": text, "citations": citations}
            else:
                kept["call"] = ToolCall(final.name, {final.parameter: text})
        turn = _counted(asked, kept)
        self.turns.append(turn)
        return turn

    def asked_about(self, question: str) -> list[Turn]:
        """Return the turns of the conversations about a question."""
        return [each for each in self.turns if each.topic and each.topic.question == question]


def texts(value: object) -> Iterator[str]:
    """Yield every string inside a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from texts(each)


def _found(said: str) -> tuple[Document, ...]:
    documents = (document_at(match.rstrip(".")) for match in _URL.findall(said))
    return tuple(dict.fromkeys(document for document in documents if document is not None))


def _search_tool(tools: Sequence[Tool]) -> Tool | None:
    usable = [tool for tool in tools if tool.name != _FINAL]
    named = [tool for tool in usable if "search" in tool.name]
    return next(iter(named or usable), None)


def _answer(found: Sequence[Document]) -> tuple[str, tuple[Cited, ...]]:
    if not found:
        return "I found nothing about that.", ()
    text = ""
    citations: list[Cited] = []
    for number, document in enumerate(found, 1):
        mark = f"[{number}]({document.url})"
        text += f"{document.sentence.removesuffix('.')} "
        citations.append(Cited(document, len(text), len(text) + len(mark)))
        text += f"{mark}. "
    return text.rstrip(), tuple(citations)


def _counted(asked: Asked, kept: dict[str, Any]) -> Turn:
    call: ToolCall | None = kept.get("call")
    said = kept.get("text") or (call.arguments if call else "")
    counted = len(asked.said) // 4 + 10 * len(asked.tools) + 1
    return Turn(
        **kept,
        model=_DATED_MODELS.get(asked.model, asked.model),
        input_tokens=counted,
        cached_tokens=counted // 4,
        output_tokens=len(str(said)) // 4 + 1,
        usage_told=asked.usage_wanted,
    )
