from typing import Any

import msgspec
import pytest

from seekwatch.core.model import (
    Adapter,
    Claim,
    Completeness,
    Episode,
    Fetch,
    RunContext,
    Search,
    SearchResult,
)


def _episode(**fields: object) -> Episode:
    values: dict[str, Any] = {
        "trace": "01" * 16,
        "root": "02" * 8,
        "start": 1_000_000_000,
        "end": 3_500_000_000,
        "context": RunContext(agent="a"),
    }
    return Episode(**{**values, **fields})


def test_an_episode_survives_its_encoding() -> None:
    episode = _episode(
        searches=(Search(span="s", start=1, end=2, results=(SearchResult(rank=1),)),),
        fetches=(Fetch(span="f", start=1, end=2, adapter=Adapter.BROWSER, url="u"),),
    )
    encoded = msgspec.json.encode(episode)
    assert msgspec.json.decode(encoded, type=Episode) == episode


def test_unknown_and_empty_are_told_apart() -> None:
    unknown = Search(span="s", start=1, end=2)
    empty = Search(span="s", start=1, end=2, results=())
    assert b"results" not in msgspec.json.encode(unknown)
    decoded = msgspec.json.decode(msgspec.json.encode(empty), type=Search)
    assert decoded.results == ()


def test_values_are_immutable() -> None:
    with pytest.raises(AttributeError):
        Claim(text="x", start=0, end=1).text = "y"  # type: ignore[misc]


def test_duration_is_in_seconds_and_never_negative() -> None:
    assert _episode().duration == 2.5
    assert _episode(end=0).duration == 0


def test_ages_count_from_as_of_else_from_the_run() -> None:
    assert _episode().as_of == 1_000_000_000
    assert _episode(context=RunContext(agent="a", as_of=7)).as_of == 7


@pytest.mark.parametrize(
    "gap",
    [
        {"root_seen": False},
        {"missing_parents": 1},
        {"dropped_attributes": 1},
        {"truncated_spans": 1},
        {"undecodable_spans": 1},
    ],
)
def test_any_gap_makes_a_trace_incomplete(gap: dict[str, int]) -> None:
    assert not Completeness(**gap).complete  # type: ignore[arg-type]


def test_withheld_content_is_no_gap() -> None:
    assert Completeness(withheld=True).complete


def test_the_ladder_of_adapters_rises() -> None:
    assert list(Adapter) == ["cache", "fetch", "search", "crawl", "browser", "stealth"]
