"""Replaces content by its hash and length, for agents that run with `capture_content=False`.

It works on names of attributes, in the last stage, so that the content which other
instrumentations put on their spans stays in the process as well.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from opentelemetry.sdk.trace import Event
from opentelemetry.trace import Status

from seekwatch.core import attributes
from seekwatch.core.redaction import MASK

from ._shapes import as_list, as_mapping, is_list

_CONTENT_KEYS: Final = frozenset(
    {
        attributes.INPUT_VALUE,
        attributes.OUTPUT_VALUE,
        attributes.QUESTION,
        attributes.ANSWER,
        attributes.SEARCH_QUERY,
        attributes.RETRIEVAL_QUERY_TEXT,
        attributes.INPUT_MESSAGES,
        attributes.OUTPUT_MESSAGES,
        attributes.SYSTEM_INSTRUCTIONS,
        attributes.TOOL_CALL_ARGUMENTS,
        attributes.TOOL_CALL_RESULT,
        attributes.CONTENT_BODY,
        attributes.EVALUATION_EXPLANATION,
        "exception.message",
        "exception.stacktrace",
        "gen_ai.prompt",
        "gen_ai.completion",
        "gen_ai.tool.definitions",
        "llm.invocation_parameters",
        "llm.prompt_template.template",
        "llm.prompt_template.variables",
        "traceloop.entity.input",
        "traceloop.entity.output",
        "http.request.body.text",
        "http.response.body.text",
        "http.request.body.content",
        "http.response.body.content",
        "langfuse.observation.input",
        "langfuse.observation.output",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "tool.parameters",
        "query",
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
)
_JSON_CARRIERS: Final = frozenset({attributes.GENAI_RETRIEVAL_DOCUMENTS, attributes.CITATIONS})
_KEPT_IN_JSON: Final = frozenset(
    {"id", "url", "published_date", "recency_days", "rank", "score", "provider", "start", "end"}
)
_KEPT_SUFFIXES: Final = (".document.id", ".document.score", ".message.role")
_URL_IN_TEXT: Final = re.compile(r"https?://[^\s\"'<>\\]+")


class Withholder:
    """Takes the content off spans.

    Args:
        salt: mixed into every hash, so that a short text cannot be guessed from it.
        query_parameters: names of URL parameters that carry a search query.
    """

    def __init__(self, salt: str, query_parameters: frozenset[str]) -> None:
        self._salt = salt.encode()
        self._query_parameters = query_parameters

    def withhold(
        self, values: Mapping[str, Any], events: Sequence[Event], status: Status
    ) -> tuple[dict[str, Any], tuple[Event, ...], Status]:
        """Return the parts of a span without content.

        The status message goes with it, down to the type of the error it begins with.
        """
        kept = self.attributes(values)
        kept[attributes.CONTENT_WITHHELD] = True
        quiet = tuple(
            Event(event.name, self.attributes(event.attributes or {}), event.timestamp)
            for event in events
        )
        if status.description:
            status = Status(status.status_code, _error_type(status.description))
        return kept, quiet, status

    def hash(self, text: str) -> str:
        """Return the salted hash that stands for a text."""
        digest = hmac.new(self._salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"sha256:{digest.hexdigest()}"

    def attributes(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return attributes with content replaced by hash and length; doing it twice is once."""
        kept: dict[str, Any] = {}
        for key, value in values.items():
            if key in _JSON_CARRIERS:
                kept[key] = self._json_facts(value)
            elif _is_content(key):
                text = value if isinstance(value, str) else json.dumps(value, default=str)
                kept[f"{key}{attributes.WITHHELD_HASH}"] = self.hash(text)
                kept[f"{key}{attributes.WITHHELD_LENGTH}"] = len(text)
            else:
                kept[key] = self._without_queries(key, value)
        return kept

    def _json_facts(self, value: Any) -> str:
        try:
            items = json.loads(value)
        except (TypeError, ValueError):
            return "[]"
        facts = [
            {k: self._without_queries(k, v) for k, v in item.items() if k in _KEPT_IN_JSON}
            for item in map(as_mapping, as_list(items))
        ]
        return json.dumps(facts, ensure_ascii=False)

    def _without_queries(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            if "://" in value:
                return _URL_IN_TEXT.sub(lambda match: self._url(match.group()), value)
            if key in {"url.query", "http.target"} and "=" in value:
                head, separator, query = value.rpartition("?")
                return head + separator + self._query(query)
            return value
        if is_list(value):
            return tuple(self._without_queries(key, item) for item in as_list(value))
        return value

    def _url(self, url: str) -> str:
        try:
            parts = urlsplit(url)
        except ValueError:
            return url
        return urlunsplit(parts._replace(query=self._query(parts.query))) if parts.query else url

    def _query(self, query: str) -> str:
        return "&".join(
            f"{part.partition('=')[0]}={MASK}"
            if part.partition("=")[0] in self._query_parameters
            else part
            for part in query.split("&")
        )


def _is_content(key: str) -> bool:
    if key in _CONTENT_KEYS:
        return True
    if key.endswith((attributes.WITHHELD_HASH, attributes.WITHHELD_LENGTH)):
        return False
    return key.startswith(_CONTENT_PREFIXES) and not key.endswith(_KEPT_SUFFIXES)


def _error_type(description: str) -> str:
    """Return the leading type name of `Type: message`, or nothing."""
    name, separator, _ = description.partition(": ")
    return name if separator and name.replace(".", "").isidentifier() else ""
