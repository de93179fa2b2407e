"""Which runs a tail shows."""

import pytest

from seekwatch.core.scorecard import Axis, Outcome
from seekwatch.core.verdicts import Verdict
from seekwatch.monitor.terminal.tail import Filter
from tests.services.scorecards import scorecard


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
