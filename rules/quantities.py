"""Durations and sample counts as types of their own.

A profile replaces every duration and every sample minimum of the objectives; the type tells which
values those are, so that a number that means something else is never scaled by accident.
"""

import re
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_FORM = re.compile(r"(\d+)([smhd])")


class Duration(str):
    """A time span in Prometheus' notation with one unit, such as `30s`, `5m`, `1h`, `3d`."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Accept `text`, or raise ValueError with what to write instead."""
        if not _FORM.fullmatch(text):
            raise ValueError("write a whole number and one unit of s, m, h, d, such as 5m")
        return super().__new__(cls, text)

    @property
    def seconds(self) -> int:
        """The same span in seconds."""
        return int(self[:-1]) * _UNITS[self[-1]]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls, core_schema.str_schema(strict=True)
        )


class SampleCount(int):
    """How many samples a comparison needs before it may speak; at least one."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls, core_schema.int_schema(strict=True, ge=1)
        )
