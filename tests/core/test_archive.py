"""The archive: a line holds all that re-scoring needs, and another schema is told by its number."""

import msgspec
import pytest

from seekwatch.core.archive import ArchiveEntry, decode_archive_line, decode_score_line
from seekwatch.core.errors import UndecodableError
from seekwatch.core.evidence import Evidence, Forbidden, LinkCheck, TruthRecord
from seekwatch.core.policy import Policy
from seekwatch.core.scorecard import (
    SCHEMA_VERSION,
    CloseReason,
    Envelope,
    ScoreEntry,
    encode_line,
)
from seekwatch.processors.score import score
from seekwatch.processors.testing import episode_of
from tests.services.runs import FIRST, good_run

EVIDENCE = Evidence(
    truth=TruthRecord(case="c", forbidden=(Forbidden(host="a.com", methods=("POST",)),)),
    links=(LinkCheck(url=FIRST, at=1, source="link-checker", revision="1", state="resolves"),),
)


def archived(schema: int = SCHEMA_VERSION) -> ArchiveEntry:
    episode = episode_of(good_run())
    envelope = Envelope(
        trace=episode.trace,
        partition=0,
        first_offsets={},
        last_offsets={},
        reason=CloseReason.IDLE,
        closed_at=0,
    )
    return ArchiveEntry(
        schema=schema,
        episode=episode,
        evidence=EVIDENCE,
        scorecard=score(episode, EVIDENCE, Policy()),
        envelope=envelope,
    )


def test_a_line_reads_back_as_it_was() -> None:
    entry = archived()
    assert decode_archive_line(encode_line(entry)) == entry


def test_an_archived_episode_scores_to_the_same_bytes() -> None:
    entry = decode_archive_line(encode_line(archived()))
    again = score(entry.episode, entry.evidence, Policy())
    assert encode_line(again) == encode_line(entry.scorecard)


def test_another_schema_is_refused_by_its_number() -> None:
    with pytest.raises(UndecodableError, match="schema 99") as caught:
        decode_archive_line(encode_line(archived(schema=99)))
    assert caught.value.reason == "schema"


def test_another_schema_is_told_even_when_its_shape_is_unknown() -> None:
    with pytest.raises(UndecodableError, match="schema 7"):
        decode_archive_line(b'{"schema": 7, "run": {}}')


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"schema": 1}', b"\xff\xfe"])
def test_what_is_no_entry_is_undecodable(line: bytes) -> None:
    with pytest.raises(UndecodableError) as caught:
        decode_archive_line(line)
    assert caught.value.reason == "archive"


def test_score_lines_are_read_by_the_same_rules() -> None:
    entry = archived()
    written = ScoreEntry(schema=SCHEMA_VERSION, scorecard=entry.scorecard, envelope=entry.envelope)
    assert decode_score_line(encode_line(written)) == written
    with pytest.raises(UndecodableError):
        decode_score_line(msgspec.json.encode({"schema": 2}))
