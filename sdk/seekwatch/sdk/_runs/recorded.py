"""Makes attributes of what decorated functions were given and what they returned."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from seekwatch.core import attributes
from seekwatch.sdk._llm import calls
from seekwatch.sdk._search import results
from seekwatch.sdk._shapes import (
    as_float,
    as_list,
    as_mapping,
    get_field,
    is_list,
    is_mapping,
    is_number,
)

MAX_CHARACTERS: Final = 65_536
"""Cap for one JSON value of a decorated call."""
_MAX_DEPTH: Final = 8
_MAX_ITEMS: Final = 256

_DOCUMENT_FIELDS: Final = {
    "url": ("url", "link", "href", "source", "uri"),
    "title": ("title", "name"),
    "published_date": ("published_date", "publishedDate", "published_at", "page_age", "date"),
    "score": ("score", "relevance_score"),
    "content": ("content", "page_content", "snippet", "description", "text"),
}


def first_string(args: Iterable[Any], kwargs: Mapping[str, Any]) -> str | None:
    """Return the first argument that is a string, positional ones first."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, str):
            return value
    return None


def to_json(value: Any) -> str:
    """Encode any value as JSON, within bounds; what JSON has no form for becomes its type name.

    An object's own `repr` is not used: it can be slow, raise, or show what nobody meant to send.
    """
    return json.dumps(_plain(value, 0), ensure_ascii=False)[:MAX_CHARACTERS]


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        # JSON has no NaN and no infinity.
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value[:MAX_CHARACTERS]
    if depth >= _MAX_DEPTH:
        return f"<{type(value).__qualname__}>"
    if is_mapping(value):
        items = list(value.items())[:_MAX_ITEMS]
        return {str(key): _plain(item, depth + 1) for key, item in items}
    if is_list(value):
        return [_plain(item, depth + 1) for item in value[:_MAX_ITEMS]]
    fields = _fields(value)
    return f"<{type(value).__qualname__}>" if fields is None else _plain(fields, depth + 1)


def _fields(value: Any) -> Mapping[str, Any] | None:
    """Return a data object's fields: pydantic's, a dataclass's or a plain object's."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return as_mapping(dump())
    fields: Any = getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        return {name: getattr(value, name, None) for name in fields}
    return None


def documents_of(value: Any) -> list[dict[str, Any]]:
    """Return what a decorated retriever found, with the keys of `gen_ai.retrieval.documents`."""
    return [_document(item, rank) for rank, item in enumerate(_listed(value), 1)]


def _listed(value: Any) -> Sequence[Any]:
    if is_mapping(value):
        for key in ("results", "documents", "hits", "data"):
            if is_list(value.get(key)):
                return as_list(value[key])[: results.MAX_RESULTS]
        return [value]
    if is_list(value):
        return value[: results.MAX_RESULTS]
    return [] if value is None else [value]


def _document(item: Any, rank: int) -> dict[str, Any]:
    if isinstance(item, str):
        if item.startswith(("http://", "https://")):
            return {"id": item, "url": item, "rank": rank}
        return {"rank": rank, "content": item}
    document: dict[str, Any] = {}
    for field, names in _DOCUMENT_FIELDS.items():
        found = _field(item, names)
        if found is None:
            continue
        if field == "score":
            if is_number(found) and math.isfinite(score := as_float(found)):
                document[field] = score
        else:
            document[field] = str(found)[: results.MAX_CONTENT_CHARACTERS]
    if "url" in document:
        document["id"] = document["url"]
    document["rank"] = rank
    return document


def _field(item: Any, names: Iterable[str]) -> Any:
    # LangChain's and Haystack's documents keep everything but the text in their metadata.
    for holder in (item, get_field(item, "metadata"), get_field(item, "meta")):
        for name in names:
            found = get_field(holder, name)
            if isinstance(found, str | int | float) and not isinstance(found, bool):
                return found
    return None


def tool_result(value: Any) -> dict[str, Any]:
    """Return the attributes of a decorated tool's result."""
    return {} if value is None else {attributes.TOOL_CALL_RESULT: to_json(value)}


def model_input(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of what a decorated model call was given."""
    values: dict[str, Any] = {}
    model = arguments.get("model")
    if isinstance(model, str):
        values[attributes.REQUEST_MODEL] = model
    for name, value in arguments.items():
        if name == "model":
            continue
        if isinstance(value, str | list | tuple):
            plain = _plain(value, 0)
            return values | calls.input_attributes({"messages": plain})
    return values


def model_output(value: Any) -> dict[str, Any]:
    """Return the attributes of what a decorated model call returned or yielded."""
    pieces = as_list(value)
    if pieces and all(isinstance(item, str) for item in pieces):
        value = "".join(pieces)
    if isinstance(value, str):
        value = {"choices": [{"message": {"role": "assistant", "content": value}}]}
    return calls.output_attributes(as_mapping(_plain(value, 0)))
