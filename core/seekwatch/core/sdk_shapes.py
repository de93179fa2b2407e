"""Attributes as our SDK writes them, from plain values: one place that builders of spans share."""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.otlp.building import AttributeMap, AttributeValue

_SECOND: Final = 1_000_000_000


def result(
    url: str,
    *,
    title: str | None = None,
    content: str | None = None,
    published: str | None = None,
    score: float | None = None,
) -> dict[str, Any]:
    """Describe one search result; what is None is left out, as a provider would."""
    fields = {
        "url": url,
        "title": title,
        "content": content,
        "published_date": published,
        "score": score,
    }
    return {key: value for key, value in fields.items() if value is not None}


def search_attributes(
    query: str,
    documents: Sequence[Mapping[str, Any]] | None,
    provider: str,
    unread_reason: str | None,
    error: str | None,
) -> AttributeMap:
    """Return the attributes of a RETRIEVER span."""
    return {
        names.SPAN_KIND: names.KIND_RETRIEVER,
        names.OPERATION_NAME: names.OPERATION_RETRIEVAL,
        names.SOURCE_TYPE: names.SOURCE_TYPE_WEB,
        names.SEARCH_QUERY: query,
        names.RETRIEVAL_QUERY_TEXT: query,
        names.INPUT_VALUE: query,
        names.SEARCH_PROVIDER: provider,
        names.SEARCH_UNREAD: unread_reason,
        names.SEARCH_RESULT_COUNT: None if documents is None else len(documents),
        names.GENAI_RETRIEVAL_DOCUMENTS: (
            None if documents is None else json.dumps(documents, ensure_ascii=False)
        ),
        names.SOURCE_URL: [str(item["url"]) for item in documents or []] or None,
        names.ERROR_TYPE: error,
        **flattened_documents(documents or []),
    }


def generation_attributes(
    model: str | None,
    input_tokens: int | None,
    output_tokens: int | None,
    text: str | None,
    provider: str,
    error: str | None,
) -> AttributeMap:
    """Return the attributes of an LLM span."""
    message = {
        "role": "assistant",
        "parts": [{"type": "text", "content": text}],
        "finish_reason": "stop",
    }
    return {
        names.SPAN_KIND: names.KIND_LLM,
        names.OPERATION_NAME: names.OPERATION_CHAT,
        names.PROVIDER_NAME: provider,
        names.REQUEST_MODEL: model,
        names.RESPONSE_MODEL: model,
        names.INPUT_TOKENS: input_tokens,
        names.OUTPUT_TOKENS: output_tokens,
        names.FINISH_REASONS: None if error else ["stop"],
        names.OUTPUT_MESSAGES: None if text is None else json.dumps([message]),
        names.ERROR_TYPE: error,
    }


def timestamp(nanoseconds: int) -> str:
    """Return RFC 3339 with milliseconds, UTC."""
    moment = datetime.fromtimestamp(nanoseconds / _SECOND, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def body_attributes(
    body: str | bytes | None, content_type: str | None = "text/html; charset=utf-8"
) -> dict[str, AttributeValue | None]:
    """Return the attributes that carry a captured body: hash, type, size and the packed text."""
    attributes: dict[str, AttributeValue | None] = {names.CONTENT_TYPE: content_type}
    if body is None:
        return attributes
    raw = body.encode() if isinstance(body, str) else body
    attributes[names.CONTENT_HASH] = f"sha256:{hashlib.sha256(raw).hexdigest()}"
    attributes[names.RESPONSE_BODY_SIZE] = len(raw)
    attributes[names.CONTENT_BODY] = base64.b64encode(zlib.compress(raw)).decode()
    attributes[names.CONTENT_ENCODING] = names.CONTENT_ENCODING_ZLIB
    return attributes


def flattened_documents(
    documents: Sequence[Mapping[str, Any]],
) -> dict[str, AttributeValue | None]:
    """Return `retrieval.documents.N.document.*`."""
    flat: dict[str, AttributeValue | None] = {}
    for index, document in enumerate(documents):
        prefix = f"{names.RETRIEVAL_DOCUMENTS}.{index}."
        content, score = document.get("content"), document.get("score")
        flat[prefix + names.DOCUMENT_ID] = str(document.get("id"))
        flat[prefix + names.DOCUMENT_CONTENT] = content
        flat[prefix + names.DOCUMENT_SCORE] = score
        flat[prefix + names.DOCUMENT_METADATA] = json.dumps(
            {key: value for key, value in document.items() if key not in ("content", "score", "id")}
        )
    return flat


def hops_json(hops: Sequence[tuple[str, int, str | None]]) -> str | None:
    """Return `seekwatch.fetch.hops`; None for no redirect."""
    if not hops:
        return None
    return json.dumps(
        [{"url": url, "status": status, "location": location} for url, status, location in hops]
    )


def header_attributes(prefix: str, headers: Mapping[str, str]) -> dict[str, AttributeValue | None]:
    """Return headers as the HTTP conventions carry them: lower-case names, lists of strings."""
    return {f"{prefix}{name.lower()}": [value] for name, value in headers.items()}
