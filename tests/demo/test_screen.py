from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from demo.ending import alert_panel, worst_table
from demo.measures import AXES, AxisShare, Window
from demo.screen import Screen, bar, figures, plain_line, run_figures
from tests.services.rendering import rendered

EMPTY = Window(
    axes=dict.fromkeys(AXES, AxisShare(0, 0, 0)),
    tags={},
    runs=0,
    successes=0,
    cost_per_success=None,
)
BUSY = Window(
    axes=dict.fromkeys(AXES, AxisShare(3, 1, 2)),
    tags={},
    runs=6,
    successes=3,
    cost_per_success=0.0002,
)


def terminal(width: int) -> Console:
    return Console(file=StringIO(), force_terminal=True, width=width, height=30, highlight=False)


def pipe() -> Console:
    return Console(file=StringIO(), force_terminal=False, highlight=False)


def text_of(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_pipe_gets_one_line_in_five_seconds() -> None:
    console = pipe()
    with Screen(console) as screen:
        for second in range(11):
            screen.show(float(second), BUSY, [])
    lines = text_of(console).splitlines()
    assert [line.split()[0] for line in lines] == ["0", "5", "10"]
    assert "citation_validity 25% bad of 4" in lines[0]
    assert "success 50% of 6 runs; cost per success $0.000200" in lines[0]


def test_a_long_event_is_one_line_in_a_pipe_and_is_indented_on_a_terminal() -> None:
    words = "word " * 40
    console = pipe()
    Screen(console).event(7, words)
    assert len(text_of(console).splitlines()) == 1
    console = terminal(60)
    Screen(console).event(7, words)
    first, *others = rendered_lines(console)
    assert first.startswith("   7 s  word")
    assert others
    assert all(line.startswith("        word") for line in others)


def rendered_lines(console: Console) -> list[str]:
    from rich.text import Text

    return [Text.from_ansi(line).plain for line in text_of(console).splitlines()]


def test_brackets_in_what_is_told_are_not_taken_for_markup() -> None:
    for console in (pipe(), terminal(80)):
        Screen(console).event(1, "The agent could not answer: [red] [/nothing]")
        assert "[red] [/nothing]" in text_of(console)


def test_before_the_first_run_the_screen_says_why_nothing_shows() -> None:
    assert plain_line(3, EMPTY, "wait for it") == "   3 s  wait for it"
    console = terminal(80)
    with Screen(console, hint="wait for it") as screen:
        screen.show(3.0, EMPTY, [])
    assert "wait for it" in text_of(console)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_row_of_figures_wraps(width: int) -> None:
    console = terminal(width)
    with Screen(console) as screen:
        screen.show(3.0, BUSY, ["CitationValidityBurnFast"])
    rows = [line for line in rendered_lines(console) if "25% bad of 4, 2 unscorable" in line]
    assert len(rows) >= len(AXES)


def test_the_last_state_stays_on_a_terminal() -> None:
    console = terminal(80)
    with Screen(console) as screen:
        screen.show(3.0, BUSY, [])
        screen.show(4.0, BUSY, [])
    assert "Seekwatch demo, 4 s" in text_of(console).rpartition("Seekwatch demo, 3 s")[2]


def test_a_bar_has_its_length_whatever_the_shares() -> None:
    for share in (AxisShare(0, 0, 0), AxisShare(1, 1, 1), AxisShare(99, 1, 0), AxisShare(0, 7, 0)):
        assert len(bar(share, 20)) == 20


def test_figures_tell_unscorable_apart_from_bad() -> None:
    assert figures(AxisShare(0, 0, 4)).plain == "nothing scored, 4 unscorable"
    assert figures(AxisShare(1, 1, 4)).plain == " 50% bad of 2, 4 unscorable"


def test_cost_per_success_without_a_success_is_no_number() -> None:
    none = Window(axes={}, tags={}, runs=4, successes=0, cost_per_success=None)
    assert run_figures(none) == "success 0% of 4 runs; cost per success: there was no success"
    unpriced = Window(axes={}, tags={}, runs=4, successes=2, cost_per_success=None)
    assert "unknown" in run_figures(unpriced)


def test_the_ending_shows_evidence_as_it_is() -> None:
    shown = rendered(worst_table([{"trace": "ab" * 16, "score": 0.0, "evidence": "[bold] 404"}]))
    assert "[bold] 404" in shown
    assert "ab" * 16 in shown
    alert = {
        "labels": {"alertname": "Broken", "severity": "page", "agent": "a"},
        "annotations": {"summary": "all [bad]", "runbook_url": "rules/runbooks/Broken.md"},
    }
    shown = rendered(alert_panel(alert))
    assert "all [bad]" in shown
    assert "rules/runbooks/Broken.md" in shown


def test_the_picture_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    screen = Screen(terminal(80))
    screen.event(1, "Links die.")
    screen.save_svg(tmp_path / "demo.svg")
    picture = (tmp_path / "demo.svg").read_text()
    assert "Links" in picture
    assert "url(" not in picture.replace("url(#", "")
