"""The citations of an answer, as agents give them and as they stand on a span."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

from seekwatch.sdk._shapes import as_mapping

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=str)


class Citation(TypedDict, total=False):
    """One citation of an answer. Only `url` is required.

    `start` and `end` are character offsets into the answer, half-open: the claim it supports.
    """

    url: str
    title: str
    quote: str
    start: int
    end: int


def as_given(citation: Citation | Mapping[str, Any] | str) -> dict[str, Any]:
    """Return what one says of itself; a string is its URL."""
    if isinstance(citation, str):
        return {"url": citation}
    wanted = ("url", "title", "quote", "start", "end")
    given = as_mapping(citation)
    return {key: given[key] for key in wanted if given.get(key) is not None}


def encoded(cited: Sequence[Mapping[str, Any]]) -> str:
    """Return citations as the attribute that holds them all."""
    return _ENCODER.encode(cited)
