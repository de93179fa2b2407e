"""JSON from anyone, decoded so that nothing in it can hurt: no NaN, no infinity, no error.

What one decoder lets through (NaN, `1e999`, half a surrogate pair), the next in line refuses.
"""

import json
import math
import re
from typing import Any, Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _nothing(_: str) -> None:
    return None


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_nothing)
_SPACE: Final = re.compile(r"[\s,]*")


def decode(data: bytes | str) -> Any:
    """Decode JSON; None when it is none (or `null`)."""
    text = as_text(data)
    try:
        return _DECODER.decode(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def decode_each(text: str) -> list[Any]:
    """Decode JSON values that follow each other, also as elements of an array, as far as it goes.

    A stream of Gemini's without SSE is one array that is written over seconds; one that was cut
    still has its whole elements.
    """
    found: list[Any] = []
    text = text.lstrip("\ufeff \t\r\n")
    position = 1 if text.startswith("[") else 0
    while True:
        match = _SPACE.match(text, position)
        position = match.end() if match else position
        if position >= len(text) or text[position] == "]":
            return found
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return found
        found.append(value)


def decode_at(text: str, position: int) -> Any:
    """Decode the JSON value that begins at `position`; None when none does."""
    try:
        return _DECODER.raw_decode(text, position)[0]
    except (ValueError, RecursionError):
        return None


def as_text(data: bytes | str) -> str:
    """Return UTF-8 as text; what is none is replaced."""
    return data if isinstance(data, str) else data.decode(errors="replace")


def encodable(text: str) -> str:
    """Return text without halves of surrogate pairs, which JSON can write and UTF-8 cannot."""
    if text.isascii():
        return text
    return _SURROGATE.sub("\ufffd", text)
