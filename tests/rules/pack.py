"""The committed rule files, taken apart for checks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

RULES = Path(__file__).resolve().parents[2] / "rules"

_SELECTOR = re.compile(r"(seekwatch_[a-z_]+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')
_RECORDED = re.compile(r"seekwatch:[a-z0-9_:]+")


@dataclass(frozen=True)
class Selector:
    """A metric of ours in an expression, with its matchers."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]

    def values(self) -> Iterator[tuple[str, str]]:
        """Label and value of each alternative that a matcher names."""
        for label, operator, text in self.matchers:
            values = text.split("|") if "~" in operator else [text]
            yield from ((label, value) for value in values)


def packs() -> dict[str, list[Path]]:
    """The files that are loaded together: the default ones, and those of each profile."""
    plain = [*(RULES / "recording").glob("*.yaml"), *(RULES / "alerts").glob("*.yaml")]
    profiles = {
        folder.name: sorted(folder.glob("*.yaml")) for folder in (RULES / "generated").iterdir()
    }
    return {"default": sorted(plain), **profiles}


def rules(paths: list[Path]) -> list[dict[str, Any]]:
    """All rules of some files."""
    return [rule for path in paths for group in _loaded(path)["groups"] for rule in group["rules"]]


def alerts(paths: list[Path]) -> list[dict[str, Any]]:
    """The alerting rules of some files."""
    return [rule for rule in rules(paths) if "alert" in rule]


@cache
def groups_behind(alert: str, folder: Path) -> list[dict[str, Any]]:
    """The alert and all that it reads from, in the order of evaluation.

    The rules are word for word those of the files below `folder`. The rest of the pack is left out:
    it could not change what becomes of this alert, and takes most of the time.
    """
    paths = [*sorted((folder / "recording").glob("*.yaml")), *(folder / "alerts").glob("*.yaml")]
    groups = [group for path in paths for group in _loaded(path)["groups"]]
    by_name = {_name(rule): rule for group in groups for rule in group["rules"]}
    wanted: set[str] = set()
    unread = {alert}
    while unread:
        wanted |= unread
        unread = {name for one in unread for name in recorded_names(str(by_name[one]))} - wanted
    parts = [
        {**group, "rules": [rule for rule in group["rules"] if _name(rule) in wanted]}
        for group in groups
    ]
    return [group for group in parts if group["rules"]]


def _name(rule: dict[str, Any]) -> str:
    return str(rule.get("record") or rule["alert"])


@cache
def _loaded(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return document


def selectors(text: str) -> list[Selector]:
    """The metrics of ours that `text` reads."""
    return [
        Selector(metric, tuple(_MATCHER.findall(matchers)))
        for metric, matchers in _SELECTOR.findall(text)
    ]


def recorded_names(text: str) -> set[str]:
    """The recorded series that `text` reads."""
    return set(_RECORDED.findall(text))
