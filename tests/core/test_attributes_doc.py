import re
from pathlib import Path

from seekwatch.core import attributes

DOCUMENT = Path(__file__).parents[2] / "docs" / "attributes.md"
VALUES = {"zlib+base64"}
"""Constants of the module that are values of an attribute, not names of one."""


def documented() -> list[str]:
    return re.findall(r"^\| `([^`]+)` \|", DOCUMENT.read_text(), re.MULTILINE)


def named() -> set[str]:
    return {
        value
        for name, value in vars(attributes).items()
        if name.isupper() and isinstance(value, str) and "." in value and value not in VALUES
    }


def test_the_page_lists_every_name_of_the_module_once_and_no_other() -> None:
    listed = documented()
    assert sorted(listed) == sorted(set(listed))
    assert set(listed) == named()


def test_the_page_names_every_header_that_we_write() -> None:
    text = DOCUMENT.read_text()
    for header in (*attributes.REQUEST_HEADERS, *attributes.RESPONSE_HEADERS):
        assert f"`{header}`" in text


def test_no_two_constants_share_a_name() -> None:
    values = [
        value for name, value in vars(attributes).items() if name.isupper() and type(value) is str
    ]
    assert len(values) == len(set(values))
