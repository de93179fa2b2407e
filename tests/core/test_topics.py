"""What is packed into records of the output topics comes out as it was."""

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from seekwatch.core.errors import UndecodableError
from seekwatch.core.scorecard import encode_line
from seekwatch.core.topics import (
    RECORD_BYTES,
    episode_lines,
    pack_episodes,
    pack_scores,
    unpack_episodes,
    unpack_scores,
)
from tests.services.scorecards import archive_entry, score_entry


@given(st.integers(0, 30), st.integers(1, 5000))
@settings(max_examples=30, deadline=None)
def test_scores_come_back_in_order_from_records_of_any_size(number: int, limit: int) -> None:
    entries = [score_entry(index) for index in range(number)]
    records = pack_scores(entries, limit)
    assert [entry for record in records for entry in unpack_scores(record)] == entries
    longest = max((len(encode_line(entry)) + 1 for entry in entries), default=0)
    assert all(0 < len(record) <= max(limit, longest) for record in records)


@given(st.lists(st.text(max_size=300), max_size=20), st.integers(1, 2000))
@settings(max_examples=30, deadline=None)
def test_episodes_come_back_in_order_and_byte_for_byte(questions: list[str], limit: int) -> None:
    entries = [archive_entry(n, question=text) for n, text in enumerate(questions)]
    records = pack_episodes(entries, limit)
    assert [entry for record in records for entry in unpack_episodes(record)] == entries
    lines = [line for record in records for line in episode_lines(record)]
    assert lines == [encode_line(entry) for entry in entries]


def test_records_stay_under_the_brokers_limit() -> None:
    scores = pack_scores(score_entry(index) for index in range(2000))
    assert len(scores) > 1
    assert all(len(record) <= RECORD_BYTES for record in scores)


def test_episodes_that_do_not_compress_are_divided_until_they_fit() -> None:
    hard = [zstandard.ZstdCompressor().compress(bytes([n])).hex() for n in range(200)]
    records = pack_episodes(
        (archive_entry(n, question=text * 3) for n, text in enumerate(hard)), limit=1200
    )
    assert len(records) > 1
    assert all(len(record) <= 1200 for record in records)


def test_an_entry_above_the_limit_travels_alone() -> None:
    entries = [archive_entry(1), archive_entry(2, question="long " * 5000), archive_entry(3)]
    records = pack_episodes(entries, limit=600)
    assert [len(unpack_episodes(record)) for record in records] == [1, 1, 1]


def test_nothing_packs_into_no_record() -> None:
    assert pack_scores([]) == []
    assert pack_episodes([]) == []


def test_a_decompression_bomb_is_refused_before_it_unfolds() -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(50_000_000))
    with pytest.raises(UndecodableError, match="holds more than 1000000") as caught:
        unpack_episodes(bomb, largest=1_000_000)
    assert caught.value.reason == "too-large"


@pytest.mark.parametrize(
    "value",
    [
        b"no zstd",
        b"",
        zstandard.ZstdCompressor().compress(b'{"cut off'),
        zstandard.ZstdCompressor().compress(b'{"not": "an entry"}\n'),
    ],
)
def test_what_is_no_episodes_record_is_undecodable(value: bytes) -> None:
    with pytest.raises(UndecodableError):
        unpack_episodes(value)
