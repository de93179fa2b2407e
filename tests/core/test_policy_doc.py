"""`docs/policy.md` lists the policy's keys with their defaults."""

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from seekwatch.core.policy import Policy, parse_policy

PAGE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
ROWS: dict[str, str] = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))


def leaves(section: BaseModel, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        key = prefix + (field.alias or name)
        if isinstance(value, BaseModel):
            found.update(leaves(value, f"{key}."))
        else:
            found[key] = value
    return found


def test_the_page_lists_every_key_and_no_other() -> None:
    assert list(ROWS) == list(leaves(Policy()))


def test_the_page_shows_each_default_that_is_one_value() -> None:
    for key, value in leaves(Policy()).items():
        if isinstance(value, bool):
            assert ROWS[key] == f"`{str(value).lower()}`", key
        elif isinstance(value, str | int | float):
            assert ROWS[key] == f"`{value}`", key
        elif not value:
            assert ROWS[key] == "empty", key


def test_the_floors_and_lanes_on_the_page_are_the_defaults() -> None:
    policy = Policy()
    floors = ", ".join(
        f"{regime} {seconds:.0f}" for regime, seconds in policy.freshness.floors.items()
    )
    assert ROWS["freshness.floors"] == floors
    assert ROWS["lanes.production"] == ", ".join(
        f"`{each}`" for each in sorted(policy.lanes.production)
    )


def test_the_example_is_a_policy() -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    policy = parse_policy(yaml.safe_load(example))
    assert policy.diversity.domain_cap == 3
    assert len(policy.freshness.floors) == 1
    assert policy.revision != Policy().revision
