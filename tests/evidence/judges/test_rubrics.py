"""Rubrics as files: what comes with Seekwatch, and what is said of a wrong one."""

from pathlib import Path

import pytest

from seekwatch.core.errors import ConfigurationError
from seekwatch.evidence.judges.rubrics import About, built_in_names, load_rubrics
from seekwatch.exporters.metric_names import RUBRICS

GOOD = """
name: my-own
revision: 1
about: answer
scale: [1, 3]
instructions: Judge whether the answer is polite to whoever asked the question.
"""


def test_the_rubrics_that_come_with_seekwatch_are_those_of_the_metric_label() -> None:
    assert tuple(built_in_names()) == RUBRICS
    assert {rubric.about for rubric in load_rubrics(RUBRICS)} == set(About)


def test_every_change_of_a_rubric_changes_its_digest(tmp_path: Path) -> None:
    path, other = tmp_path / "a.yaml", tmp_path / "b.yaml"
    path.write_text(GOOD)
    other.write_text(GOOD.replace("polite", "polite, and friendly,"))
    first, second = load_rubrics([str(path), str(other)])
    assert first.digest != second.digest
    assert load_rubrics([str(path)])[0].digest == first.digest


WRONG = {
    "neither scale nor labels": (GOOD.replace("scale: [1, 3]", ""), "either scale or labels"),
    "both": (GOOD + "labels: [a]\ngood: [a]\n", "either scale or labels"),
    "an empty scale": (GOOD.replace("[1, 3]", "[3, 3]"), "below the second"),
    "an unknown good label": (
        GOOD.replace("scale: [1, 3]", "labels: [a]\ngood: [b]"),
        "not among the labels: b",
    ),
    "an unknown key": (GOOD + "colour: red\n", "colour"),
    "no YAML": ("name: [", "is no YAML"),
    "a list": ("- a\n", "rubric"),
}


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_a_wrong_rubric_is_named_with_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=says) as raised:
        load_rubrics([str(path)])
    assert (raised.value.key, raised.value.value) == ("judges.rubrics", str(path))


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="claim-support"):
        load_rubrics(["claims"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing\.yaml"):
        load_rubrics([str(tmp_path / "missing.yaml")])
