"""Settings that go together: an error about a pair has to name one, which its section cannot."""

from typing import Final

from pydantic_core import PydanticCustomError

ALONE: Final = "alone"
"""Type of the finding; its context has the `setting` of the section, and its `value`."""


def alone(setting: str, value: object, other: str) -> PydanticCustomError:
    """Return the error that a setting of a section is given without the one it needs."""
    return PydanticCustomError(
        ALONE,
        "set {other} too, or leave this one out: they go together",
        {"setting": setting, "value": str(value), "other": other},
    )
