"""What README and docs name exists: commands, flags, metrics, settings, alerts, files, code."""

import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.core import TyperGroup

from seekwatch.core import attributes, topics
from seekwatch.exporters.metrics import METRIC_NAMES, SAMPLE_NAMES
from seekwatch.monitor.cli import app
from seekwatch.monitor.settings.reading import OF_AGENTS, setting_keys, variable
from seekwatch.sdk._export import health
from tests.services.documents import ROOT, Page, pages

PAGES = pages()
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

# Variables that are not settings of the monitor.
OTHER_VARIABLES = {
    "SEEKWATCH_CONFIG",  # read before the settings
    "SEEKWATCH_TEST_CACHE",  # of the tests
}
# What the layout is explained by.
PLACEHOLDERS = {"seekwatch.X", "seekwatch/__init__.py"}
PATH_ENDINGS = {".py", ".md", ".yaml", ".yml", ".toml", ".txt", ".svg", ".proto", ".xml"}


def programs(page: Page, *names: str) -> list[list[str]]:
    """Commands of a page that call one of `names`, by whatever path."""
    return [words for words in page.commands() if words and Path(words[0]).name in names]


@cache
def flags_by_verb() -> dict[str, set[str]]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return {verb: {"--help", "-h", *_flags(command)} for verb, command in group.commands.items()}


def _flags(command: Any) -> Iterator[str]:
    """The options of a verb, and of the verbs that it has."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    for inner in getattr(command, "commands", {}).values():
        yield from _flags(inner)


@cache
def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def alerts() -> set[str]:
    files = (ROOT / "rules" / "alerts").glob("*.yaml")
    groups = [group for file in files for group in yaml.safe_load(file.read_text())["groups"]]
    return {rule["alert"] for group in groups for rule in group["rules"] if "alert" in rule}


def test_the_pages_are_found() -> None:
    names = {page.name for page in PAGES}
    assert {"README.md", "CONTRIBUTING.md", "docs/architecture.md", "demo/README.md"} <= names


@every_page
def test_links_lead_to_files_and_headings_that_exist(page: Page) -> None:
    for link in page.links():
        file, _, anchor = link.partition("#")
        target = (page.path.parent / file).resolve() if file else page.path
        assert target.exists(), f"{page.name} links to {link}"
        if anchor and target.suffix == ".md":
            assert anchor in Page(target).anchors(), f"{page.name} links to {link}"


@every_page
def test_seekwatch_is_called_by_its_verbs_and_flags(page: Page) -> None:
    flags = flags_by_verb()
    for words in programs(page, "seekwatch"):
        # Upper-case words stand for what the reader puts there.
        arguments = [word for word in words[1:] if word not in {"…", "...", "VERB"}]
        if not arguments or arguments[0].startswith("-"):
            assert set(arguments) <= {"--help", "-h", "--version"}, words
            continue
        verb = arguments[0]
        assert verb in flags, f"{page.name}: seekwatch has no verb {verb}"
        known = flags[verb]
        used = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        assert used <= known, f"{page.name}: seekwatch {verb} has no {sorted(used - known)}"


@every_page
def test_make_is_called_by_its_targets(page: Page) -> None:
    for words in programs(page, "make"):
        asked = [word for word in words[1:] if re.fullmatch(r"[a-z-]+", word)]
        assert set(asked) <= targets(), f"{page.name}: make has no {set(asked) - targets()}"


@every_page
def test_python_modules_that_are_run_exist(page: Page) -> None:
    for words in programs(page, "python", "python3"):
        if "-m" in words:
            module = words[words.index("-m") + 1]
            assert importlib.util.find_spec(module), f"{page.name}: no module {module}"


@every_page
def test_metrics_are_ours(page: Page) -> None:
    for name in re.findall(r"\bseekwatch_[a-z_]*[a-z]\b(?!\.|/|\*|…)", page.text):
        assert name in METRIC_NAMES | SAMPLE_NAMES, f"{page.name} names the metric {name}"


@every_page
def test_variables_are_settings(page: Page) -> None:
    known = {variable(key) for key in setting_keys()} | OF_AGENTS | OTHER_VARIABLES
    for name in re.findall(r"\bSEEKWATCH_[A-Z_]*[A-Z]\b(?!…|\*)", page.text):
        assert name in known, f"{page.name} names the variable {name}"


@every_page
def test_settings_that_are_set_exist(page: Page) -> None:
    for words in programs(page, "seekwatch"):
        for flag, value in pairwise(words):
            if flag == "--set" and "=" in value:
                key = value.partition("=")[0]
                assert key in setting_keys(), f"{page.name} sets {key}"


@cache
def dotted_names() -> set[str]:
    """Attributes, topics, spans' events and the SDK's metrics that are called `seekwatch.…`."""
    values = [*vars(attributes).values(), *vars(topics).values(), *vars(health).values()]
    values += [default for key in setting_keys() if (default := _default_of(key))]
    return {value for value in values if isinstance(value, str)}


def _default_of(key: str) -> str | None:
    from seekwatch.monitor.settings.model import Settings

    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value if isinstance(value, str) else None


@every_page
def test_dotted_names_are_attributes_topics_or_code(page: Page) -> None:
    known = dotted_names()
    for span in page.spans():
        if not re.fullmatch(r"seekwatch(\.\w+)+(\.[a-z-]+)*", span):
            continue
        if span in known | PLACEHOLDERS or any(name.startswith(f"{span}.") for name in known):
            continue
        assert _code(span) or span.endswith((".yaml", ".db")), f"{page.name} names {span}"


def _code(name: str) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    module, _, attribute = name.rpartition(".")
    try:
        if importlib.util.find_spec(name):
            return True
        return hasattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return False


@every_page
def test_alerts_have_a_rule(page: Page) -> None:
    classes = _class_names()
    for span in page.spans():
        if re.fullmatch(r"(?:[A-Z][a-z]+){2,}(?:Fast|Slow|Ticket|High|Stalled|Down|Stopped)", span):
            assert span in alerts() | classes, f"{page.name} names the alert {span}"


@cache
def _class_names() -> set[str]:
    found: set[str] = set()
    for path in ROOT.glob("*/seekwatch/**/*.py"):
        found |= set(re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE))
    return found


@every_page
def test_files_that_are_named_exist(page: Page) -> None:
    for span in page.spans():
        looks = re.fullmatch(r"[\w.*-]+(?:/[\w.*-]+)*/?", span) and "/" in span.rstrip("/")
        if not looks or Path(span).suffix not in PATH_ENDINGS or span in PLACEHOLDERS:
            continue
        # A module is named by its root (`processors/score.py`), in its root's README by itself.
        roots = (ROOT / span.partition("/")[0] / "seekwatch", page.path.parent / "seekwatch")
        own = ROOT / page.path.parent.name / "seekwatch" / page.path.parent.name
        places = (ROOT, page.path.parent, own, *roots)
        assert any(list(place.glob(span)) for place in places), f"{page.name} names {span}"


def python_blocks() -> list[tuple[str, str]]:
    return [(page.name, block) for page in PAGES for block in page.blocks("python")]


@pytest.mark.parametrize(("name", "block"), python_blocks(), ids=lambda value: value[:40])
def test_code_compiles_and_its_imports_exist(name: str, block: str) -> None:
    compile(block, name, "exec")
    for module, names in re.findall(r"^from (seekwatch\.\S+) import ([\w, ]+)$", block, re.M):
        for each in names.split(", "):
            assert hasattr(importlib.import_module(module), each), f"{name}: {module} has no {each}"


def test_the_readme_s_test_passes() -> None:
    [block] = [b for b in Page(ROOT / "README.md").blocks("python") if "def test_" in b]
    names: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_the_readme_opens_with_the_two_commands() -> None:
    first = Page(ROOT / "README.md").blocks("sh")[0].splitlines()
    assert [line.split("#")[0].strip() for line in first] == ["make demo", "make test"]


def test_every_alert_has_a_runbook_and_every_page_of_docs_is_linked() -> None:
    runbooks = {path.stem for path in (ROOT / "rules" / "runbooks").glob("*.md")}
    assert alerts() <= runbooks
    linked = {
        (page.path.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in page.links()
    }
    unlinked = {path.name for path in (ROOT / "docs").glob("*.md")} - {p.name for p in linked}
    assert not unlinked, f"no page links to {sorted(unlinked)}"
