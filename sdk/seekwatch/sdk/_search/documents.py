"""Search results as attributes: masked once, then carried in both forms.

The JSON carrier is complete. The flattened form, which OpenInference's readers know, stops at what
fits the span's attribute limit.
"""

import json
from typing import Any, Final

from seekwatch.core import attributes
from seekwatch.sdk._privacy.masking import Masking
from seekwatch.sdk._runtime import Masked, Runtime

MAX_DOCUMENTS_BYTES: Final = 256 * 1024
"""Cap for the JSON carrier; beyond it the texts are dropped from the last rank upwards."""
_RESERVED_ATTRIBUTES: Final = 32
"""Kept free on a RETRIEVER span for everything that is not a flattened document."""


def document_attributes(runtime: Runtime, documents: list[dict[str, Any]], provider: str) -> Masked:
    """Return every attribute that carries results.

    Args:
        runtime: for what a secret is and how many attributes a span takes.
        documents: results with the keys of `gen_ai.retrieval.documents`.
        provider: the search API's name.
    """
    masking = Masking(runtime.redactor)
    clean = [_masked(masking, document) for document in documents]
    values: dict[str, Any] = {
        attributes.SEARCH_RESULT_COUNT: len(clean),
        attributes.GENAI_RETRIEVAL_DOCUMENTS: documents_json(clean, runtime.value_limit),
    }
    urls = [document["url"] for document in clean if "url" in document]
    if urls:
        values[attributes.SOURCE_URL] = urls
    ages = [document["recency_days"] for document in clean if "recency_days" in document]
    if ages:
        values[attributes.SOURCE_RECENCY_DAYS] = ages
    limit = runtime.attribute_limit
    room = 1_000_000 if limit is None else limit - _RESERVED_ATTRIBUTES
    return Masked(values | flattened(clean, provider, room), masking.count)


def _masked(masking: Masking, document: dict[str, Any]) -> dict[str, Any]:
    masked = {
        key: masking.text(value) if isinstance(value, str) and key not in {"id", "url"} else value
        for key, value in document.items()
    }
    if "url" in document:
        masked["id"] = masked["url"] = masking.url(document["url"])
    return masked


def documents_json(documents: list[dict[str, Any]], value_limit: int | None = None) -> str:
    """Encode documents within the cap: every result keeps its facts, the last lose their text.

    Args:
        documents: what is to be carried.
        value_limit: the tracer's limit for the length of a string attribute. Where the facts alone
            are longer, the last results are left out: JSON that was cut off has none.
    """
    cap = MAX_DOCUMENTS_BYTES if value_limit is None else min(MAX_DOCUMENTS_BYTES, value_limit)
    encoded = [json.dumps(document, ensure_ascii=False) for document in documents]
    size = sum(map(len, encoded)) + 2 * len(encoded)
    for index in reversed(range(len(encoded))):
        if size <= cap:
            break
        bare = {key: value for key, value in documents[index].items() if key != "content"}
        shorter = json.dumps(bare, ensure_ascii=False)
        size -= len(encoded[index]) - len(shorter)
        encoded[index] = shorter
    while value_limit is not None and encoded and size > value_limit:
        size -= len(encoded.pop()) + 2
    return f"[{', '.join(encoded)}]"


_METADATA_KEYS: Final = ("url", "title", "published_date", "rank", "provider")


def flattened(documents: list[dict[str, Any]], provider: str, room: int) -> dict[str, Any]:
    """Return the OpenInference form of the first documents, within `room` attributes."""
    flat: dict[str, Any] = {}
    for index, document in enumerate(documents):
        prefix = f"{attributes.RETRIEVAL_DOCUMENTS}.{index}."
        described = {**document, "provider": provider}
        metadata = {key: described[key] for key in _METADATA_KEYS if key in described}
        entry: dict[str, Any] = {
            prefix + attributes.DOCUMENT_METADATA: json.dumps(metadata, ensure_ascii=False)
        }
        for key, name in (
            ("url", attributes.DOCUMENT_ID),
            ("content", attributes.DOCUMENT_CONTENT),
            ("score", attributes.DOCUMENT_SCORE),
        ):
            if key in document:
                entry[prefix + name] = document[key]
        if len(flat) + len(entry) > room:
            break
        flat.update(entry)
    return flat
