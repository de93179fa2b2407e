"""Scoring in a test: one call from a trace to its scorecard, and assertions that say what failed.

A user's test asserts on the axes that production is watched by; ours use the same functions.

    card = score_trace(
        TraceBuilder("finder").agent("…").search("…", [result("https://example.org/a")])
        .answer("…", citations=[{"url": "https://example.org/a"}])
    )
    assert_axis(card, "citation_validity", "good")
"""

from seekwatch.core.extras import needs

with needs("monitor"):
    from seekwatch.core.evidence import Evidence, LinkCheck, TruthRecord
    from seekwatch.core.model import Episode
    from seekwatch.core.otlp.requests import RawItem, raw_items
    from seekwatch.core.otlp.view import Group, SpanView
    from seekwatch.core.policy import Policy
    from seekwatch.core.records import Signal
    from seekwatch.core.redaction import Redactor
    from seekwatch.core.scorecard import (
        Axis,
        AxisVerdict,
        CloseReason,
        Envelope,
        Outcome,
        Scorecard,
    )
    from seekwatch.core.tags import FailureTag
    from seekwatch.core.testing import TraceBuilder
    from seekwatch.core.verdicts import Verdict
    from seekwatch.processors.cuts import Cut
    from seekwatch.processors.normalise import normalise
    from seekwatch.processors.score import score_with_errors

__all__ = [
    "assert_axis",
    "assert_outcome",
    "assert_tags",
    "episode_of",
    "score_trace",
]


def score_trace(
    trace: TraceBuilder | bytes | Episode,
    *,
    policy: Policy | None = None,
    truth: TruthRecord | None = None,
    links: tuple[LinkCheck, ...] = (),
) -> Scorecard:
    """Score one trace as the worker would.

    Args:
        trace: a builder, an OTLP export request (protobuf or JSON) with one trace, or an episode.
        policy: the default one when None.
        truth: what is known to be true of the case.
        links: what a link checker would have found.

    Raises:
        ValueError: the trace is no agent's run.
        Exception: what a scorer raised; in production it costs an axis, in a test it should show.
    """
    episode = trace if isinstance(trace, Episode) else episode_of(trace)
    scorecard, errors = score_with_errors(
        episode, Evidence(truth=truth, links=links), policy or Policy()
    )
    if errors:
        raise errors[0].error
    return scorecard


def episode_of(trace: TraceBuilder | bytes) -> Episode:
    """Normalise one trace, with the default lanes and redaction.

    Raises:
        ValueError: the trace is no agent's run.
    """
    request = trace if isinstance(trace, bytes) else trace.request()
    items = tuple(raw_items(request, Signal.TRACES))
    episode = normalise(_cut(items), Redactor(), Policy().lanes)
    if episode is None:
        raise ValueError("no agent, model or retriever span in this trace")
    return episode


def _cut(items: tuple[RawItem, ...]) -> Cut:
    first = SpanView(items[0].raw, Group(items[0].resource, items[0].scope)) if items else None
    trace = "" if first is None else first.trace_id
    envelope = Envelope(
        trace=trace,
        partition=0,
        first_offsets={"traces": 0},
        last_offsets={"traces": 0},
        reason=CloseReason.COMPLETE,
        closed_at=0,
    )
    return Cut(trace=trace, spans=items, envelope=envelope)


def assert_axis(
    scorecard: Scorecard, axis: Axis | str, verdict: Verdict | str, *, evidence: str = ""
) -> AxisVerdict:
    """Assert a verdict on one axis and that its evidence holds a text; return the verdict."""
    found = scorecard.axis(Axis(axis))
    assert found.verdict == Verdict(verdict), f"{axis} is {found.verdict}: {found.evidence}"  # noqa: S101
    assert evidence in found.evidence, f"{evidence!r} is not in {found.evidence!r}"  # noqa: S101
    return found


def assert_outcome(scorecard: Scorecard, outcome: Outcome | str) -> None:
    """Assert how the run ended."""
    line = f"outcome is {scorecard.outcome}: {scorecard.outcome_evidence}"
    assert scorecard.outcome == Outcome(outcome), line  # noqa: S101


def assert_tags(scorecard: Scorecard, *tags: FailureTag | str) -> None:
    """Assert that the scorecard has exactly these tags."""
    wanted = sorted(FailureTag(tag) for tag in tags)
    assert sorted(scorecard.tags) == wanted, f"tags are {sorted(scorecard.tags)}"  # noqa: S101
