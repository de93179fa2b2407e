"""Which runs a tail shows, in which order, and what it says where there are none."""

from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

from seekwatch.core.records import Output, StoredOutput
from seekwatch.core.scorecard import Axis, Outcome, ScoreEntry
from seekwatch.core.topics import pack_scores
from seekwatch.core.verdicts import Verdict
from seekwatch.monitor.terminal.tail import Filter, Tail
from tests.services.scorecards import START, score_entry, scorecard, stored, trace_id_of


def test_without_a_filter_every_run_is_shown() -> None:
    assert all(Filter()(scorecard(1, outcome=outcome)) for outcome in Outcome)


def test_only_runs_of_an_agent() -> None:
    only = Filter(agent="finder")
    assert only(scorecard(1))
    assert not only(scorecard(2, agent="other"))


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_runs_that_are_bad_on_an_axis(verdict: Verdict) -> None:
    only = Filter(axis=Axis.SOURCE_FRESHNESS)
    card = scorecard(1, verdicts={Axis.SOURCE_FRESHNESS: verdict})
    assert only(card) == (verdict is Verdict.BAD)


def test_only_runs_that_ended_in_one_of_some_outcomes() -> None:
    only = Filter(outcomes=frozenset({Outcome.ERROR, Outcome.TIMEOUT}))
    shown = {outcome for outcome in Outcome if only(scorecard(1, outcome=outcome))}
    assert shown == {Outcome.ERROR, Outcome.TIMEOUT}


def test_filters_hold_together() -> None:
    only = Filter(agent="finder", axis=Axis.QUERY_QUALITY, outcomes=frozenset({Outcome.PARTIAL}))
    bad = {Axis.QUERY_QUALITY: Verdict.BAD}
    assert only(scorecard(1, outcome=Outcome.PARTIAL, verdicts=bad))
    assert not only(scorecard(2, outcome=Outcome.PARTIAL))
    assert not only(scorecard(3, outcome=Outcome.ERROR, verdicts=bad))


ALL = Filter()


class Past:
    """A reader of what is on the log already, a partition after the other."""

    def __init__(self, *partitions: list[ScoreEntry]) -> None:
        self._records = [
            stored(Output.SCORES, value, partition=number)
            for number, entries in enumerate(partitions)
            for value in pack_scores(entries)
        ]

    def read(self, timeout: float) -> Sequence[StoredOutput]:
        """Everything at the first call, nothing later."""
        records, self._records = self._records, []
        return records

    def commit(self) -> None:
        """No position is kept."""

    def close(self) -> None:
        """Nothing is open."""


def entry(number: int, **changes: Any) -> ScoreEntry:
    """A run that ended so many seconds after the first."""
    end = START + number * 1_000_000_000
    return score_entry(number, card=scorecard(number, end=end, **changes))


def told(
    reader: Past, shown: Filter = ALL, *, last: int = 10, pending: Sequence[str] = ()
) -> list[str]:
    """What a tail that does not follow prints."""
    console = Console(width=100, highlight=False)
    with console.capture() as capture:
        tail = Tail(reader, shown, console, as_json=False, pending=pending, quiet=10)
        tail.follow(last, wait=False)
    return capture.get().splitlines()


def test_the_past_is_told_in_the_order_of_time_whatever_the_partition() -> None:
    reader = Past([entry(1, agent="a1"), entry(4, agent="a4")], [entry(2, agent="a2")])
    assert [line.split()[1] for line in told(reader)[1:]] == ["a1", "a2", "a4"]


def test_the_last_runs_are_the_newest_of_all_partitions() -> None:
    reader = Past([entry(3, agent="a3"), entry(4, agent="a4")], [entry(1, agent="a1")])
    assert [line.split()[1] for line in told(reader, last=2)[1:]] == ["a3", "a4"]


def test_an_empty_log_says_when_a_run_is_scored() -> None:
    text = "\n".join(told(Past()))
    assert "no run so far" in text
    assert "when no span of its trace has come for 10 s" in text


def test_traces_that_wait_are_counted_without_those_that_are_scored() -> None:
    waiting = [trace_id_of(1), trace_id_of(7)]
    text = "\n".join(told(Past([entry(1)]), pending=waiting))
    assert "1 trace has just come and not been scored yet" in text
    assert "for 10 s" in text
    assert "not been scored" not in "\n".join(told(Past([entry(1)]), pending=waiting[:1]))


def test_an_agent_without_a_run_is_answered_with_those_that_have_one() -> None:
    only = Filter(agent="fnder")
    said = "no run of fnder so far; known agents: finder, other"
    assert said in told(Past([entry(1), entry(2), entry(3, agent="other")]), only)
    console = Console(width=100, highlight=False)
    with console.capture() as capture:
        reader = Past([entry(1), entry(2), entry(3, agent="other")])
        Tail(reader, only, console, as_json=False).worst(3, None)
    assert capture.get().strip() == said


def test_runs_of_which_none_is_asked_for_are_counted() -> None:
    only = Filter(outcomes=frozenset({Outcome.ERROR}))
    assert "none of the 2 runs on the log is like that" in told(Past([entry(1), entry(2)]), only)
    assert len(told(Past([entry(1)]), last=0)) == 1
