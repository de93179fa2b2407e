"""Every axis and the outcome arrive at an OTLP backend, beside the spans they judge."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from seekwatch.core.errors import ConfigurationError, PermanentError, RetryableError
from seekwatch.core.records import Output, StoredOutput
from seekwatch.core.scorecard import Axis, Outcome
from seekwatch.core.topics import pack_scores
from seekwatch.core.verdicts import Reason, Verdict
from seekwatch.exporters.evaluation import (
    EVALUATION_ID,
    EVENTS_PER_REQUEST,
    EvaluationSink,
    evaluation_events,
)
from seekwatch.exporters.identity import score_id
from seekwatch.exporters.otlp_logs import logs_transport
from tests.services.otlp_log_sink import GrpcLogSink, HttpLogSink, LogSink
from tests.services.otlp_sink import BlackHole, plain
from tests.services.scorecards import (
    SPAN,
    axis_verdict,
    score_entry,
    scorecard,
    stored,
    trace_id_of,
)


@pytest.fixture(params=[HttpLogSink, GrpcLogSink])
def backend(request: pytest.FixtureRequest) -> Iterator[LogSink]:
    with request.param() as sink:
        yield sink


@pytest.fixture
def http() -> Iterator[HttpLogSink]:
    with HttpLogSink() as sink:
        yield sink


def exporting(backend: LogSink, **headers: str) -> EvaluationSink:
    assert isinstance(backend, HttpLogSink | GrpcLogSink)
    return EvaluationSink(logs_transport(backend.url, headers=headers, timeout=30))


def scores(*numbers: int) -> StoredOutput:
    (value,) = pack_scores(score_entry(number) for number in numbers)
    return stored(Output.SCORES, value)


def test_a_scorecard_becomes_five_events_on_its_spans(backend: LogSink) -> None:
    spans = {axis: f"{index:016x}" for index, axis in enumerate(Axis, start=1)}
    card = scorecard(
        3,
        axes=tuple(axis_verdict(axis, spans=(spans[axis], SPAN)) for axis in Axis),
        outcome=Outcome.PARTIAL,
        outcome_evidence="one axis is bad",
    )
    (value,) = pack_scores([score_entry(3, card=card)])
    sink = exporting(backend)
    sink.deliver([stored(Output.SCORES, value)])
    sink.close()
    assert [record.event_name for record in backend.records] == ["gen_ai.evaluation.result"] * 5
    assert {record.trace_id.hex() for record in backend.records} == {card.trace}
    assert [record.span_id.hex() for record in backend.records] == [*spans.values(), SPAN]
    named = {item["gen_ai.evaluation.name"]: item for item in backend.attributes}
    assert set(named) == {*Axis, "outcome"}
    citation = named[Axis.CITATION_VALIDITY]
    assert citation["gen_ai.evaluation.score.value"] == 1.0
    assert citation["gen_ai.evaluation.score.label"] == "good"
    assert citation["gen_ai.evaluation.explanation"] == "citation_validity is good"
    assert citation["gen_ai.agent.name"] == "finder"
    assert citation["seekwatch.scorer.revision"] == "scorer-1"
    assert named["outcome"]["gen_ai.evaluation.score.label"] == "partial"
    assert "gen_ai.evaluation.score.value" not in named["outcome"]


def test_an_unscorable_axis_carries_its_reason_and_no_score() -> None:
    card = scorecard(verdicts={Axis.CITATION_VALIDITY: Verdict.UNSCORABLE})
    event = plain(evaluation_events(score_entry(card=card))[3].attributes)
    assert event["error.type"] == Reason.NO_CITATIONS
    assert event["gen_ai.evaluation.score.label"] == "unscorable"
    assert "gen_ai.evaluation.score.value" not in event


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 1.7])
def test_a_score_that_is_none_is_left_out(score: float) -> None:
    card = scorecard(axes=(axis_verdict(Axis.QUERY_QUALITY, score=score),))
    event = plain(evaluation_events(score_entry(card=card))[0].attributes)
    assert "gen_ai.evaluation.score.value" not in event


@pytest.mark.parametrize(("notes", "regime"), [({"regime": "fast"}, "fast"), ({}, "unknown")])
def test_the_freshness_event_always_names_the_regime(notes: dict[str, str], regime: str) -> None:
    card = scorecard(axes=(axis_verdict(Axis.SOURCE_FRESHNESS, notes=notes),))
    event = plain(evaluation_events(score_entry(card=card))[0].attributes)
    assert event["seekwatch.freshness.regime"] == regime


def test_an_axis_without_spans_stands_on_the_root_and_a_bad_id_on_nothing() -> None:
    card = scorecard(trace="no hex", axes=(axis_verdict(Axis.QUERY_QUALITY, spans=()),))
    event = evaluation_events(score_entry(card=card))[0]
    assert event.span_id.hex() == SPAN
    assert event.trace_id == b""


def test_the_same_verdict_is_the_same_event_however_often_it_is_sent(http: HttpLogSink) -> None:
    sink = exporting(http)
    for _ in range(2):
        sink.deliver([scores(1)])
    sink.close()
    first, second = http.records[:5], http.records[5:]
    assert first == second
    assert http.attributes[0][EVALUATION_ID] == score_id(
        trace_id_of(1), "query_quality", "scorer-1", 1
    )


def test_ids_differ_by_trace_axis_scorer_and_revision() -> None:
    ids = {
        score_id(trace, axis, scorer, revision)
        for trace in ("a", "b")
        for axis in ("x", "y")
        for scorer in ("1", "2")
        for revision in (1, 2)
    }
    assert len(ids) == 16
    assert all(len(item) == 32 for item in ids)


def test_many_scorecards_are_sent_in_bounded_requests(http: HttpLogSink) -> None:
    sink = exporting(http)
    sink.deliver([scores(*range(250))])
    sink.close()
    sizes = [len(request.resource_logs[0].scope_logs[0].log_records) for request in http.requests]
    assert sizes == [EVENTS_PER_REQUEST, 250]


def test_long_explanations_are_divided_over_requests_that_a_server_takes(
    backend: LogSink,
) -> None:
    long = "evidence " * 20_000
    cards = [scorecard(number, outcome_evidence=long) for number in range(40)]
    values = pack_scores(score_entry(number, card=card) for number, card in enumerate(cards))
    sink = exporting(backend)
    sink.deliver([stored(Output.SCORES, value) for value in values])
    sink.close()
    assert len(backend.records) == 5 * len(cards)


def test_headers_are_sent(backend: LogSink) -> None:
    sink = exporting(backend, **{"X-Api-Key": "secret"})
    sink.deliver([scores(1)])
    sink.close()
    assert backend.headers[0]["x-api-key"] == "secret"


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
def test_what_can_be_mended_outside_is_retryable(http: HttpLogSink, status: int) -> None:
    http.answers = [(status, {"Retry-After": "7"})]
    sink = exporting(http)
    with pytest.raises(RetryableError) as caught:
        sink.deliver([scores(1)])
    assert caught.value.retry_after == 7
    sink.deliver([scores(1)])
    sink.close()
    assert len(http.records) == 5


def test_a_retry_after_date_counts_from_the_backends_own_clock(http: HttpLogSink) -> None:
    http.answers = [
        (
            503,
            {
                "Retry-After": "Thu, 01 Jan 2026 00:00:09 GMT",
                "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
            },
        ),
        (503, {"Retry-After": "soon"}),
    ]
    sink = exporting(http)
    waits: list[float | None] = []
    for _ in range(2):
        with pytest.raises(RetryableError) as caught:
            sink.deliver([scores(1)])
        waits.append(caught.value.retry_after)
    sink.close()
    assert waits == [9, None]


@pytest.mark.parametrize("status", [400, 413])
def test_a_backend_that_will_never_take_it_is_permanent(http: HttpLogSink, status: int) -> None:
    http.answers = [(status, {})]
    sink = exporting(http)
    with pytest.raises(PermanentError, match=str(status)):
        sink.deliver([scores(1)])
    sink.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (grpc.StatusCode.UNAVAILABLE, RetryableError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, RetryableError),
        (grpc.StatusCode.UNAUTHENTICATED, RetryableError),
        (grpc.StatusCode.INVALID_ARGUMENT, PermanentError),
    ],
)
def test_grpc_codes_are_told_apart_alike(code: grpc.StatusCode, error: type[Exception]) -> None:
    with GrpcLogSink() as backend:
        backend.answers = [(code, {})]
        sink = exporting(backend)
        with pytest.raises(error, match=code.name):
            sink.deliver([scores(1)])
        sink.close()


def test_a_backend_that_is_away_is_retryable() -> None:
    with BlackHole() as hole:
        sink = EvaluationSink(logs_transport(hole.url, timeout=0.2))
        with pytest.raises(RetryableError):
            sink.deliver([scores(1)])
        sink.close()


def test_a_partial_success_is_said_and_not_sent_again(
    backend: LogSink, caplog: pytest.LogCaptureFixture
) -> None:
    backend.refused = 2
    sink = exporting(backend)
    sink.deliver([scores(1)])
    sink.close()
    assert "refused 2 evaluation events: too old" in caplog.text


@pytest.mark.parametrize("endpoint", ["", "localhost:4317", "ftp://host", "http://"])
def test_an_endpoint_that_is_none_stops_the_start(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match=r"evaluation\.endpoint"):
        logs_transport(endpoint)


@pytest.mark.parametrize(
    ("endpoint", "options", "key"),
    [
        ("http://[::1", {}, "evaluation.endpoint"),
        ("http://host:99999", {}, "evaluation.endpoint"),
        ("https://host", {"certificate": Path("/missing.pem")}, "evaluation.certificate"),
        ("grpcs://host:4317", {"certificate": Path("/missing.pem")}, "evaluation.certificate"),
        ("http://host", {"headers": {"token": "a\nb"}}, "evaluation.headers.token"),
        ("grpc://host:4317", {"headers": {"token": "é"}}, "evaluation.headers.token"),
        ("http://host", {"headers": {"to ken": "a"}}, "evaluation.headers.to ken"),
    ],
)
def test_what_can_never_be_sent_stops_the_start_and_names_its_key(
    endpoint: str, options: dict[str, Any], key: str
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(key)) as raised:
        logs_transport(endpoint, **options)
    assert "a\nb" not in str(raised.value)


@pytest.mark.parametrize("closed_at", [2**62, -1])
def test_a_time_that_otlp_does_not_know_stops_no_event(closed_at: int) -> None:
    entry = score_entry(1, closed_at=closed_at)
    assert len(evaluation_events(entry)) == 5


def test_the_logs_path_is_added_where_it_is_missing(http: HttpLogSink) -> None:
    for endpoint in (http.url, f"{http.url}/", f"{http.url}/v1/logs"):
        sink = EvaluationSink(logs_transport(endpoint))
        sink.deliver([scores(1)])
        sink.close()
    assert len(http.records) == 15


def test_a_record_of_another_topic_is_permanent(http: HttpLogSink) -> None:
    sink = exporting(http)
    for wrong in (stored(Output.EPISODES, b""), stored(Output.SCORES, b"{}\n")):
        with pytest.raises(PermanentError):
            sink.deliver([wrong])
    sink.close()
