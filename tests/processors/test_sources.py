"""What is told of sources: copies, kinds, ages, and the class of the question that needs them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.model import Adapter, CacheState, Fetch, Validators
from seekwatch.core.testing import START
from seekwatch.processors.questions.classes import QuestionClass, class_of_question
from seekwatch.processors.sources.ages import date_in_url, stale_cache
from seekwatch.processors.sources.duplicates import copies, similarity
from seekwatch.processors.sources.source_kinds import is_primary_domain, is_regulatory, names_site
from seekwatch.processors.text.dates import iso_day

STORY = " ".join(
    f"Sentence {number} of the story tells of tram {number * 3}." for number in range(40)
)


def test_a_framed_cut_or_reordered_copy_is_a_copy() -> None:
    half = STORY[: len(STORY) // 2]
    assert similarity(STORY, f"By our staff. {STORY} Subscribe now.") > 95
    assert similarity(STORY, half) > 95
    assert similarity(half + STORY, STORY) > 95


def test_short_texts_are_copies_only_when_equal() -> None:
    assert similarity("Not found.", "Not found.") == 100
    assert similarity("Not found.", "Not found!") == 0
    assert similarity("", "") == 0


def test_a_copy_is_mapped_to_the_first_that_had_the_text() -> None:
    assert copies([STORY, None, "other words " * 30, STORY + " x", STORY], 50) == {3: 0, 4: 0}


@given(st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=6))
def test_no_text_copies_a_later_one(texts: list[str | None]) -> None:
    assert all(origin < copy for copy, origin in copies(texts, 50).items())


@pytest.mark.parametrize(
    ("host", "primary"),
    [
        ("www.sec.gov", True),
        ("ec.europa.eu", True),
        ("www.mofa.go.jp", True),
        ("stats.gov.cn", True),
        ("mit.edu", True),
        ("ox.ac.uk", True),
        ("www.who.int", True),
        ("gov.example.com", False),
        ("edu-news.com", False),
        ("nytimes.com", False),
    ],
)
def test_public_bodies_are_primary_by_their_domain(host: str, primary: bool) -> None:
    assert is_primary_domain(host) is primary


@pytest.mark.parametrize(
    ("question", "regulatory"),
    [
        ("Is it legal to fly a drone at night?", True),
        ("办理日本签证需要什么材料", True),
        ("Who won the match?", False),
    ],
)
def test_questions_about_rules_are_regulatory(question: str, regulatory: bool) -> None:
    assert is_regulatory(question) is regulatory


def test_a_site_is_named_by_its_domain_or_as_a_name() -> None:
    assert names_site("what is new on github", "github.com")
    assert names_site("Is example.org down?", "example.org")
    assert names_site("Which phone did Samsung announce?", "samsung.com")
    assert not names_site("what time is it", "time.com")
    assert not names_site("Is notexample.org down?", "example.org")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("When did the tram open?", QuestionClass.FACTUAL),
        ("Compare trams and buses", QuestionClass.SYNTHESIS),
        ("What are the main causes of delays?", QuestionClass.SYNTHESIS),
        ("电动车和燃油车的优缺点对比", QuestionClass.SYNTHESIS),
        ("法国首都是哪里", QuestionClass.FACTUAL),
    ],
)
def test_the_class_of_a_question(question: str, found: QuestionClass) -> None:
    assert class_of_question(question) is found


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://a.com/2026/03/14/x", "2026-03-14"),
        ("https://a.com/news-20260314.html", "2026-03-14"),
        ("https://a.com/2026/03/x", "2026-03-01"),
        ("https://a.com/2026/13/45/", None),
        ("https://a.com/item/20269914", None),
        ("https://a.com/2026", None),
    ],
)
def test_a_date_in_an_address(url: str, day: str | None) -> None:
    found = date_in_url(url)
    assert (None if found is None else iso_day(found.at)) == day


def cached(status: int = 200, state: CacheState | None = None, **headers: str) -> str | None:
    fetch = Fetch(
        span="1" * 16,
        start=START,
        end=START,
        adapter=Adapter.FETCH,
        url="https://a.com/",
        status=status,
        cache_state=state,
        validators=Validators(**headers),
    )
    return stale_cache(fetch)


def test_a_cached_page_is_stale_past_its_lifetime_unless_revalidated() -> None:
    assert cached(age="90", cache_control="max-age=60")
    assert cached(age="90", cache_control="private, s-maxage=60")
    assert cached(
        age="90", date="Mon, 21 Sep 2026 14:00:00 GMT", expires="Mon, 21 Sep 2026 14:01:00 GMT"
    )
    assert cached(state=CacheState.STALE)
    assert not cached(age="30", cache_control="max-age=60")
    assert not cached(age="90", cache_control="max-age=60", status=304)
    assert not cached(age="90", cache_control="max-age=60", state=CacheState.REVALIDATED)
    assert not cached(age="90")
    assert not cached(age="soon", cache_control="max-age=x")
