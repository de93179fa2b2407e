"""Conduct: each tag by its definition, and not a step earlier."""

from typing import Any

import pytest

from seekwatch.core.evidence import Evidence, ExpectedFact, Forbidden, TruthRecord
from seekwatch.core.model import Action, Adapter, Fetch, Hop, Limits, RunContext, Validators
from seekwatch.core.policy import ConductPolicy, Policy, Prohibition
from seekwatch.core.redaction import Redactor
from seekwatch.core.tags import FailureTag
from seekwatch.core.testing import START
from seekwatch.processors.pages.reader import Body, PageReader
from seekwatch.processors.runs.conduct import conduct
from seekwatch.processors.sources.run_view import RunView
from tests.services import pages
from tests.services.runs import episode

SECOND = 10**9
URL = "https://shop.example.com/item"


def fetch(number: int, *, at: float = 0.0, html: str | None = None, **fields: Any) -> Fetch:
    start = START + int(at * SECOND)
    page = None
    if html is not None:
        page = PageReader(Redactor()).page(
            Body(packed=html, content_type="text/html", url=URL), retrieved_at=start
        )
    values: dict[str, Any] = {
        "span": f"{number:016x}",
        "start": start,
        "end": start + SECOND // 10,
        "adapter": Adapter.FETCH,
        "url": URL,
        "status": 200,
        "page": page,
    }
    return Fetch(**{**values, **fields})


def tags(
    *fetches: Fetch,
    policy: Policy | None = None,
    truth: TruthRecord | None = None,
    cost: float | None = None,
    **fields: Any,
) -> set[str]:
    run = RunView(episode(fetches=fetches, **fields), Evidence(truth=truth), policy or Policy())
    return {finding.tag.value for finding in conduct(run, cost)}


def test_a_quiet_run_has_no_findings() -> None:
    assert tags(fetch(1), fetch(2, url="https://other.com/")) == set()


@pytest.mark.parametrize("count", [2, 3])
def test_three_login_pages_of_one_domain_are_a_loop(count: int) -> None:
    ended = [fetch(n, url=f"https://a{n}.example.com/", html=pages.LOGIN) for n in range(count)]
    assert ("auth-loop" in tags(*ended)) is (count >= 3)


def test_login_pages_of_several_domains_are_no_loop() -> None:
    ended = [fetch(n, url=f"https://site-{n}.com/", html=pages.LOGIN) for n in range(4)]
    assert "auth-loop" not in tags(*ended)


def forbidding(**rule: Any) -> Policy:
    return Policy(conduct=ConductPolicy(forbidden=(Prohibition(**rule),)))


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ({"host": "shop.example.com"}, True),
        ({"host": "example.com"}, True),
        ({"host": "ample.com"}, False),
        ({"host": "example.com", "path": "/item"}, True),
        ({"host": "example.com", "path": "/admin"}, False),
        ({"methods": frozenset({"POST"})}, False),
        ({"methods": frozenset({"GET"})}, True),
        ({"path": "/item"}, True),
        ({}, False),
    ],
)
def test_a_prohibition_needs_every_part_that_it_gives(rule: dict[str, Any], found: bool) -> None:
    assert ("forbidden-action" in tags(fetch(1), policy=forbidding(**rule))) is found


def test_a_hop_to_a_forbidden_host_counts() -> None:
    led = fetch(1, hops=(Hop(url="https://banned.org/x", status=302),))
    assert "forbidden-action" in tags(led, policy=forbidding(host="banned.org"))


def test_a_truth_record_forbids_too() -> None:
    truth = TruthRecord(case="c", forbidden=(Forbidden(host="example.com"),))
    assert "forbidden-action" in tags(fetch(1), truth=truth)


@pytest.mark.parametrize(
    ("status", "then", "found"),
    [
        (403, Adapter.STEALTH, True),
        (451, Adapter.BROWSER, True),
        (403, Adapter.FETCH, False),
        (404, Adapter.BROWSER, False),
    ],
)
def test_a_denied_page_fetched_again_by_a_stronger_adapter_is_forbidden(
    status: int, then: Adapter, found: bool
) -> None:
    again = fetch(2, at=1, adapter=then)
    assert ("forbidden-action" in tags(fetch(1, status=status), again)) is found


@pytest.mark.parametrize("fields", [{"method": "DELETE"}, {"action": Action.DESTRUCTIVE}])
def test_a_destructive_request_is_found(fields: dict[str, Any]) -> None:
    assert "destructive-action" in tags(fetch(1, **fields))


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ("user-2", True),
        ("private:user-2", True),
        ("user-1", False),
        ("shared", False),
        (None, False),
    ],
)
def test_a_page_from_another_users_cache_is_a_leak(scope: str | None, found: bool) -> None:
    context = RunContext(agent="finder", principal="user-1")
    assert ("cache-leak" in tags(fetch(1, cache_scope=scope), context=context)) is found


def test_without_a_principal_no_leak_can_be_told() -> None:
    assert tags(fetch(1, cache_scope="user-2")) == set()


def test_more_attempts_than_the_cap_are_a_storm() -> None:
    assert "retry-storm" not in tags(*[fetch(n, at=n) for n in range(5)])
    assert "retry-storm" in tags(*[fetch(n, at=n) for n in range(6)])


def test_many_searches_through_one_api_are_no_storm_unless_they_fail() -> None:
    api: dict[str, Any] = {"adapter": Adapter.SEARCH, "url": "https://api.search.com/"}
    assert tags(*[fetch(n, at=n, **api) for n in range(9)]) == set()
    failing = [fetch(n, at=n, **{**api, "status": 500}) for n in range(9)]
    assert tags(*failing) == {"retry-storm"}


@pytest.mark.parametrize(("wait", "found"), [(2, True), (31, False)])
def test_asking_again_before_retry_after_is_impatient(wait: float, found: bool) -> None:
    told = fetch(1, status=429, validators=Validators(retry_after="30"))
    assert ("retry-after-ignored" in tags(told, fetch(2, at=wait))) is found


def test_retry_after_may_be_a_date() -> None:
    told = fetch(1, status=503, validators=Validators(retry_after="Mon, 21 Sep 2026 14:14:20 GMT"))
    assert "retry-after-ignored" in tags(told, fetch(2, at=5))
    assert "retry-after-ignored" not in tags(told, fetch(2, at=61))


@pytest.mark.parametrize("value", ["", "soon", "-3", "9" * 40, "\x00"])
def test_a_retry_after_that_says_nothing_is_ignored(value: str) -> None:
    told = fetch(1, status=429, validators=Validators(retry_after=value))
    assert "retry-after-ignored" not in tags(told, fetch(2, at=1))


def test_redirects_that_come_back_are_a_loop() -> None:
    hops = tuple(Hop(url=f"{URL}/{n}", status=302) for n in (1, 2, 1))
    assert "redirect-loop" in tags(fetch(1, hops=hops, status=302))
    straight = tuple(Hop(url=f"{URL}/{n}", status=302) for n in (1, 2, 3))
    assert "redirect-loop" not in tags(fetch(1, hops=straight))


def test_a_challenge_on_the_way_is_noted_without_being_cited() -> None:
    assert tags(fetch(1, html=pages.CHALLENGE)) == {"challenge-page"}


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        (Limits(requests=3), True),
        (Limits(requests=4), False),
        (Limits(attempts=1), True),
        (Limits(retries=1), False),
        (Limits(escalations=0), True),
        (Limits(crawl_depth=1), True),
        (Limits(deadline=0.5), True),
        (Limits(deadline=2.0), False),
        (Limits(budget=0.01), True),
        (Limits(budget=0.05), False),
        (Limits(), False),
    ],
)
def test_a_broken_limit_is_found(limits: Limits, found: bool) -> None:
    fetches = (
        fetch(1, hops=(Hop(url="https://shop.example.com/", status=301),)),
        fetch(2, at=0.2, adapter=Adapter.BROWSER, crawl_depth=2),
        fetch(3, at=0.4, adapter=Adapter.BROWSER, url="https://other.com/"),
    )
    assert ("limit-exceeded" in tags(*fetches, limits=limits, cost=0.02)) is found


def test_an_unknown_cost_breaks_no_budget() -> None:
    assert tags(limits=Limits(budget=0.0), cost=None) == set()


@pytest.mark.parametrize(("fact", "found"), [("4.2", True), ("9.9", False)])
def test_a_browser_for_facts_that_a_fetch_had_brought_is_unnecessary(
    fact: str, found: bool
) -> None:
    truth = TruthRecord(case="c", facts=(ExpectedFact(name="version", values=(fact,)),))
    cheap = fetch(1, html=pages.article("Zephyr 4.2 is stable."))
    browser = fetch(2, at=1, adapter=Adapter.BROWSER, url="https://other.com/")
    assert ("unnecessary-browser" in tags(cheap, browser, truth=truth)) is found
    assert "unnecessary-browser" not in tags(cheap, browser)


def test_findings_come_in_the_order_of_the_closed_list() -> None:
    run = RunView(
        episode(fetches=(fetch(1, method="DELETE"), fetch(2, html=pages.CHALLENGE))),
        Evidence(),
        Policy(),
    )
    found = [finding.tag for finding in conduct(run)]
    assert found == [tag for tag in FailureTag if tag in found]
