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
        "Zephyr 3.6 ist stabil (Stand: März 2024).",
        "Etwas Neueres gibt es wohl, aber ich habe keine aktuelleren Angaben gefunden.",
        "There is nothing newer in the results: Zephyr 3.6.",
        "No more recent figures were available; Zephyr 3.6.",
        "This may no longer be accurate: Zephyr 3.6.",
        "Zephyr 3.6. Je n'ai pas trouvé de source plus récente.",
        "Zephyr 3.6, mais cette information n'est peut-être plus à jour.",
        "A fecha de marzo de 2024, la versión es 3.6.",
        "No encontré información más reciente: 3.6.",
        "Não encontrei dados mais recentes: 3.6.",
        "Non ho trovato fonti più recenti: 3.6.",
        "Ik vond geen recentere bron: 3.6.",
        "По состоянию на март 2024 года: 3.6.",
        "Более свежих данных найти не удалось: 3.6.",
        "נכון למרץ 2024 הגרסה היא 3.6.",
        "اعتبارًا من مارس 2024، الإصدار هو 3.6.",
        "未能找到更新的资料，版本为3.6。",
        "2024年3月時点では3.6です。",
        "2024년 3월 기준으로 3.6입니다.",
        "Mart 2024 itibarıyla sürüm 3.6.",
    ],
)
def test_an_answer_that_says_how_old_its_sources_are_has_its_caveat(text: str) -> None:
    verdict = judged(fetch(1, 400), fetch(2, 500), text=text)
    assert verdict.verdict is Verdict.BAD
    assert check(verdict, "caveat") is Verdict.GOOD
    assert "missing-caveat" not in verdict.tags


@pytest.mark.parametrize(
    "text",
    [
        "Zephyr 3.6 is stable, and critics stand by it.",
        "Zephyr 3.6 ist stabil und imstande, alte Geräte zu tragen.",
        "Zephyr 3.6 est stable.",
        "Zephyr 3.6 es la versión estable desde siempre.",
        "Zephyr 3.6 是稳定版本。",
        "Zephyr 3.6이 표준 기준을 충족합니다.",
        "There are more recent models than the one you have; take 3.6.",
    ],
)
def test_an_answer_without_a_word_on_age_has_no_caveat(text: str) -> None:
    assert check(judged(fetch(1, 400), fetch(2, 500), text=text), "caveat") is Verdict.BAD


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


def test_a_304_is_fresh_and_says_what_was_confirmed() -> None:
    confirmed = fetch(
        1,
        1,
        status=304,
        validators=Validators(if_none_match='"v7"', age="90000", cache_control="max-age=3600"),
    )
    verdict = judged(confirmed)
    cache = next(item for item in verdict.checks if item.name == "cache")
    assert (verdict.verdict, cache.verdict) == (Verdict.GOOD, Verdict.GOOD)
    assert "304 for the entity tag" in cache.evidence


def test_a_cached_page_that_does_not_say_its_age_is_reported_and_decides_nothing() -> None:
    verdict = judged(fetch(1, 1, cache_state=CacheState.HIT))
    assert (verdict.verdict, check(verdict, "cache")) == (Verdict.GOOD, Verdict.UNSCORABLE)


def test_the_truth_records_window_replaces_the_floor() -> None:
    truth = TruthRecord(case="c", freshness_window=1000 * 86_400.0)
    assert judged(fetch(1, 900), truth=truth).verdict is Verdict.GOOD


def test_no_question_means_no_regime() -> None:
    assert judged(fetch(1, 3), question=None).reason is Reason.NO_QUESTION


def test_no_source_is_unscorable() -> None:
    assert judged().reason is Reason.NO_SOURCES


@pytest.mark.parametrize("rule", list(FreshnessRule))
def test_the_score_falls_with_age(rule: FreshnessRule) -> None:
    policy = Policy(freshness=FreshnessPolicy(rule=rule))
    scores = [
        judged(fetch(1, days), text="As of then.", policy=policy).score
        for days in (0, 10, 30, 90, 900)
    ]
    assert scores == sorted(scores, key=lambda score: -(score or 0))


def test_a_stale_run_scores_lower_than_any_fresh_one() -> None:
    just_fresh = judged(fetch(1, 30)).score
    just_stale = judged(*(fetch(number, 30.1) for number in range(1, 6)), text="As of then.").score
    assert just_fresh is not None
    assert just_stale is not None
    assert just_stale <= 0.25 < 0.41 < just_fresh


def test_up_to_three_fresh_sources_are_better_than_one() -> None:
    fresh = [
        judged(*(fetch(number, 3) for number in range(1, count + 1))).score or 0
        for count in (1, 2, 3, 4)
    ]
    assert fresh[0] < fresh[1] < fresh[2] == fresh[3]


def test_the_line_says_why_the_question_has_its_regime_and_how_the_date_is_known() -> None:
    verdict = judged(fetch(1, 400, url="https://site-1.com/" + "very-long-path/" * 20))
    assert "fast (" in verdict.evidence
    assert "latest" in verdict.evidence
    assert "(json-ld)" in verdict.evidence
    assert len(verdict.evidence) <= 200


def test_the_three_checks_have_each_their_verdict() -> None:
    verdict = judged(fetch(1, 3), fetch(2, 40), fetch(3, 900))
    assert [check(verdict, rule.value) for rule in FreshnessRule] == [
        Verdict.GOOD,
        Verdict.BAD,
        Verdict.BAD,
    ]
