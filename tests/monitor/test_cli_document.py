"""The page of the command line names what there is, and nothing that is not."""

import re
from pathlib import Path

import pytest
import typer.main

from seekwatch.monitor.cli import app


def _options() -> dict[str, set[str]]:
    """Return the long and short options of each verb."""
    group = typer.main.get_command(app)
    commands = getattr(group, "commands", {})
    return {
        verb: {
            name
            for parameter in command.params
            for name in (*parameter.opts, *parameter.secondary_opts)
            if name.startswith("-") and name not in ("--help", "-h")
        }
        for verb, command in commands.items()
    }


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "cli.md").read_text()


def test_every_verb_has_a_section(page: str) -> None:
    sections = set(re.findall(r"^## (\w+)$", page, re.MULTILINE))
    assert sections == set(_options())


def test_every_option_is_on_the_page_and_every_option_of_the_page_exists(page: str) -> None:
    written = set(re.findall(r"`(--?[a-z][a-z-]*)", page))
    assert written == set[str]().union(*_options().values())
