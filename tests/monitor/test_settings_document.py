"""The page of settings is the model's."""

from pathlib import Path

from seekwatch.monitor.settings.document import document
from seekwatch.monitor.settings.reading import setting_keys, variable


def test_the_committed_page_is_what_the_settings_say(repository: Path) -> None:
    """Write it anew with `python -m seekwatch.monitor.settings.document`."""
    assert (repository / "docs" / "configuration.md").read_text() == document()


def test_every_setting_is_on_the_page() -> None:
    page = document()
    for key in setting_keys():
        assert f"| `{key}` |" in page
        assert f"`{variable(key)}`" in page


def test_every_number_says_what_zero_means_or_refuses_it() -> None:
    """A reader must not have to try it."""
    silent = [
        line
        for line in document().splitlines()
        if ("| integer |" in line or "| number |" in line) and "0:" not in line
    ]
    for line in silent:
        key = line.split("`")[1]
        assert _refuses_zero(key), key


def _refuses_zero(key: str) -> bool:
    from seekwatch.core.errors import ConfigurationError
    from seekwatch.monitor.settings.reading import load_settings, parse_assignments

    try:
        load_settings(flags=parse_assignments([f"{key}=0"]))
    except ConfigurationError:
        return True
    return False
