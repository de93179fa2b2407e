"""Replaces content by its hash and length, for agents that run with `capture_content=False`.

It works on names of attributes, in the last stage, so that the content which other
instrumentations put on their spans stays in the process as well.
"""

import functools
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import unquote_plus, urlsplit, urlunsplit

from opentelemetry.sdk.trace import Event
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, Status

from seekwatch.core import attributes
from seekwatch.core.redaction import MASK
from seekwatch.sdk._search.dates import parse_published
from seekwatch.sdk._shapes import as_list, as_mapping, is_list

_CONTENT_KEYS: Final = frozenset(
    {
        attributes.INPUT_VALUE,
        attributes.OUTPUT_VALUE,
        attributes.SYSTEM_INSTRUCTIONS,
        "exception.stacktrace",
        "process.command",
        "process.command_line",
        "gen_ai.tool.definitions",
        "llm.invocation_parameters",
        "llm.prompt_template.template",
        "llm.prompt_template.variables",
        "all_messages_events",
    }
)
_CONTENT_PREFIXES: Final = (
    "llm.input_messages.",
    "llm.output_messages.",
    "llm.prompts.",
    "llm.completions.",
    "llm.tools.",
    "gen_ai.prompt.",
    "gen_ai.completion.",
    "gen_ai.input.messages.",
    "gen_ai.output.messages.",
    "retrieval.documents.",
    "reranker.",
    "embedding.embeddings.",
    "tool.parameters",
)
_CONTENT_NAME: Final = re.compile(
    r"(?:^|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))"
    r"(?i:questions?|answers?|prompts?|completions?|quer(?:y|ies)|contents?|texts?|body|snippets?|"
    r"titles?|inputs?|outputs?|messages?|msg|arguments?|args|results?|explanation|reasoning|"
    r"summary|quotes?|response|instructions?|keywords?|search_terms?|descriptions?|goals?|tasks?|"
    r"passages?|observations?|thoughts?|history|conversation|transcript|excerpts?|highlights?|"
    r"headline|metadata|function_call|statement|payload|markdown|html)\Z"
)
"""Names for content, as the last word of a key, whoever wrote it: a key that is not known may hold
a question as well as one that is."""
_NUMBER: Final = re.compile(r"(?:[._]?\d+|\[\d+\])+\Z")
"""What tells one of several of a name."""
_KNOWN: Final = (
    *("user_agent.", "http.user_agent", "code.", "thread.", "process.", "os.", "host.", "service."),
    *("telemetry.", "deployment.", "cloud.", "k8s.", "container.", "faas.", "otel."),
    *("gen_ai.agent.name", "agent.name"),
)
"""How the names begin of what may have several words and is no content: the process and its place
say it, or its developer, and no page or model does."""
_WORD: Final = re.compile(r"[\w.~:/@+-]{0,128}", re.ASCII)
"""What may stand under a name that is not known: a kind, a model, an identifier. Several words, or
a script that sets no spaces between them, may be anything."""
_URL_KEYS: Final = frozenset(
    {
        "url.query",
        "url.path",
        "url.full",
        "http.url",
        "http.target",
        f"{attributes.RESPONSE_HEADER}location",
    }
)
"""Keys that hold parts of URLs or relative ones; whole ones are found by their `://`."""
_JSON_CARRIERS: Final = {
    attributes.GENAI_RETRIEVAL_DOCUMENTS: frozenset(
        {"id", "url", "published_date", "recency_days", "rank", "score"}
    ),
    attributes.CITATIONS: frozenset({"url", "start", "end"}),
    attributes.FETCH_HOPS: frozenset({"url", "status", "location"}),
}
"""Attributes that hold a JSON array of objects, and the members that are no content."""
_URL_MEMBERS: Final = frozenset({"id", "url", "location"})
_KEPT_SUFFIXES: Final = (".document.id", ".document.score", ".message.role")
_NAMING_SUFFIXES: Final = (".document.id", attributes.SOURCE_URL)
"""Keys that hold a URL or an identifier, unless a source has neither."""
_URL_IN_TEXT: Final = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]{0,15}:)?//[^\s\"'<>\\]+")
_QUERY_PARAMETERS: Final = frozenset(
    (
        *("q", "query", "s", "search", "search_query", "searchterm", "keyword", "keywords", "kw"),
        *("term", "terms", "text", "title", "question", "prompt", "input", "message", "wd"),
    )
)
"""What search forms of the web call their field, beside the names that the search APIs use."""
WITHHELD: Final = "withheld"
"""What stands for a name."""
_WORDS_OF_A_NAME: Final = 2
_PART_OF_NAME: Final = re.compile(r"[\w.~:/@+{}<>*-]{0,128}", re.ASCII)
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
_ERROR_TYPE: Final = re.compile(
    r"(?:\w+\.)*\w*(?:Error|Exception|Warning|Timeout|Interrupt|Exit|Cancelled|Failure)", re.ASCII
)
_SEPARATORS: Final = re.compile(r"([&;])")
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.~:-]{0,64}")


class Withholder:
    """Takes the content off spans.

    Args:
        salt: mixed into every hash, so that a short text cannot be guessed from it.
        query_parameters: names of URL parameters that carry a search query.
    """

    def __init__(self, salt: str, query_parameters: frozenset[str]) -> None:
        self._salt = salt.encode()
        self._query_parameters = query_parameters | _QUERY_PARAMETERS

    def name(self, name: str) -> str:
        """Return the name of a span or an event; one of many words may be a question.

        An operation and what it is done to are two words at most: `GET /search`, `chat gpt-5`.
        """
        words = name.split()
        is_short = len(words) <= _WORDS_OF_A_NAME
        return name if is_short and all(map(_PART_OF_NAME.fullmatch, words)) else WITHHELD

    def event(self, event: Event) -> Event:
        """Return an event without content."""
        values = self.attributes(event.attributes or {})
        return Event(self.name(event.name), values, event.timestamp)

    def scope(self, scope: InstrumentationScope) -> InstrumentationScope:
        """Return a scope whose attributes hold no content."""
        if not scope.attributes:
            return scope
        values = self.attributes(scope.attributes)
        return InstrumentationScope(scope.name, scope.version, scope.schema_url, values)

    def link(self, link: Link) -> Link:
        """Return a link without content."""
        return Link(link.context, self.attributes(link.attributes or {}))

    def status(self, status: Status) -> Status:
        """Return a status whose message is at most the type of the error that it began with."""
        if not status.description:
            return status
        return Status(status.status_code, _error_type(status.description))

    def hash(self, text: str) -> str:
        """Return the salted hash that stands for a text."""
        digest = hmac.new(self._salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"sha256:{digest.hexdigest()}"

    def attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes with content replaced by hash and length; doing it twice is once."""
        kept: dict[str, Any] = {}
        for key, value in values.items():
            if key in _JSON_CARRIERS:
                kept[key] = self._json_facts(value, _JSON_CARRIERS[key])
            elif not isinstance(value, bool | int | float) and (
                _is_content(key) or not (_is_known(key) or _is_word(value))
            ):
                text = value if isinstance(value, str) else json.dumps(value, default=str)
                kept[f"{key}{attributes.WITHHELD_HASH}"] = self.hash(text)
                kept[f"{key}{attributes.WITHHELD_LENGTH}"] = len(text)
            else:
                kept[key] = self._without_queries(key, value)
        return kept

    def _json_facts(self, value: Any, members: frozenset[str]) -> str:
        try:
            items = as_list(json.loads(value))
        except (TypeError, ValueError, RecursionError):
            return "[]"
        facts = [
            {name: self._fact(name, each) for name, each in item.items() if name in members}
            for item in map(as_mapping, items)
        ]
        return json.dumps(facts, ensure_ascii=False)

    def _fact(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            return value if isinstance(value, int | float) else None
        if name in _URL_MEMBERS and (name == "location" or "://" in value):
            return self._url(value)
        if name == "published_date" and parse_published(value, datetime.now(UTC)) is not None:
            return value
        # A title where a URL was asked for, a sentence where a date was.
        return self._stand_in(value)

    def _stand_in(self, text: str) -> str:
        return text if _HASH.fullmatch(text) else self.hash(text)

    def _without_queries(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            if key == "url.query":
                return self._query(value)
            if key in _URL_KEYS:
                return self._url(value)
            if "//" in value:
                return _URL_IN_TEXT.sub(lambda match: self._url(match.group()), value)
            if key.endswith(_NAMING_SUFFIXES) and not _IDENTIFIER.fullmatch(value):
                return self._stand_in(value)
            return value
        if is_list(value):
            return tuple(self._without_queries(key, item) for item in as_list(value))
        return value

    def _url(self, url: str) -> str:
        """Return a URL without what may be words of a question or a page in it."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return MASK
        return urlunsplit(
            parts._replace(path=_path(parts.path), query=self._query(parts.query), fragment="")
        )

    def _query(self, query: str) -> str:
        parts = _SEPARATORS.split(query)
        return "".join(part if part in {"&", ";"} else self._parameter(part) for part in parts)

    def _parameter(self, parameter: str) -> str:
        name, separator, value = parameter.partition("=")
        named = unquote_plus(name).lower() in self._query_parameters
        if separator and not named and _IDENTIFIER.fullmatch(unquote_plus(value)):
            return parameter
        if not separator and _IDENTIFIER.fullmatch(unquote_plus(name)):
            return parameter
        return f"{name}={MASK}" if separator else MASK


def _path(path: str) -> str:
    """Mask the segments of a path that are several words: some searches have the query there."""
    if not any(mark in path for mark in "%+ "):
        return path
    return "/".join(
        MASK if " " in unquote_plus(segment).strip() else segment for segment in path.split("/")
    )


@functools.lru_cache(maxsize=4096)
def _is_content(key: str) -> bool:
    name = _NUMBER.sub("", key)
    if name in _CONTENT_KEYS:
        return True
    if key in _URL_KEYS or key.endswith((attributes.WITHHELD_HASH, attributes.WITHHELD_LENGTH)):
        return False
    if key.startswith(_CONTENT_PREFIXES):
        return not key.endswith(_KEPT_SUFFIXES)
    return _CONTENT_NAME.search(name) is not None


@functools.lru_cache(maxsize=4096)
def _is_known(key: str) -> bool:
    return key.startswith(_KNOWN) or key in _URL_KEYS or key.endswith(_NAMING_SUFFIXES)


def _is_word(value: Any) -> bool:
    if isinstance(value, str):
        # Of a URL the words are masked.
        return (_WORD.fullmatch(value) or _URL_IN_TEXT.fullmatch(value)) is not None
    if is_list(value):
        return all(map(_is_word, as_list(value)))
    return value is None or isinstance(value, bool | int | float)


def _error_type(description: str) -> str:
    """Return the leading type name of `Type: message`, or nothing."""
    name = description.partition(": ")[0]
    return name if _ERROR_TYPE.fullmatch(name) else ""
