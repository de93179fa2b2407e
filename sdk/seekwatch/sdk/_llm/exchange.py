"""A finished call of a model API, as far as it was seen, and what its span says.

One reader for each wire shape; a streamed answer is put together first and then read as any other.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from seekwatch.core import attributes
from seekwatch.sdk._decoding import as_text, decode, decode_at, encodable
from seekwatch.sdk._guard import failed
from seekwatch.sdk._shapes import as_mapping, is_list, is_mapping, lookup

from . import anthropic, bedrock, cohere, gemini, mistral, ollama, openai_chat, openai_responses
from . import streams as wire
from .apis import CHAT, Found, ModelApi, Shape, find
from .gateways import gateway_attributes
from .hosted import missing_facts
from .providers import provider_of
from .streams import Event
from .telling import Asked, Told, Usage, asked_attributes, told_attributes

EMPTY: Final = "empty"
NOT_JSON: Final = "not-json"
UNKNOWN_SHAPE: Final = "unknown-shape"
CUT: Final = "cut"
TOO_DEEP: Final = "too-deep"
FAILED: Final = "failed"

_PRICED: Final = frozenset({"openrouter", "perplexity"})
"""Providers whose answers name a cost in US dollars."""
_ERROR_WORD: Final = re.compile(r"[\w.:-]{1,80}")
_USAGE_KEY: Final = re.compile(r'"(usage|usageMetadata)"\s*:\s*(?=\{)')
_COUNTED: Final = (
    attributes.INPUT_TOKENS,
    attributes.OUTPUT_TOKENS,
    attributes.CACHE_READ_INPUT_TOKENS,
    attributes.CACHE_CREATION_INPUT_TOKENS,
    attributes.REASONING_OUTPUT_TOKENS,
    attributes.GATEWAY_COST,
)


@dataclass(frozen=True, slots=True)
class ModelExchange:
    """What a model was asked and what came back, in bytes."""

    host: str
    path: str
    query: str
    asked: bytes | None
    """The request's body; None where it was streamed."""
    status: int | None
    headers: Mapping[str, str]
    """The answer's headers, names in lower case; of repeated ones the last."""
    answered: bytes
    """The answer's body, content-decoded as far as it was seen."""
    whole: bool
    """False when the body was closed early, broke off or was too long to hold."""
    started_ns: int
    first_chunk_ns: int | None
    """When the first bytes of the body came, where it was streamed."""
    ended_ns: int
    tail: bytes = b""
    """The last bytes of a body that was too long to hold; between it and `answered` is a gap."""
    counted_above: bool = False
    """The current span is the same call by another instrumentation, which counts its tokens but
    carries no content: ours carries the content and counts nothing."""


class _Reader(NamedTuple):
    read_asked: Callable[[Mapping[str, Any]], Asked]
    read_told: Callable[[Mapping[str, Any]], Told]
    assemble: Callable[[Iterable[Event]], dict[str, Any]]


_READERS: Final[dict[Shape, _Reader]] = {
    "openai-chat": _Reader(openai_chat.read_asked, openai_chat.read_told, openai_chat.assemble),
    "openai-responses": _Reader(
        openai_responses.read_asked, openai_responses.read_told, openai_responses.assemble
    ),
    "anthropic": _Reader(anthropic.read_asked, anthropic.read_told, anthropic.assemble),
    "gemini": _Reader(gemini.read_asked, gemini.read_told, gemini.assemble),
    "cohere": _Reader(cohere.read_asked, cohere.read_told, cohere.assemble),
    "bedrock": _Reader(bedrock.read_asked, bedrock.read_told, bedrock.assemble),
    "mistral": _Reader(mistral.read_asked, mistral.read_told, mistral.assemble),
    "ollama": _Reader(ollama.read_asked, ollama.read_told, ollama.assemble),
}


def read_call(exchange: ModelExchange) -> dict[str, Any]:
    """Return the attributes of a model call's span.

    What the answer does not say is not there. Why an answer was not read, or not whole, stands in
    `seekwatch.llm.unread_reason`; what there is of it is told all the same.
    """
    found = find(exchange.path) or Found(CHAT, None)
    api, reader = found.api, _READERS[found.api.shape]
    values: dict[str, Any] = {
        attributes.PROVIDER_NAME: provider_of(exchange.host) or api.provider,
        attributes.OPERATION_NAME: api.operation,
    }
    values |= _tried(lambda: asked_attributes(_asked(exchange, found, reader)))
    values |= gateway_attributes(exchange.headers)
    if exchange.status is not None and exchange.status < 400:
        values |= _tried(lambda: _answer(exchange, api, reader, values))
    if exchange.counted_above:
        values = {key: value for key, value in values.items() if key not in _COUNTED}
    return {key: _safe(value) for key, value in values.items()}


def _tried(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Read one side of a call; what is not read of one does not take the other with it."""
    try:
        return read()
    except RecursionError:
        return {attributes.LLM_UNREAD: TOO_DEEP}
    except Exception as error:  # noqa: BLE001 - a bug of ours costs this side, and is counted
        failed("reading a model call", error)
        return {attributes.LLM_UNREAD: FAILED}


def _asked(exchange: ModelExchange, found: Found, reader: _Reader) -> Asked:
    asked = reader.read_asked(as_mapping(decode(exchange.asked or b"")))
    asked.model = asked.model or found.model
    if found.api.named and asked.streams is None:
        ending = exchange.path.rpartition("/")[2]
        asked.streams = "stream" in ending.lower()
    return asked


def _answer(
    exchange: ModelExchange, api: ModelApi, reader: _Reader, values: Mapping[str, Any]
) -> dict[str, Any]:
    content_type = exchange.headers.get("content-type", "")
    body, events = _body(exchange, content_type, reader)
    told = reader.read_told(as_mapping(body))
    if api.shape == "bedrock" and told.usage == Usage():
        told.usage = bedrock.header_usage(exchange.headers)
    read = told_attributes(told)
    if told.messages:
        missing = missing_facts(told.messages)
        if missing:
            read[attributes.SEARCH_MISSING] = missing
    read |= _gateway_body(told, values)
    if events:
        if exchange.first_chunk_ns is not None:
            waited = (exchange.first_chunk_ns - exchange.started_ns) / 1e9
            read[attributes.TIME_TO_FIRST_CHUNK] = max(0.0, waited)
        failure = _failure(events)
        if failure is not None:
            read[attributes.ERROR_TYPE] = failure
    reason = _unread(exchange, body, told)
    if reason is not None:
        read[attributes.LLM_UNREAD] = reason
    return read


def _body(
    exchange: ModelExchange, content_type: str, reader: _Reader
) -> tuple[object, list[Event]]:
    """Return the answer's JSON, put together where it was streamed, and the events it came in."""
    data = exchange.answered
    streamed = wire.is_stream(content_type, data)
    if not streamed and not data.lstrip().startswith(b"["):
        body = decode(data)
        if body is not None or not data.lstrip().startswith(b"{"):
            return body, []
        # One object and no JSON: lines of it, or one that was cut.
    events = wire.events(content_type, data, exchange.tail)
    if not events:
        return None, []
    body = reader.assemble(events)
    if exchange.tail and not body.get("usage") and not body.get("usageMetadata"):
        # The last event of a long answer repeats it whole, and usage stands at its end.
        body |= _usage_in(as_text(exchange.tail))
    return body, events


def _usage_in(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for match in _USAGE_KEY.finditer(text):
        usage = decode_at(text, match.end())
        if is_mapping(usage):
            found[match[1]] = usage
    return found


def _gateway_body(told: Told, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the body says of the gateway that answered; its headers come first."""
    provider = values[attributes.PROVIDER_NAME]
    read: dict[str, Any] = {}
    if provider not in _PRICED:
        return read
    if told.cost is not None and math.isfinite(told.cost) and told.cost >= 0:
        read[attributes.GATEWAY_COST] = values.get(attributes.GATEWAY_COST, told.cost)
    if provider == "openrouter":
        read[attributes.GATEWAY_NAME] = values.get(attributes.GATEWAY_NAME, provider)
        if told.provider is not None:
            read[attributes.GATEWAY_PROVIDER] = told.provider
    return read


def _failure(events: Iterable[Event]) -> str | None:
    """Return the type of an error that came in the middle of a stream."""
    for event in events:
        error = event.data.get("error", lookup(event.data, "response.error"))
        if event.name.endswith("Exception"):
            return event.name
        if not is_mapping(error) and event.data.get("type") != "error":
            continue
        for place in (error, event.data):
            for key in ("type", "code", "status"):
                word = str(lookup(place, key) or "")
                if word != "error" and _ERROR_WORD.fullmatch(word):
                    return word
        return "_OTHER"
    return None


def _unread(exchange: ModelExchange, body: object, told: Told) -> str | None:
    """Say why the answer, or a part of it, could not be read.

    Libraries close a stream at its last event, so one that tells how it finished is no cut one,
    unless there is a gap in what was held.
    """
    if not exchange.answered:
        return EMPTY
    if exchange.tail or (not exchange.whole and not told.finish_reasons):
        return CUT
    if body is None:
        return NOT_JSON
    return UNKNOWN_SHAPE if told == Told() else None


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    return [encodable(str(item)) for item in value] if is_list(value) else value
