"""The page of the command line names what there is, and nothing that is not."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from seekwatch.monitor.cli import app


def _options() -> dict[str, set[str]]:
    """Return the long and short options of each verb, those of its own verbs included."""
    return {
        verb: set(_names(command))
        for verb, command in getattr(typer.main.get_command(app), "commands", {}).items()
    }


def _names(command: Any) -> Iterator[str]:
    for parameter in command.params:
        for name in (*parameter.opts, *parameter.secondary_opts):
            if name.startswith("-") and name not in ("--help", "-h"):
                yield name
    for inner in getattr(command, "commands", {}).values():
        yield from _names(inner)


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "cli.md").read_text()


def test_every_verb_has_a_section(page: str) -> None:
    sections = set(re.findall(r"^## (\w+)$", page, re.MULTILINE))
    assert sections == set(_options())


def test_every_option_is_on_the_page_and_every_option_of_the_page_exists(page: str) -> None:
    written = set(re.findall(r"`(--?[a-z][a-z-]*)", page))
    assert written == set[str]().union(*_options().values())
