"""Scorecards and archive entries made by hand, for tests of what comes after scoring."""

import hashlib
from collections.abc import Mapping
from typing import Any

from seekwatch.core.archive import ArchiveEntry
from seekwatch.core.evidence import NO_EVIDENCE
from seekwatch.core.model import Episode, RunContext
from seekwatch.core.records import Output, StoredOutput
from seekwatch.core.scorecard import (
    SCHEMA_VERSION,
    Axis,
    AxisVerdict,
    CloseReason,
    Cost,
    Envelope,
    Latency,
    Outcome,
    Scorecard,
    ScoreEntry,
    Work,
)
from seekwatch.core.verdicts import Reason, Verdict

START = 1_767_225_600_000_000_000
"""2026-01-01, midnight UTC, in nanoseconds."""

SPAN = "a1b2c3d4e5f60718"


def trace_id_of(number: int) -> str:
    """A trace id that depends on a number alone."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]


def axis_verdict(axis: Axis, verdict: Verdict = Verdict.GOOD, **changes: Any) -> AxisVerdict:
    """One axis with a score that fits its verdict."""
    scores = {Verdict.GOOD: 1.0, Verdict.BAD: 0.0, Verdict.UNSCORABLE: None}
    fields: dict[str, Any] = {
        "axis": axis,
        "verdict": verdict,
        "evidence": f"{axis} is {verdict}",
        "score": scores[verdict],
        "reason": Reason.NO_CITATIONS if verdict is Verdict.UNSCORABLE else None,
        "spans": (SPAN,),
    }
    return AxisVerdict(**(fields | changes))


def scorecard(
    number: int = 0, *, verdicts: Mapping[Axis, Verdict] | None = None, **changes: Any
) -> Scorecard:
    """A good run of the agent `finder` in the live lane, with what `changes` says."""
    given = verdicts or {}
    fields: dict[str, Any] = {
        "trace": trace_id_of(number),
        "root": SPAN,
        "agent": "finder",
        "lane": "live",
        "outcome": Outcome.SUCCESS,
        "outcome_evidence": "answered with citations",
        "axes": tuple(axis_verdict(axis, given.get(axis, Verdict.GOOD)) for axis in Axis),
        "tags": (),
        "latency": Latency(total=2.5),
        "cost": Cost(total=0.01),
        "work": Work(),
        "scorer_revision": "scorer-1",
        "policy_revision": "policy-1",
        "start": START,
        "end": START + 2_500_000_000,
    }
    return Scorecard(**(fields | changes))


def envelope(number: int = 0, **changes: Any) -> Envelope:
    """The envelope of a trace that was complete."""
    fields: dict[str, Any] = {
        "trace": trace_id_of(number),
        "partition": 0,
        "first_offsets": {"traces": number},
        "last_offsets": {"traces": number},
        "reason": CloseReason.COMPLETE,
        "closed_at": START // 1_000_000 + 10_000,
    }
    return Envelope(**(fields | changes))


def score_entry(
    number: int = 0, *, card: Scorecard | None = None, **envelope_changes: Any
) -> ScoreEntry:
    """One line of the scores topic."""
    return ScoreEntry(
        schema=SCHEMA_VERSION,
        scorecard=card or scorecard(number),
        envelope=envelope(number, **envelope_changes),
    )


def archive_entry(number: int = 0, *, question: str = "?", **changes: Any) -> ArchiveEntry:
    """One line of the episodes topic."""
    trace = trace_id_of(number)
    return ArchiveEntry(
        schema=SCHEMA_VERSION,
        episode=Episode(
            trace=trace,
            root=SPAN,
            start=START,
            end=START + 2_500_000_000,
            context=RunContext(agent="finder"),
            question=question,
        ),
        evidence=NO_EVIDENCE,
        scorecard=scorecard(number),
        envelope=envelope(number, **changes),
    )


def stored(output: Output, value: bytes, offset: int = 0, partition: int = 0) -> StoredOutput:
    """A record as a consumer reads it."""
    return StoredOutput(
        output=output, partition=partition, offset=offset, timestamp=START // 1_000_000, value=value
    )
