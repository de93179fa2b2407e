"""Scorecards on the wire: small, canonical, readable by anyone."""

import json

import msgspec
import pytest

from seekwatch.core.scorecard import (
    SCHEMA_VERSION,
    Axis,
    AxisVerdict,
    CloseReason,
    Envelope,
    Outcome,
    Scorecard,
    ScoreEntry,
    encode_line,
)
from seekwatch.core.verdicts import Verdict
from seekwatch.processors.testing import score_trace
from tests.services.runs import good_run


def entry(card: Scorecard) -> ScoreEntry:
    envelope = Envelope(
        trace=card.trace,
        partition=3,
        first_offsets={"traces": 7, "logs": 2},
        last_offsets={"traces": 9, "logs": 2},
        reason=CloseReason.COMPLETE,
        closed_at=1,
    )
    return ScoreEntry(schema=SCHEMA_VERSION, scorecard=card, envelope=envelope)


def test_a_line_is_one_line_of_json() -> None:
    line = encode_line(entry(score_trace(good_run())))
    assert b"\n" not in line
    assert json.loads(line)["scorecard"]["outcome"] == "success"


def test_a_line_reads_back_as_it_was() -> None:
    written = entry(score_trace(good_run()))
    assert msgspec.json.decode(encode_line(written), type=ScoreEntry) == written


def test_the_order_of_a_mapping_does_not_show() -> None:
    def axis(measures: dict[str, float]) -> AxisVerdict:
        return AxisVerdict(
            axis=Axis.QUERY_QUALITY, verdict=Verdict.GOOD, evidence="e", measures=measures
        )

    assert encode_line(axis({"a": 1.0, "b": 2.0})) == encode_line(axis({"b": 2.0, "a": 1.0}))


def test_an_axis_is_found_by_name() -> None:
    card = score_trace(good_run())
    assert all(card.axis(axis).axis is axis for axis in Axis)


def test_a_scorecard_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        score_trace(good_run()).outcome = Outcome.ERROR  # type: ignore[misc]
