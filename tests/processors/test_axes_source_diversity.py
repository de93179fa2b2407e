"""Diversity: independent organisations, caps, copies, primary sources."""

import pytest

from seekwatch.core.model import Adapter, Answer, Citation, Fetch, Page
from seekwatch.core.policy import DiversityPolicy, Policy
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.testing import START
from seekwatch.core.verdicts import Check, Reason, Verdict
from seekwatch.processors.testing import score_trace
from tests.services.runs import episode

FACT = "When did the tram line open?"
SYNTHESIS = "Compare the trends in tram ridership across Europe"


def judged(
    *urls: str,
    question: str = FACT,
    texts: dict[str, str] | None = None,
    policy: Policy | None = None,
) -> AxisVerdict:
    fetches = tuple(
        Fetch(
            span=f"{index:016x}",
            start=START + index,
            end=START + index + 1,
            adapter=Adapter.FETCH,
            url=url,
            status=200,
            page=Page(text=(texts or {}).get(url, f"Only {url} says this about the {index} line.")),
        )
        for index, url in enumerate(dict.fromkeys(urls), 1)
    )
    citations = tuple(Citation(url=url) for url in urls)
    answer = Answer(text="It opened in 1998.", span="a" * 16, citations=citations)
    run = episode(question=question, fetches=fetches, answer=answer)
    return score_trace(run, policy=policy).axis(Axis.SOURCE_DIVERSITY)


def check(verdict: AxisVerdict, name: str) -> Check:
    return next(item for item in verdict.checks if item.name == name)


def test_a_fact_needs_two_domains() -> None:
    assert judged("https://a.com/1", "https://b.com/1").verdict is Verdict.GOOD
    verdict = judged("https://a.com/1", "https://news.a.com/2")
    assert verdict.verdict is Verdict.BAD
    assert verdict.tags == ("monoculture",)
    assert verdict.score == pytest.approx(0.5)
    assert "a.com" in verdict.evidence


def test_without_the_question_nobody_knows_how_many_sources_it_asks_for() -> None:
    verdict = judged("https://a.com/1", question="")
    assert (verdict.verdict, verdict.reason) == (Verdict.UNSCORABLE, Reason.NO_QUESTION)


def test_a_synthesis_needs_four() -> None:
    urls = [f"https://site-{letter}.com/" for letter in "abcd"]
    assert judged(*urls, question=SYNTHESIS).verdict is Verdict.GOOD
    verdict = judged(*urls[:3], question=SYNTHESIS)
    assert (verdict.verdict, verdict.notes["class"]) == (Verdict.BAD, "synthesis")


def test_domains_are_registrable_ones() -> None:
    verdict = judged("https://one.co.uk/", "https://two.co.uk/", "https://x.github.io/")
    assert verdict.measures["domains"] == 3


def test_one_domain_too_often_is_over_the_cap() -> None:
    verdict = judged("https://a.com/1", "https://a.com/2", "https://a.com/3", "https://b.com/1")
    assert verdict.tags == ("domain-cap",)
    assert "a.com is cited 3 times, cap 2" in verdict.evidence


@pytest.mark.parametrize(
    "question", ["What does wikipedia say about trams?", "trams site:wikipedia.org"]
)
def test_a_question_about_a_site_may_rest_on_it(question: str) -> None:
    urls = [f"https://en.wikipedia.org/wiki/{page}" for page in range(4)]
    verdict = judged(*urls, question=question)
    assert verdict.verdict is Verdict.GOOD
    assert verdict.notes["about"] == "wikipedia.org"


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("What time does the tram leave?", "https://time.com/"),
        ("Is python fun?", "https://python.org/"),
    ],
)
def test_a_common_word_names_no_site(question: str, url: str) -> None:
    assert judged(url, f"{url}2", question=question).tags == ("monoculture",)


def test_a_name_inside_the_question_names_its_site() -> None:
    verdict = judged("https://docs.python.org/3/", question="Which release of Python added match?")
    assert (verdict.verdict, verdict.notes["about"]) == (Verdict.GOOD, "python.org")


def test_domains_of_one_organisation_count_once() -> None:
    policy = Policy(diversity=DiversityPolicy(organisations={"b.com": "a.com"}))
    verdict = judged("https://a.com/1", "https://b.com/1", policy=policy)
    assert verdict.tags == ("monoculture",)


def test_a_copied_story_counts_once_and_its_origin_is_named() -> None:
    story = " ".join(f"Sentence {n} of the wire story on tram {n * 3}." for n in range(40))
    texts = {
        "https://wire.com/1": story,
        "https://copy.com/1": f"By our staff. {story} All rights reserved.",
    }
    verdict = judged(*texts, texts=texts)
    assert {"syndicated", "monoculture"} == set(verdict.tags)
    assert "https://wire.com/1" in check(verdict, "syndication").evidence
    assert verdict.measures["independent"] == 1


def test_two_stories_on_one_event_are_no_copies() -> None:
    texts = {
        f"https://paper-{n}.com/1": " ".join(
            f"The tram number {k * n} of the {n} line passed stop {k + n}." for k in range(40)
        )
        for n in (3, 5)
    }
    verdict = judged(*texts, texts=texts)
    assert verdict.verdict is Verdict.GOOD
    assert check(verdict, "syndication").verdict is Verdict.GOOD


def test_a_regulatory_question_needs_a_primary_source() -> None:
    question = "What are the visa requirements for Japan?"
    verdict = judged("https://blog-a.com/", "https://blog-b.com/", question=question)
    assert verdict.tags == ("no-primary",)
    assert verdict.score == 0
    assert (
        judged("https://www.mofa.go.jp/visa", "https://blog-b.com/", question=question).tags == ()
    )


def test_policy_names_further_primary_domains() -> None:
    policy = Policy(diversity=DiversityPolicy(primary_domains=frozenset({"blog-a.com"})))
    verdict = judged(
        "https://blog-a.com/",
        "https://blog-b.com/",
        question="Is it legal to film in public?",
        policy=policy,
    )
    assert verdict.verdict is Verdict.GOOD


def test_the_primary_check_is_asked_of_regulatory_questions_only() -> None:
    verdict = judged("https://a.com/1", "https://b.com/1")
    assert "primary" not in {item.name for item in verdict.checks}


def test_without_citations_the_read_pages_are_counted() -> None:
    fetch = Fetch(
        span="1" * 16,
        start=START,
        end=START + 1,
        adapter=Adapter.FETCH,
        url="https://a.com/",
        status=200,
        page=Page(text="text " * 20),
    )
    run = episode(question=FACT, fetches=(fetch,), answer=Answer(text="Yes.", span="a" * 16))
    verdict = score_trace(run).axis(Axis.SOURCE_DIVERSITY)
    assert (verdict.verdict, verdict.notes["sources"]) == (Verdict.BAD, "used")


def test_no_source_is_unscorable() -> None:
    assert judged().reason is Reason.NO_SOURCES


def test_concentration_is_reported() -> None:
    verdict = judged("https://a.com/1", "https://a.com/2", "https://b.com/1", "https://c.com/1")
    assert verdict.measures["top_share"] == pytest.approx(0.5)
    assert verdict.measures["concentration"] == pytest.approx(0.375)
