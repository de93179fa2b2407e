"""How a setting is declared: with its default, what it does, and its unit."""

from types import NoneType
from typing import Any, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


def setting(default: Any, description: str, *, unit: str, **bounds: Any) -> Any:
    """Declare a setting: its default, what it does, and its unit (`-` for none)."""
    return Field(
        default=default, description=description, json_schema_extra={"unit": unit}, **bounds
    )


def unit_of(field: FieldInfo) -> str:
    """Return the unit that a setting was declared with."""
    extra = cast("dict[str, Any]", field.json_schema_extra or {})
    return str(extra.get("unit", "-"))


class Section(BaseModel):
    """Settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _empty_is_none(cls, values: Any) -> Any:
        """Read an empty variable or flag as "none" where none is a value."""
        return without_empty(cls, values)


def without_empty(model: type[BaseModel], values: Any) -> Any:
    """Return the values of a section with None for what is empty and may be None."""
    if not isinstance(values, dict):
        return values
    given = cast("dict[str, Any]", values)
    return {
        key: None if value == "" and _may_be_none(model, key) else value
        for key, value in given.items()
    }


def _may_be_none(model: type[BaseModel], key: str) -> bool:
    field = model.model_fields.get(key)
    return field is not None and NoneType in get_args(field.annotation)
