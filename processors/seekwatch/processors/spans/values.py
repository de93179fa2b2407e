"""Values out of spans that anyone may have written: opened, converted and bounded, never trusted.

JSON stands inside JSON strings, numbers stand in text, Python's `repr` stands where JSON should be.
Each helper returns None for what it cannot read; none raises.
"""

import ast
import json
import math
import warnings
from typing import Any, Final, cast

import msgspec

MAX_JSON: Final = 4_000_000
"""Characters of JSON that are decoded; a captured page inside a tool result fits."""
MAX_LITERAL: Final = 65_536
"""Characters of a Python literal that are parsed: the parser is slow and recursive."""
MAX_DEPTH: Final = 12
"""Levels of nesting, opened strings included, that are followed."""

_MAX_EXACT_INTEGER: Final = 2**63 - 1


def open_json(text: str) -> Any:
    """Decode text that looks like a JSON object, array or string; None when it is none."""
    if len(text) > MAX_JSON or text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return _open_loose_json(text)


def _open_loose_json(text: str) -> Any:
    """Decode what Python's own encoder writes beyond JSON: NaN, lone surrogates."""
    try:
        return json.loads(text, parse_constant=lambda _: None, strict=False)
    except (ValueError, RecursionError):
        return None


def open_literal(text: str) -> Any:
    """Evaluate a Python literal (the `repr` of plain data); None when it is none."""
    if len(text) > MAX_LITERAL or text.lstrip()[:1] not in ("{", "[", "("):
        return None
    try:
        with warnings.catch_warnings():
            # Invalid escapes in someone else's text are no concern of the monitor's operator.
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def opened(value: Any) -> Any:
    """Return structured data out of a string that holds some; any other value as it is."""
    for _ in range(3):
        if not isinstance(value, str):
            break
        found = open_json(value)
        if found is None:
            found = open_literal(value)
        if found is None:
            break
        value = found
    return value


def as_mapping(value: Any) -> dict[str, Any]:
    """Return a mapping with text keys, empty for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a list, empty for anything else."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else []


def as_text(value: Any) -> str | None:
    """Return non-empty text, None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def as_number(value: Any) -> float | None:
    """Return a finite number; text that reads as one counts, truth values do not."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_count(value: Any) -> int | None:
    """Return a whole number from 0 to 2**63-1."""
    number = as_number(value)
    if number is None or number < 0 or number > _MAX_EXACT_INTEGER or number != int(number):
        return None
    return min(int(number), _MAX_EXACT_INTEGER)


def first_text(mapping: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    """Return the first non-empty text under `keys`."""
    for key in keys:
        text = as_text(mapping.get(key))
        if text is not None:
            return text
    return None
