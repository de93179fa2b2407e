"""A run in a terminal: what went wrong is said, and nothing is lost in a narrow one."""

import pytest
from rich.console import Console

from seekwatch.core.scorecard import Axis, Outcome, Scorecard
from seekwatch.core.verdicts import Verdict
from seekwatch.monitor.terminal.scorecard_view import header, line
from tests.services.scorecards import scorecard

GOOD = scorecard(1)
BAD_AXIS = {Axis.CITATION_VALIDITY: Verdict.BAD}


def shown(card: Scorecard, width: int, *, revision: int = 1) -> list[str]:
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        console.print(line(card, width, revision=revision))
    return capture.get().splitlines()


def test_a_good_run_is_one_line() -> None:
    assert len(shown(GOOD, 80)) == 1
    assert len(shown(scorecard(1, outcome=Outcome.CORRECT_REFUSAL), 80)) == 1


def test_a_run_that_failed_without_a_bad_axis_says_why_and_names_its_trace() -> None:
    card = scorecard(1, outcome=Outcome.TIMEOUT, outcome_evidence="its deadline stopped it")
    _, why, trace = shown(card, 80)
    assert why.strip() == "timeout: its deadline stopped it"
    assert trace.strip() == f"trace {card.trace}"


def test_an_ending_that_no_axis_explains_stands_above_the_bad_axes() -> None:
    card = scorecard(1, outcome=Outcome.ERROR, outcome_evidence="it crashed", verdicts=BAD_AXIS)
    _, why, axis, trace = shown(card, 80)
    assert why.strip() == "error: it crashed"
    assert axis.strip().startswith("✗ citations:")
    assert card.trace in trace


def test_a_run_that_is_partial_because_of_an_axis_says_it_once() -> None:
    card = scorecard(1, outcome=Outcome.PARTIAL, verdicts=BAD_AXIS)
    assert len(shown(card, 80)) == 3


@pytest.mark.parametrize("width", [80, 100, 120])
def test_lane_and_revision_are_readable_at_any_width(width: int) -> None:
    text = shown(scorecard(1, lane="nonproduction"), width, revision=2)
    assert any("nonproduction, revision 2" in part for part in text)
    assert all(len(part) <= width for part in text)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_terminal_of_a_hundred_columns_shows_every_outcome_whole(outcome: Outcome) -> None:
    assert f" {outcome} " in shown(scorecard(1, outcome=outcome), 100)[0]


@pytest.mark.parametrize(("width", "name"), [(80, "fastapi-agent"), (140, "a" * 32)])
def test_a_name_has_the_room_that_there_is(width: int, name: str) -> None:
    assert f" {name} " in shown(scorecard(1, agent=name), width)[0]


@pytest.mark.parametrize("width", [80, 90, 92, 100, 120, 140])
def test_titles_stand_above_their_columns(width: int) -> None:
    titles, values = header(width).plain, shown(GOOD, width)[0]
    assert len(titles) <= width
    assert titles.index("outcome") == values.index("success")
    assert titles.index("query") == values.index("✓")
    assert len(titles.rstrip()) == len(values.rstrip())
