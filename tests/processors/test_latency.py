"""Latency: unions of intervals, so that parallel work is not counted twice."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.model import Adapter, Fetch, Generation, RunContext, Search
from seekwatch.core.testing import START
from seekwatch.processors.runs.latency import covered, latency
from tests.services.runs import episode

SECOND = 10**9
INTERVALS = st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**12)), max_size=20)


def test_parallel_fetches_count_once_and_search_wire_calls_not_at_all() -> None:
    span: dict[str, Any] = {"start": START, "end": START + 2 * SECOND}
    fetches = (
        Fetch(span="1" * 16, url="https://a.com/", adapter=Adapter.FETCH, **span),
        Fetch(span="2" * 16, url="https://b.com/", adapter=Adapter.FETCH, **span),
        Fetch(span="3" * 16, url="https://api.com/", adapter=Adapter.SEARCH, start=0, end=START),
    )
    searches = (Search(span="4" * 16, start=START, end=START + SECOND // 2),)
    run = episode(fetches=fetches, searches=searches, end=START + 3 * SECOND)
    assert (latency(run).fetch, latency(run).search, latency(run).total) == (2.0, 0.5, 3.0)


def test_the_first_token_and_virtual_seconds_are_passed_on_when_they_are_numbers() -> None:
    first = Generation(span="1" * 16, start=START, end=START, time_to_first_token=float("nan"))
    second = Generation(span="2" * 16, start=START, end=START, time_to_first_token=0.4)
    context = RunContext(agent="a", virtual_seconds=12.5)
    measured = latency(episode(generations=(first, second), context=context))
    assert (measured.time_to_first_token, measured.virtual) == (0.4, 12.5)


@given(INTERVALS)
def test_a_union_is_no_longer_than_its_parts_nor_shorter_than_the_longest(
    intervals: list[tuple[int, int]],
) -> None:
    lengths = [max(0, end - start) / SECOND for start, end in intervals]
    total = covered(intervals)
    assert total <= sum(lengths) + 1e-6
    assert total >= max(lengths, default=0.0) - 1e-6


@given(INTERVALS)
def test_a_union_does_not_depend_on_order(intervals: list[tuple[int, int]]) -> None:
    shuffled = sorted(intervals, key=lambda pair: (pair[1], -pair[0]))
    assert covered(shuffled) == pytest.approx(covered(intervals))
