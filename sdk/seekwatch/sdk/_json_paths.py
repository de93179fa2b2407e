"""Dotted paths into decoded JSON, the small language of the declarative search entries."""

from collections.abc import Iterable


def lookup(value: object, path: str) -> object:
    """Return what is at `path` (`a.b.0.c`), or None when any step is not there."""
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):  # pyright: ignore[reportUnknownArgumentType]
            value = value[int(step)]  # pyright: ignore[reportUnknownVariableType]
        else:
            return None
    return value  # pyright: ignore[reportUnknownVariableType]


def first_text(value: object, paths: Iterable[str]) -> str | None:
    """Return the first non-empty string or number found under `paths`, as text."""
    for path in paths:
        found = lookup(value, path)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, int | float) and not isinstance(found, bool):
            return str(found)
    return None


def first_number(value: object, paths: Iterable[str]) -> float | None:
    """Return the first number found under `paths`."""
    for path in paths:
        found = lookup(value, path)
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
    return None
