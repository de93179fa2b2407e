"""Escalations: steps up the ladder for one target."""

from typing import Any

from seekwatch.core.model import Adapter, Fetch
from seekwatch.core.testing import START
from seekwatch.processors.runs.escalation import escalations
from tests.services.runs import episode


def steps(*attempts: tuple[str, Adapter]) -> list[tuple[str, str, int]]:
    fetches = tuple(_fetch(number, url, adapter) for number, (url, adapter) in enumerate(attempts))
    found = escalations(episode(fetches=fetches))
    return [(step.source, step.target, step.count) for step in found]


def _fetch(number: int, url: str, adapter: Adapter) -> Fetch:
    values: dict[str, Any] = {
        "span": f"{number:016x}",
        "start": START + number,
        "end": START + number,
    }
    return Fetch(url=url, adapter=adapter, **values)


A, B = "https://a.com/x", "https://b.com/y"


def test_a_stronger_adapter_for_the_same_page_is_one_step() -> None:
    assert steps((A, Adapter.FETCH), (A, Adapter.BROWSER)) == [("fetch", "browser", 1)]


def test_spellings_of_one_page_are_one_target() -> None:
    assert steps((A, Adapter.FETCH), ("http://www.a.com/x/", Adapter.STEALTH)) == [
        ("fetch", "stealth", 1)
    ]


def test_another_page_is_another_target() -> None:
    assert steps((A, Adapter.FETCH), (B, Adapter.BROWSER)) == []


def test_going_down_or_staying_is_no_step() -> None:
    assert steps((A, Adapter.BROWSER), (A, Adapter.FETCH), (A, Adapter.BROWSER)) == []


def test_each_step_counts_from_the_strongest_before() -> None:
    assert steps((A, Adapter.CACHE), (A, Adapter.FETCH), (A, Adapter.STEALTH)) == [
        ("cache", "fetch", 1),
        ("fetch", "stealth", 1),
    ]


def test_steps_of_several_targets_are_added_up() -> None:
    assert steps(
        (A, Adapter.FETCH), (B, Adapter.FETCH), (A, Adapter.BROWSER), (B, Adapter.BROWSER)
    ) == [("fetch", "browser", 2)]
