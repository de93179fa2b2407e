"""What a dialect makes of one span: the same facts whoever wrote it, None for "not emitted"."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from seekwatch.core.model import Citation, Fetch, Generation, Provenance, RailResult, Search
from seekwatch.core.otlp.view import STATUS_ERROR, LogView, SpanView
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.genai_content import Content


class Role(StrEnum):
    """What a span is, in the words of no dialect."""

    AGENT = "agent"
    WORKFLOW = "workflow"
    CHAIN = "chain"
    LLM = "llm"
    RETRIEVER = "retriever"
    TOOL = "tool"
    HTTP = "http"
    EMBEDDING = "embedding"
    RERANKER = "reranker"
    GUARDRAIL = "guardrail"
    EVALUATOR = "evaluator"
    OTHER = "other"


OTHER_ERROR: Final = "_OTHER"
"""The conventions' own fallback value of `error.type`."""
_WORD: Final = re.compile(r"[\w.:$<>-]{1,120}")

RUN_ROLES: Final = frozenset({Role.AGENT, Role.LLM, Role.RETRIEVER})
"""A trace without a span of these roles is no run of an agent."""


@dataclass(slots=True, frozen=True)
class Text:
    """A recovered text, cleaned, and where it stood."""

    value: str
    provenance: Provenance


@dataclass(slots=True)
class SpanFacts:
    """One span, read.

    Attributes:
        dialect: name of the rule that fired.
        role: what the span is.
        agent: the agent's own name.
        question: what the user asked, as this span saw it.
        answer: what this span answered to its caller; on an LLM span only when it asked for no
            tool.
        explicit_answer: the answer was marked as such, not guessed.
        citations: structured sources of the answer, in the answer's order; None when the span
            has no place for them.
        searches, fetches, generations, rails: what the span did, with its own id and times.
        asked_for_tools: an LLM span whose output calls tools.
        sent: reads what a model was sent, on an LLM span; the whole conversation, so only on
            demand.
        authoritative: the span was made for this purpose and wins over retellings of the same
            work (our own spans).
        error: `error.type` or a word like it; never a message.
        location: where a plain HTTP response redirected to.
        user: as the dialect sent it, not yet hashed.
        withheld: the agent sends no content, by choice.
    """

    view: SpanView
    dialect: str
    role: Role = Role.OTHER
    agent: str | None = None
    question: Text | None = None
    answer: Text | None = None
    explicit_answer: bool = False
    citations: tuple[Citation, ...] | None = None
    searches: list[Search] = field(default_factory=list[Search])
    fetches: list[Fetch] = field(default_factory=list[Fetch])
    generations: list[Generation] = field(default_factory=list[Generation])
    rails: list[RailResult] = field(default_factory=list[RailResult])
    asked_for_tools: bool = False
    sent: Callable[[], Content] | None = None
    authoritative: bool = False
    error: str | None = None
    session: str | None = None
    location: str | None = None
    user: str | None = None
    withheld: bool = False

    @property
    def span(self) -> str:
        """Span id."""
        return self.view.span_id


class Dialect(Protocol):
    """Reads the spans of one convention.

    Attributes:
        name: as it stands in `Episode.dialects`.
    """

    name: str

    def claims(self, span: SpanView) -> bool:
        """Tell, by look-ups of a few keys, whether this convention wrote the span."""
        ...

    def read(self, span: SpanView, logs: list[LogView], cleaner: Cleaner) -> SpanFacts:
        """Read a claimed span.

        Args:
            span: the span.
            logs: log records joined to it by trace and span id, in order of time.
            cleaner: what every kept string goes through.
        """
        ...


def cleaned(facts: SpanFacts, key: str, value: str | None, cleaner: Cleaner) -> Text | None:
    """Return a text that was found under `key` of a span, ready to be kept; None for none."""
    if value is None:
        return None
    return Text(cleaner.text(value), Provenance(span=facts.span, key=key))


def error_of(span: SpanView, cleaner: Cleaner) -> str | None:
    """Return the word for how a span failed.

    `error.type`, else the class of a recorded exception, else `error` by the span's status. Status
    and exception messages are free text and stay out, and so does an `error.type` that is no word.
    """
    word = span.get("error.type")
    if isinstance(word, str) and word:
        return _word(word, cleaner)
    if span.status_code != STATUS_ERROR:
        return None
    for event in span.events():
        if event.name == "exception":
            kind = event.attributes.text("exception.type")
            if kind:
                return _word(kind, cleaner)
    return "error"


def _word(value: str, cleaner: Cleaner) -> str:
    return cleaner.text(value) if _WORD.fullmatch(value) else OTHER_ERROR
