"""The load of the benchmarks is what their figures are told about."""

import pytest

from benchmarks.floor import decode
from benchmarks.load import DIALECTS, SPANS_PER_TRACE, traces
from seekwatch.core.model import Episode
from seekwatch.core.policy import Policy
from seekwatch.core.records import Signal
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer
from seekwatch.monitor.scoring.offline import cuts_of
from seekwatch.monitor.scoring.otlp_files import Request
from seekwatch.processors.closing import ClosingRules


def _episodes(dialect: str) -> list[Episode]:
    requests = [
        Request(Signal.TRACES, made.request) for made in traces(3, dialect=dialect, seed="test")
    ]
    scorer = EpisodeScorer(Policy())
    episodes = [scorer.episode(cut) for cut in cuts_of(requests, ClosingRules())]
    return [episode for episode in episodes if episode is not None]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_equal_calls_give_equal_bytes_and_seeds_never_meet(dialect: str) -> None:
    first = traces(3, dialect=dialect, seed="one")
    assert first == traces(3, dialect=dialect, seed="one")
    assert not {made.trace for made in first} & {
        made.trace for made in traces(3, dialect=dialect, seed="two")
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_trace_has_the_size_that_the_figures_are_told_for(dialect: str) -> None:
    made = traces(50, dialect=dialect, seed="size")
    spans = [span for each in made for span in decode(each.request)]
    assert len(spans) == 50 * SPANS_PER_TRACE
    assert 20_000 < sum(len(each.request) for each in made) / 50 < 28_000
    assert 12 < sum(map(len, spans)) / len(spans) < 18


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_run_is_read_whole(dialect: str) -> None:
    episodes = _episodes(dialect)
    assert len(episodes) == 3
    for episode in episodes:
        assert episode.question is not None
        assert episode.answer is not None
        assert [len(search.results or ()) for search in episode.searches] == [5, 5]
        adapters = [str(fetch.adapter) for fetch in episode.fetches]
        assert adapters == ["search", "search", "fetch", "fetch"]
        assert len(episode.generations) == 2
        assert episode.completeness.complete
