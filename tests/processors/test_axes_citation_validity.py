"""Citations: seen, resolving, on a page worth citing, with the passage and the claim on it."""

from typing import Any

import pytest

from seekwatch.core.evidence import LinkCheck, TruthRecord
from seekwatch.core.model import Answer, Citation, Completeness
from seekwatch.core.policy import CitationPolicy, Policy
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.testing import START, TraceBuilder, result
from seekwatch.core.verdicts import Check, Reason, Verdict
from seekwatch.processors.testing import score_trace
from tests.services import pages
from tests.services.pages import article
from tests.services.runs import (
    FIRST,
    FIRST_FACT,
    SECOND,
    answered,
    episode,
    good_run,
    read,
    searched,
)


def axis_of(trace: TraceBuilder, **options: Any) -> AxisVerdict:
    return score_trace(trace, **options).axis(Axis.CITATION_VALIDITY)


def named(verdict: AxisVerdict, name: str) -> list[Check]:
    return [check for check in verdict.checks if check.name == name]


def one_page(
    html: str | None, *, text: str = FIRST_FACT, quote: str | None = None, **fetch: Any
) -> AxisVerdict:
    """The axis of a run that fetched and cites one page."""
    citation = {} if quote is None else {"quote": quote}
    return axis_of(answered(searched().fetch(FIRST, html=html, **fetch), text, [FIRST], **citation))


def link(url: str, state: str, **fields: Any) -> LinkCheck:
    return LinkCheck(url=url, at=START, source="link-checker", revision="1", state=state, **fields)


def test_a_good_run_has_valid_citations() -> None:
    verdict = axis_of(good_run())
    assert (verdict.verdict, verdict.score) == (Verdict.GOOD, 1.0)
    assert verdict.evidence == "2 of 2 cited pages hold, 2 of 2 cited claims supported"


def test_an_address_that_was_never_seen_is_fabricated() -> None:
    verdict = axis_of(answered(read(searched()), urls=[FIRST, "https://made-up.org/zephyr"]))
    assert verdict.verdict is Verdict.BAD
    assert verdict.tags == ("fabricated-url",)
    assert "https://made-up.org/zephyr" in verdict.evidence


@pytest.mark.parametrize(
    "url",
    [
        "http://www.zephyr-news.org/releases/",
        "https://ZEPHYR-NEWS.org/releases?utm_source=agent#top",
    ],
)
def test_another_spelling_of_a_seen_address_is_seen(url: str) -> None:
    verdict = axis_of(answered(read(searched()), FIRST_FACT, [url]))
    assert verdict.verdict is Verdict.GOOD
    assert verdict.tags == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"completeness": Completeness(missing_parents=1)},
        {"completeness": Completeness(truncated_spans=3)},
    ],
)
def test_in_an_incomplete_trace_nothing_is_called_fabricated(fields: dict[str, Any]) -> None:
    answer = Answer(text="It is 4.2.", span="a" * 16, citations=(Citation(url="https://a.com/x"),))
    verdict = score_trace(episode(answer=answer, **fields)).axis(Axis.CITATION_VALIDITY)
    assert (verdict.verdict, verdict.tags) == (Verdict.UNSCORABLE, ())


def test_when_results_could_not_be_read_nothing_is_called_fabricated() -> None:
    builder = TraceBuilder("finder").agent("q?").search("q", None, unread_reason="too-large")
    verdict = axis_of(answered(builder, "It is Zephyr 4.2.", ["https://a.com/x"]))
    assert verdict.verdict is Verdict.UNSCORABLE


def test_without_any_search_or_fetch_a_citation_cannot_be_judged() -> None:
    builder = TraceBuilder("finder").agent("q?")
    verdict = axis_of(answered(builder, "It is Zephyr 4.2.", ["https://a.com/x"]))
    assert named(verdict, "seen")[0].reason is Reason.NO_SOURCES


def test_an_address_that_the_user_gave_is_seen() -> None:
    builder = TraceBuilder("finder").agent("Sum up https://a.com/x please").search("a.com x", [])
    verdict = axis_of(answered(builder, "It is Zephyr 4.2.", ["https://a.com/x"]))
    assert named(verdict, "seen")[0].verdict is Verdict.GOOD


@pytest.mark.parametrize("status", [404, 410, 500, 503])
def test_a_page_that_the_agent_saw_fail_is_dead(status: int) -> None:
    verdict = one_page(None, status=status)
    assert verdict.verdict is Verdict.BAD
    assert "dead-link" in verdict.tags
    assert str(status) in verdict.evidence


def test_a_host_that_does_not_exist_is_dead() -> None:
    verdict = one_page(None, status=None, error="name_not_resolved")
    assert "dead-link" in verdict.tags


@pytest.mark.parametrize("status", [401, 403, 429, 451])
def test_a_refusal_to_the_agent_is_unscorable(status: int) -> None:
    verdict = one_page(None, status=status, text="Read more on this.")
    assert (verdict.verdict, verdict.reason) == (Verdict.UNSCORABLE, Reason.ACCESS_DENIED)


def test_quoting_a_page_that_denied_access_is_bad() -> None:
    verdict = one_page(None, status=403, quote="a sentence that nobody could have read there")
    assert verdict.verdict is Verdict.BAD
    assert "passage-missing" in verdict.tags


def test_quoting_the_snippet_of_a_page_that_denied_access_is_good() -> None:
    verdict = one_page(None, status=403, quote=FIRST_FACT)
    assert named(verdict, "passage")[0].verdict is Verdict.GOOD


def test_a_timeout_is_unscorable() -> None:
    verdict = one_page(None, status=None, error="timeout", text="Read more on this.")
    assert verdict.reason is Reason.UNREACHABLE


def test_a_retry_that_worked_is_what_counts() -> None:
    builder = searched().fetch(FIRST, status=503).fetch(FIRST, html=article(FIRST_FACT))
    assert axis_of(answered(builder, FIRST_FACT, [FIRST])).verdict is Verdict.GOOD


def test_the_link_check_answers_for_what_was_not_fetched() -> None:
    trace = answered(searched(), FIRST_FACT, [FIRST])
    dead = axis_of(trace, links=(link(FIRST, "dead", status=404),))
    assert (dead.verdict, "dead-link" in dead.tags) == (Verdict.BAD, True)
    alive = axis_of(trace, links=(link(FIRST, "resolves", status=200),))
    assert alive.verdict is Verdict.GOOD
    unknown = axis_of(trace, links=(link(FIRST, "unknown", status=403),))
    assert named(unknown, "resolves")[0].reason is Reason.NOT_FETCHED
    moved = axis_of(trace, links=(link(FIRST, "moved", final_url="https://parking.net/"),))
    assert "cross-domain-redirect" in moved.tags


def test_the_agents_own_fetch_goes_before_the_link_check() -> None:
    trace = answered(searched().fetch(FIRST, html=article(FIRST_FACT)), FIRST_FACT, [FIRST])
    assert axis_of(trace, links=(link(FIRST, "dead", status=404),)).verdict is Verdict.GOOD


def test_a_redirect_to_another_domain_is_bad() -> None:
    verdict = one_page(
        article(FIRST_FACT),
        final_url="https://parking.net/offers",
        hops=[(FIRST, 301, "https://parking.net/offers")],
    )
    assert verdict.verdict is Verdict.BAD
    assert verdict.tags == ("cross-domain-redirect",)


def test_a_redirect_inside_the_domain_is_good() -> None:
    final = "https://www.zephyr-news.org/en/releases"
    verdict = one_page(article(FIRST_FACT), final_url=final, hops=[(FIRST, 301, final)])
    assert verdict.verdict is Verdict.GOOD


def test_a_redirector_may_lead_elsewhere() -> None:
    url, final = "https://doi.org/10.1000/1", "https://journal.com/article"
    builder = TraceBuilder("finder").agent("q?").search("q", [result(url)])
    builder.fetch(url, html=article(FIRST_FACT), final_url=final, hops=[(url, 302, final)])
    assert axis_of(answered(builder, FIRST_FACT, [url])).verdict is Verdict.GOOD


@pytest.mark.parametrize(
    ("html", "tag"),
    [
        (pages.LOGIN, "login-wall"),
        (pages.CHALLENGE, "challenge-cited"),
        (pages.SOFT_404, "soft-404"),
        (pages.CONSENT, "consent-wall"),
        (pages.JS_SHELL, "empty-body"),
        (pages.EMPTY, "empty-body"),
        (pages.PARKED, "soft-404"),
    ],
)
def test_a_page_that_answers_200_and_says_no_is_bad(html: str, tag: str) -> None:
    verdict = one_page(html)
    assert verdict.verdict is Verdict.BAD
    assert tag in verdict.tags
    assert named(verdict, "page-kind")[0].verdict is Verdict.BAD


def test_a_page_that_was_not_captured_is_no_fault() -> None:
    verdict = one_page(None, text="Read more on this.", omitted="capture-off")
    assert named(verdict, "page-kind")[0].reason is Reason.NO_PAGE
    assert verdict.verdict is Verdict.GOOD


QUOTE = "The council approved 42 trams on Monday and did not raise the fare"


@pytest.mark.parametrize(
    "quote",
    [
        QUOTE,
        QUOTE.upper(),
        "council approved 42 trams",
        "The council … did not raise the fare",
        "The council approved  42 trams on Monday and did not  raise the fare",
    ],
)
def test_a_quotation_is_found_in_any_typography(quote: str) -> None:
    verdict = one_page(article(QUOTE), text="The council approved 42 trams.", quote=quote)
    assert named(verdict, "passage")[0].verdict is Verdict.GOOD


@pytest.mark.parametrize(
    "quote",
    [
        QUOTE.replace("42", "43"),
        QUOTE.replace("did not raise", "did raise"),
        QUOTE.replace("council", "mayor"),
        "Trams on Monday approved the council",
    ],
)
def test_a_changed_number_negation_or_name_is_no_quotation(quote: str) -> None:
    verdict = one_page(article(QUOTE), text="The council approved 42 trams.", quote=quote)
    assert verdict.verdict is Verdict.BAD
    assert "passage-missing" in verdict.tags


def test_a_quotation_from_another_page_of_the_run_is_a_mismatch() -> None:
    builder = read(searched())
    verdict = axis_of(answered(builder, FIRST_FACT, [SECOND], quote=FIRST_FACT))
    assert "citation-mismatch" in verdict.tags
    assert FIRST in named(verdict, "passage")[0].evidence


def test_a_quotation_beyond_the_captured_part_is_unscorable() -> None:
    verdict = one_page(
        article(FIRST_FACT), truncated=True, quote="a sentence far below in this long page"
    )
    assert named(verdict, "passage")[0].reason is Reason.TRUNCATED


def test_a_claim_whose_number_is_not_on_the_page_is_unsupported() -> None:
    verdict = one_page(article(FIRST_FACT), text="Zephyr 5.7 is the latest stable version [1].")
    assert verdict.verdict is Verdict.BAD
    assert "unsupported-claim" in verdict.tags
    assert "lacks 5.7" in verdict.evidence


def test_a_chinese_claim_is_compared_without_spaces() -> None:
    page = article("该桥于1932年3月正式开放，历时八年建成，耗资巨大。" * 8)
    good = one_page(page, text="该桥于1932年3月开放，历时八年建成。[1]")
    assert named(good, "support")[0].verdict is Verdict.GOOD
    bad = one_page(page, text="企鹅在冰冷海滩捕食鲱鱼，数量达到4500只。[1]")
    assert named(bad, "support")[0].verdict is Verdict.BAD


def test_few_cited_claims_are_bad() -> None:
    text = (
        f"{FIRST_FACT} Zephyr was founded by three engineers in Oslo. Its community counts "
        "many thousand members. The project moved to a new licence in spring."
    )
    builder = searched().fetch(FIRST, html=article(FIRST_FACT))
    verdict = axis_of(
        answered(builder, text, [FIRST], start=len(FIRST_FACT) - 1, end=len(FIRST_FACT))
    )
    assert "uncited-claim" in verdict.tags
    assert "1 of 4 claims have a citation" in named(verdict, "claims-cited")[0].evidence


def test_an_answer_from_web_sources_without_a_citation_is_bad() -> None:
    verdict = axis_of(answered(read(searched()), "It is Zephyr 4.2.", []))
    assert (verdict.verdict, verdict.score, verdict.tags) == (Verdict.BAD, 0.0, ("uncited-claim",))
    policy = Policy(citation=CitationPolicy(require_citations=False))
    lenient = axis_of(answered(read(searched()), "It is Zephyr 4.2.", []), policy=policy)
    assert lenient.reason is Reason.NO_CITATIONS


def test_an_answer_from_memory_without_a_citation_is_unscorable() -> None:
    verdict = axis_of(answered(TraceBuilder("finder").agent("q?"), "It is Zephyr 4.2.", []))
    assert verdict.reason is Reason.NO_CITATIONS


def test_a_refusal_needs_no_citation() -> None:
    verdict = axis_of(answered(searched(), "I'm sorry, I can't help with that.", []))
    assert verdict.reason is Reason.NOT_APPLICABLE


def test_a_snippet_citation_is_tagged_and_policy_makes_it_bad() -> None:
    trace = answered(searched(), FIRST_FACT, [FIRST])
    assert (axis_of(trace).verdict, axis_of(trace).tags) == (Verdict.GOOD, ("snippet-citation",))
    policy = Policy(citation=CitationPolicy(require_fetch=True))
    assert axis_of(trace, policy=policy).verdict is Verdict.BAD


def test_one_bad_citation_among_good_ones_makes_the_axis_bad_and_lowers_the_score() -> None:
    builder = searched().fetch(FIRST, html=article(FIRST_FACT)).fetch(SECOND, status=404)
    verdict = axis_of(answered(builder, FIRST_FACT, [FIRST, SECOND]))
    assert verdict.verdict is Verdict.BAD
    assert verdict.score == pytest.approx(0.5)


def test_a_source_outside_the_allowed_ones_is_bad() -> None:
    truth = TruthRecord(case="c", allowed_sources=("zephyr-news.org",))
    assert "source-not-allowed" in axis_of(good_run(), truth=truth).tags


def test_no_answer_is_unscorable() -> None:
    assert axis_of(searched().stop("crashed")).reason is Reason.NO_ANSWER


def test_a_flood_of_citations_stays_bounded() -> None:
    urls = [f"https://flood-{number}.com/" for number in range(3_000)]
    verdict = axis_of(answered(searched(), "Zephyr 4.2 is out.", urls))
    assert verdict.verdict is Verdict.BAD
    assert len(verdict.checks) <= 120


def test_the_date_and_the_title_of_a_page_support_what_is_said_of_it() -> None:
    url = "https://daily-builds.net/zephyr"
    card = score_trace(
        TraceBuilder("finder")
        .agent("Which Zephyr is the latest?")
        .search("latest Zephyr", [result(url, published="2023-08-15")])
        .fetch(url, html=article("Zephyr is out, and it is the latest.", title="Release 4.2"))
        .answer(f"As of August 2023 the latest Zephyr was release 4.2 [builds]({url}).")
    )
    assert card.axis(Axis.CITATION_VALIDITY).verdict is Verdict.GOOD


def test_the_line_of_a_good_verdict_tells_what_could_not_be_judged() -> None:
    trace = answered(searched().fetch(FIRST, html=article(FIRST_FACT)).fetch(SECOND, status=403))
    verdict = score_trace(trace).axis(Axis.CITATION_VALIDITY)
    assert verdict.verdict is Verdict.GOOD
    assert verdict.evidence.startswith("1 of 1 cited pages hold, 1 more could not be judged")


def test_the_line_without_a_page_that_could_be_judged_does_not_read_like_a_failure() -> None:
    trace = answered(searched().fetch(FIRST, status=403).fetch(SECOND, status=403))
    verdict = score_trace(trace).axis(Axis.CITATION_VALIDITY)
    assert verdict.verdict is not Verdict.BAD
    assert "0 of" not in verdict.evidence
