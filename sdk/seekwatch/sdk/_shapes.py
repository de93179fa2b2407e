"""Looks into values of unknown shape: decoded JSON, what a user's function returned.

One place narrows `object` to a mapping or a list, so that no other needs to.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Tell a mapping; the keys of decoded JSON and of attributes are strings."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Tell a list or tuple; a string is none."""
    return isinstance(value, list | tuple)


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as such; anything else is an empty one."""
    return value if is_mapping(value) else {}


def as_list(value: object) -> Sequence[Any]:
    """Return a list or tuple as such; anything else is an empty one."""
    return value if is_list(value) else ()


def lookup(value: object, path: str) -> Any:
    """Return what is at the dotted `path` (`a.b.0.c`), or None when any step is not there."""
    for step in path.split("."):
        if is_mapping(value):
            value = value.get(step)
        elif is_list(value) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def first_text(value: object, paths: Iterable[str]) -> str | None:
    """Return the first non-empty string or number found under `paths`, as text."""
    for path in paths:
        found = lookup(value, path)
        if isinstance(found, str) and found.strip():
            return found
        if is_number(found):
            return str(found)
    return None


def first_number(value: object, paths: Iterable[str]) -> float | None:
    """Return the first number found under `paths`."""
    for path in paths:
        found = lookup(value, path)
        if is_number(found):
            return as_float(found)
    return None


def as_float(number: float) -> float:
    """Return a number as a float; an integer that is too large for one is infinite."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def is_number(value: object) -> bool:
    """Tell a number from everything else; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def get_field(holder: object, name: str) -> Any:
    """Return a key of a mapping or an attribute of an object, or None."""
    if is_mapping(holder):
        return holder.get(name)
    return None if holder is None else getattr(holder, name, None)
