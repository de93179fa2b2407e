"""Freshness: the regime of the question, the ages of the sources, what the answer says of them."""

from typing import Any

import pytest

from seekwatch.core.evidence import TruthRecord
from seekwatch.core.model import (
    Adapter,
    Answer,
    CacheState,
    Citation,
    Fetch,
    Page,
    PageDate,
    RunContext,
    Validators,
)
from seekwatch.core.policy import FreshnessPolicy, FreshnessRule, Policy
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.testing import START
from seekwatch.core.verdicts import Reason, Verdict
from seekwatch.processors.testing import score_trace
from tests.services.runs import DAY, episode

FAST = "What is the latest stable version of Zephyr?"
TIMELESS = "Who wrote the novel Middlemarch?"


def fetch(number: int, days: float | None, **fields: Any) -> Fetch:
    """A page fetched now, published `days` ago (None: no date)."""
    published = None
    if days is not None:
        at = START - int(days * DAY)
        published = PageDate(at=at, method="json-ld", confidence=0.9)
    text = f"Page {number} says that Zephyr 4.2 is stable. " * 5
    values: dict[str, Any] = {
        "span": f"{number:016x}",
        "start": START,
        "end": START + 1,
        "adapter": Adapter.FETCH,
        "url": f"https://site-{number}.com/page",
        "status": 200,
        "page": Page(text=text, published=published),
    }
    return Fetch(**{**values, **fields})


def judged(
    *fetches: Fetch,
    question: str | None = FAST,
    text: str = "Zephyr 4.2 is stable.",
    policy: Policy | None = None,
    truth: TruthRecord | None = None,
    **context: Any,
) -> AxisVerdict:
    citations = tuple(Citation(url=item.url) for item in fetches)
    run = episode(
        question=question,
        fetches=fetches,
        answer=Answer(text=text, span="a" * 16, citations=citations),
        context=RunContext(agent="finder", **context),
    )
    return score_trace(run, policy=policy, truth=truth).axis(Axis.SOURCE_FRESHNESS)


def check(verdict: AxisVerdict, name: str) -> Verdict | None:
    return next((item.verdict for item in verdict.checks if item.name == name), None)


def test_the_youngest_source_decides_and_the_median_is_reported() -> None:
    verdict = judged(fetch(1, 3), fetch(2, 900), fetch(3, 1000))
    assert verdict.verdict is Verdict.GOOD
    assert check(verdict, "median") is Verdict.BAD
    assert verdict.measures["median_days"] == pytest.approx(900)


def test_policy_lets_the_median_or_the_share_decide() -> None:
    for rule in (FreshnessRule.MEDIAN, FreshnessRule.SHARE):
        policy = Policy(freshness=FreshnessPolicy(rule=rule))
        verdict = judged(fetch(1, 3), fetch(2, 900), fetch(3, 1000), policy=policy)
        assert verdict.verdict is Verdict.BAD
        assert "stale-source" in verdict.tags


def test_old_sources_without_a_word_about_it_miss_a_caveat() -> None:
    verdict = judged(fetch(1, 400), fetch(2, 500))
    assert verdict.verdict is Verdict.BAD
    assert {"stale-source", "missing-caveat"} <= set(verdict.tags)
    assert "400 d old" in verdict.evidence
    assert "json-ld" in verdict.evidence


@pytest.mark.parametrize(
    "text",
    [
        "As of March 2024, Zephyr 3.6 is stable.",
        "Zephyr 3.6 is stable; I could not find a more recent source.",
        "This information may be outdated: Zephyr 3.6.",
        "截至2024年3月，最新版本是3.6。",
        "Según datos desactualizados, la versión es 3.6.",
        "Diese Angaben sind womöglich veraltet: 3.6.",
    ],
)
def test_an_answer_that_says_how_old_its_sources_are_has_its_caveat(text: str) -> None:
    verdict = judged(fetch(1, 400), fetch(2, 500), text=text)
    assert verdict.verdict is Verdict.BAD
    assert check(verdict, "caveat") is Verdict.GOOD
    assert "missing-caveat" not in verdict.tags


def test_an_insensitive_question_is_good_without_dates() -> None:
    verdict = judged(fetch(1, None), question=TIMELESS)
    assert (verdict.verdict, verdict.score) == (Verdict.GOOD, 1.0)
    assert "insensitive" in verdict.evidence


def test_no_dates_at_all_is_unscorable() -> None:
    verdict = judged(fetch(1, None), fetch(2, None))
    assert (verdict.verdict, verdict.reason) == (Verdict.UNSCORABLE, Reason.NO_DATES)
    assert "undated-source" in verdict.tags
    assert [item.name for item in verdict.checks].count("source-date") == 2


def test_one_old_date_among_many_unknown_ones_condemns_nothing() -> None:
    verdict = judged(fetch(1, 900), fetch(2, None), fetch(3, None))
    assert verdict.verdict is Verdict.UNSCORABLE


def test_one_fresh_date_among_unknown_ones_is_enough() -> None:
    assert judged(fetch(1, 3), fetch(2, None), fetch(3, None)).verdict is Verdict.GOOD


def test_the_agents_own_regime_wins() -> None:
    verdict = judged(fetch(1, 200), freshness_regime="slow")
    assert verdict.verdict is Verdict.GOOD
    assert verdict.notes == {"regime": "slow", "regime_from": "agent", "sources": "cited"}


def test_ages_count_from_as_of() -> None:
    verdict = judged(fetch(1, 400), as_of=START - 399 * DAY)
    assert verdict.verdict is Verdict.GOOD
    assert verdict.measures["youngest_days"] == pytest.approx(1)


@pytest.mark.parametrize("days", [-40.0, 20_000.0])
def test_a_date_in_the_future_or_before_the_web_is_no_date(days: float) -> None:
    assert judged(fetch(1, days)).verdict is Verdict.UNSCORABLE


def test_a_date_that_is_not_sure_enough_is_no_date() -> None:
    unsure = PageDate(at=START - DAY, method="text", confidence=0.2)
    verdict = judged(fetch(1, None, page=Page(text="Zephyr " * 20, published=unsure)))
    assert verdict.reason is Reason.NO_DATES


def test_a_date_in_the_address_counts_where_nothing_better_is_known() -> None:
    verdict = judged(fetch(1, None, url="https://site-1.com/2026/09/18/zephyr"))
    assert verdict.verdict is Verdict.GOOD
    assert "(url)" in verdict.evidence


def test_a_page_served_stale_from_a_cache_is_bad_for_a_fast_question() -> None:
    stale = fetch(
        1, 1, validators=Validators(age="90000", cache_control="max-age=3600"), adapter="cache"
    )
    verdict = judged(stale)
    assert verdict.verdict is Verdict.BAD
    assert "stale-cache" in verdict.tags
    assert "not revalidated" in verdict.evidence


@pytest.mark.parametrize(
    "fields",
    [
        {"cache_state": CacheState.REVALIDATED},
        {"validators": Validators(age="60", cache_control="max-age=3600")},
    ],
)
def test_a_revalidated_or_fresh_cached_page_is_good(fields: dict[str, Any]) -> None:
    values: dict[str, Any] = {
        "validators": Validators(age="90000", cache_control="max-age=3600"),
        "cache_state": CacheState.HIT,
    }
    verdict = judged(fetch(1, 1, **{**values, **fields}))
    assert (verdict.verdict, check(verdict, "cache")) == (Verdict.GOOD, Verdict.GOOD)


def test_the_truth_records_window_replaces_the_floor() -> None:
    truth = TruthRecord(case="c", freshness_window=1000 * 86_400.0)
    assert judged(fetch(1, 900), truth=truth).verdict is Verdict.GOOD


def test_no_question_means_no_regime() -> None:
    assert judged(fetch(1, 3), question=None).reason is Reason.NO_QUESTION


def test_no_source_is_unscorable() -> None:
    assert judged().reason is Reason.NO_SOURCES


def test_the_score_falls_with_age_and_is_a_half_at_the_floor() -> None:
    ages = (0, 10, 30, 90, 900)
    scores = [judged(fetch(1, days), text="As of then.").score for days in ages]
    assert scores == sorted(scores, key=lambda score: -(score or 0))
    assert scores[2] == pytest.approx(0.5)
