"""Scoring as one pure function: never raises, never varies, never says what is no number."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from seekwatch.core import attributes as names
from seekwatch.core.evidence import NO_EVIDENCE, Evidence
from seekwatch.core.model import Episode
from seekwatch.core.policy import Policy
from seekwatch.core.scorecard import Axis, Outcome, Scorecard, encode_line
from seekwatch.core.tags import FailureTag
from seekwatch.core.testing import (
    AttributeMap,
    TraceBuilder,
    result,
    span,
    span_id,
    trace_id,
    traces_request,
)
from seekwatch.core.verdicts import Reason, Verdict, is_score
from seekwatch.processors import score as scoring
from seekwatch.processors.axes.joining import EVIDENCE_LENGTH
from seekwatch.processors.revision import scoring_sources
from seekwatch.processors.score import CHECK_NAMES, SCORER_REVISION, score, score_with_errors
from seekwatch.processors.testing import episode_of, score_trace
from tests.services.episodes import EPISODES, EVIDENCE
from tests.services.runs import episode, good_run

POLICY = Policy()
ANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def numbers_in(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers_in(item)]
    return [value] if isinstance(value, float) else []


@ANY
@given(EPISODES, EVIDENCE)
def test_no_episode_makes_a_scorer_raise_and_every_scorecard_keeps_the_contract(
    episode: Episode, evidence: Evidence
) -> None:
    card, errors = score_with_errors(episode, evidence, POLICY)
    assert errors == ()
    line = encode_line(card)
    decoded = json.loads(line, parse_constant=pytest.fail)
    assert all(math.isfinite(number) for number in numbers_in(decoded))
    assert msgspec.json.decode(line, type=Scorecard) == card
    assert [axis.axis for axis in card.axes] == list(Axis)
    for axis in card.axes:
        assert (axis.reason is None) == (axis.verdict is not Verdict.UNSCORABLE)
        assert (axis.score is None) == (axis.verdict is Verdict.UNSCORABLE)
        assert axis.score is None or is_score(axis.score)
        assert len(axis.evidence) <= EVIDENCE_LENGTH
        assert "\n" not in axis.evidence
        for check in axis.checks:
            assert check.name in CHECK_NAMES[axis.axis]
            assert check.score is None or is_score(check.score)
            assert 0 < len(check.evidence) <= EVIDENCE_LENGTH
            assert "\n" not in check.evidence
    assert list(card.tags) == [tag for tag in FailureTag if tag in card.tags]


@ANY
@given(EPISODES, EVIDENCE)
def test_equal_input_gives_equal_bytes(episode: Episode, evidence: Evidence) -> None:
    again = msgspec.json.decode(msgspec.json.encode(episode), type=Episode)
    first = encode_line(score(episode, evidence, POLICY))
    assert first == encode_line(score(again, evidence, Policy()))


HASH_SEEDS = """
import sys
from seekwatch.core.scorecard import encode_line
from seekwatch.processors.testing import score_trace
from tests.services.runs import SECOND, answered, good_run, read, searched
cards = [score_trace(good_run()), score_trace(answered(read(searched()), "It is 5.7.", [SECOND]))]
sys.stdout.buffer.write(b"".join(map(encode_line, cards)))
"""


def test_the_order_of_sets_does_not_show() -> None:
    outputs = set()
    for seed in ("0", "1", "4242"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        run = subprocess.run(
            [sys.executable, "-c", HASH_SEEDS], env=environment, capture_output=True, check=True
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert outputs.pop()


def test_a_scorer_that_raises_costs_its_own_axis_and_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: object) -> Any:
        raise ZeroDivisionError("a bug")

    judges = tuple(
        (axis, broken if axis is Axis.SOURCE_DIVERSITY else judge)
        for axis, judge in scoring._JUDGES  # pyright: ignore[reportPrivateUsage]
    )
    monkeypatch.setattr(scoring, "_JUDGES", judges)
    card, errors = score_with_errors(episode_of(good_run()), NO_EVIDENCE, POLICY)
    lost = card.axis(Axis.SOURCE_DIVERSITY)
    assert (lost.verdict, lost.reason) == (Verdict.UNSCORABLE, Reason.SCORER_ERROR)
    assert [(item.scorer, type(item.error)) for item in errors] == [
        ("source_diversity", ZeroDivisionError)
    ]
    assert errors[0].error.__traceback__ is not None
    assert card.axis(Axis.CITATION_VALIDITY).verdict is Verdict.GOOD


def test_the_scorecard_names_what_judged_and_what_was_judged() -> None:
    card = score_trace(good_run())
    assert (card.scorer_revision, card.policy_revision) == (SCORER_REVISION, POLICY.revision)
    assert (card.agent, card.lane, card.release, card.environment) == (
        "finder",
        "live",
        "1.0.0",
        "production",
    )
    assert card.work.searches == 1
    assert card.complete


def test_a_long_question_is_cut_in_the_scorecard() -> None:
    card = score_trace(episode(question="why " * 5_000))
    assert card.question is not None
    assert len(card.question) <= 500


def test_the_revision_covers_exactly_what_scoring_imports() -> None:
    code = (
        "import sys; import seekwatch.processors.score;"
        "print(*sorted(m.__file__ for n, m in sys.modules.items()"
        " if n.startswith('seekwatch.processors.') and m.__file__), sep='\\n')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True
    )
    sources = scoring_sources()
    assert sorted(str(path) for path in sources if path.suffix == ".py") == run.stdout.split()
    assert "regime_model.json" in {path.name for path in sources}


def test_the_revision_is_twelve_hex_digits() -> None:
    assert len(SCORER_REVISION) == 12
    assert int(SCORER_REVISION, 16) >= 0


DOCUMENT = Path(__file__).parents[2] / "docs" / "axes.md"
SECTIONS = {
    Axis.QUERY_QUALITY: "Query quality",
    Axis.SOURCE_FRESHNESS: "Source freshness",
    Axis.SOURCE_DIVERSITY: "Source diversity",
    Axis.CITATION_VALIDITY: "Citation validity",
}


@pytest.mark.parametrize("axis", list(Axis))
def test_the_document_has_a_row_for_every_check(axis: Axis) -> None:
    section = DOCUMENT.read_text().split(f"## {SECTIONS[axis]}\n")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE)) == CHECK_NAMES[axis]


def test_every_tag_is_in_the_documents_or_found_on_the_way() -> None:
    text = DOCUMENT.read_text()
    on_the_way = {
        FailureTag.AUTH_LOOP,
        FailureTag.CACHE_LEAK,
        FailureTag.CHALLENGE_PAGE,
        FailureTag.DESTRUCTIVE_ACTION,
        FailureTag.FORBIDDEN_ACTION,
        FailureTag.LIMIT_EXCEEDED,
        FailureTag.REDIRECT_LOOP,
        FailureTag.RETRY_AFTER_IGNORED,
        FailureTag.RETRY_STORM,
        FailureTag.UNNECESSARY_BROWSER,
    }
    assert {tag for tag in FailureTag if f"`{tag}`" in text} == set(FailureTag) - on_the_way


def test_a_run_that_sends_no_content_is_never_bad() -> None:
    """What is withheld is unscorable, whatever addresses and statuses the trace still shows."""
    withheld: AttributeMap = {names.CONTENT_WITHHELD: True}
    fetched: AttributeMap = {
        names.SPAN_KIND: names.KIND_TOOL,
        names.FETCH_ADAPTER: "fetch",
        names.URL_FULL: "https://example.org/a",
        names.HTTP_STATUS: 200,
        names.CONTENT_OMITTED: "capture-off",
        names.RESPONSE_HEADER + "last-modified": ["Sat, 01 Jan 2011 00:00:00 GMT"],
    }
    searched: AttributeMap = {
        names.SPAN_KIND: names.KIND_RETRIEVER,
        names.SEARCH_PROVIDER: "tavily",
    }
    run: AttributeMap = {
        names.SPAN_KIND: names.KIND_AGENT,
        names.QUESTION + names.WITHHELD_LENGTH: 30,
        names.ANSWER + names.WITHHELD_LENGTH: 300,
        names.STOP_REASON: "answered",
        names.FRESHNESS_REGIME: "fast",
    }
    spans = [
        span("run", {**run, **withheld}, trace=trace_id("w")),
        span("search", {**searched, **withheld}, trace=trace_id("w"), parent=span_id("run")),
        span("fetch", {**fetched, **withheld}, trace=trace_id("w"), parent=span_id("run")),
    ]
    card = score_trace(traces_request(spans, scope="seekwatch.sdk"))
    assert card.outcome is Outcome.UNKNOWN
    assert {axis.axis: axis.reason for axis in card.axes} == dict.fromkeys(Axis, Reason.NO_CONTENT)
    assert card.tags == ()


@pytest.mark.parametrize("reason", ["deadline", "budget", "crashed"])
def test_sources_of_a_run_without_an_answer_are_not_judged(reason: str) -> None:
    """They are sources of nothing: the run was stopped before it chose among them."""
    old = result("https://example.org/a", published="2011-01-01")
    run = TraceBuilder("finder").agent("What is the latest Zephyr?").search("latest Zephyr", [old])
    card = score_trace(run.fetch("https://example.org/a", html="<p>Zephyr 1").stop(reason))
    sources = (Axis.SOURCE_FRESHNESS, Axis.SOURCE_DIVERSITY, Axis.CITATION_VALIDITY)
    assert {card.axis(axis).reason for axis in sources} == {Reason.NO_ANSWER}
    assert card.tags == ()
