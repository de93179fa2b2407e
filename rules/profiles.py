"""Runs the same objectives on another clock.

The demo has to show within a minute what production watches over days; one set of templates under
two clocks proves the templates, where a second set would prove only itself.
"""

import math
from itertools import pairwise
from typing import cast

from pydantic import BaseModel

from rules.objectives import Objectives, Profile
from rules.quantities import Duration, SampleCount
from seekwatch.core.errors import ConfigurationError


def apply_profile(objectives: Objectives, name: str) -> Objectives:
    """Return `objectives` with the durations, minimums and runbook links of profile `name`.

    Raises:
        ConfigurationError: when the profile does not exist, leaves out a duration, or changes the
            order of two.
    """
    profile = objectives.profiles.get(name)
    if profile is None:
        known = ", ".join(objectives.profiles) or "none"
        raise ConfigurationError("--profile", name, f"known profiles: {known}")
    _check_order(name, profile)
    links = objectives.links.model_copy(update={"runbook_base_url": profile.runbook_base_url})
    clock = _Clock(name, profile)
    sections = {
        field: clock.convert(getattr(objectives, field), field)
        for field in Objectives.model_fields
        if field != "profiles"
    }
    clock.check_exceptions()
    return objectives.model_copy(update={**sections, "links": links, "profiles": {}})


class _Clock:
    def __init__(self, name: str, profile: Profile) -> None:
        self._name = name
        self._profile = profile
        self._used: set[str] = set()

    def convert(self, value: object, key: str) -> object:
        """Replace what is in `value`, which stands at `key` of the objectives."""
        match value:
            case Duration():
                return self._duration(value, key)
            case SampleCount():
                return SampleCount(math.ceil(value * self._profile.sample_factor))
            case BaseModel():
                update = {
                    field: self.convert(getattr(value, field), f"{key}.{info.alias or field}")
                    for field, info in type(value).model_fields.items()
                }
                return value.model_copy(update=update)
            case dict():
                items = cast("dict[object, object]", value).items()
                return {name: self.convert(item, f"{key}.{name}") for name, item in items}
            case _:
                return value

    def check_exceptions(self) -> None:
        """Refuse an exception for a key that holds no duration."""
        for key, value in self._profile.exceptions.items():
            if key not in self._used:
                raise ConfigurationError(
                    f"profiles.{self._name}.exceptions.{key}", value, "there is no such duration"
                )

    def _duration(self, value: Duration, key: str) -> Duration:
        if key in self._profile.exceptions:
            self._used.add(key)
            return self._profile.exceptions[key]
        try:
            return self._profile.durations[value]
        except KeyError:
            where = f"profiles.{self._name}.durations"
            raise ConfigurationError(where, value, f"add what {value} becomes") from None


def _check_order(name: str, profile: Profile) -> None:
    ordered = sorted(profile.durations.items(), key=lambda pair: pair[0].seconds)
    for (left, shorter), (right, longer) in pairwise(ordered):
        if shorter.seconds > longer.seconds:
            raise ConfigurationError(
                f"profiles.{name}.durations.{right}", longer, f"at least {shorter}, as for {left}"
            )
