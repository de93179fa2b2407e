"""Cost: the gateway's word, else the price table; what is unknown is not zero."""

from typing import Any

import pytest

from seekwatch.core.model import Generation, Search
from seekwatch.core.policy import ModelPrice, PricePolicy
from seekwatch.core.scorecard import Cost
from seekwatch.core.testing import START
from seekwatch.processors.runs.cost import cost, price_of
from tests.services.runs import episode

PRICES = PricePolicy(
    models={
        "local": ModelPrice(input=1.0, output=4.0, cached_input=0.5),
        "local-mini": ModelPrice(input=0.1, output=0.4),
    },
    searches={"tavily": 0.008},
)


def priced(*calls: Generation, prices: PricePolicy = PRICES, **fields: Any) -> Cost:
    return cost(episode(generations=calls, **fields), prices)


def call(**fields: Any) -> Generation:
    values: dict[str, Any] = {"span": "1" * 16, "start": START, "end": START, "model": "local"}
    return Generation(**{**values, **fields})


def search(provider: str | None) -> Search:
    return Search(span="2" * 16, start=START, end=START, provider=provider)


def test_tokens_times_prices() -> None:
    found = priced(call(input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=10_000))
    assert found.total == pytest.approx(0.6 + 0.2 + 0.04)


def test_the_gateways_cost_wins_and_its_zero_is_a_zero() -> None:
    assert priced(call(cost=0.5, input_tokens=9, output_tokens=9)).total == 0.5
    assert priced(call(cost=0.0)).total == 0.0


def test_a_providers_name_before_the_models_is_left_out_where_it_has_no_price() -> None:
    assert price_of("openai/local-2026", PRICES) == PRICES.models["local"]
    own = PricePolicy(
        models={"a/local": ModelPrice(input=9, output=9), "local": PRICES.models["local"]}
    )
    assert price_of("a/local", own) == own.models["a/local"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "usage:local"),
        ({"input_tokens": 0, "output_tokens": 0}, "usage:local"),
        ({"model": "other", "input_tokens": 5}, "model:other"),
        ({"model": None, "input_tokens": 5}, "model:unknown"),
        ({"cost": float("nan")}, "usage:local"),
        ({"error": "timeout", "time_to_first_token": 0.2}, "usage:local"),
    ],
)
def test_what_has_no_price_makes_the_total_unknown(fields: dict[str, Any], why: str) -> None:
    found = priced(call(**fields), call(cost=1.0))
    assert (found.total, found.model, found.unpriced) == (None, 1.0, (why,))


def test_a_part_of_which_nothing_is_known_is_unknown_and_not_0() -> None:
    strict = PRICES.model_copy(update={"unpriced_searches_are_free": False})
    found = priced(call(model="other", input_tokens=5), searches=(search("x"),), prices=strict)
    assert (found.total, found.model, found.search) == (None, None, None)


def test_a_call_that_failed_before_its_first_token_is_free() -> None:
    assert priced(call(error="rate_limit"), call(cost=1.0)).total == 1.0


def test_a_run_without_a_model_call_has_an_unknown_cost() -> None:
    assert priced().total is None
    assert priced().unpriced == ("model:none-seen",)


def test_searches_have_prices_too() -> None:
    found = priced(call(cost=0.1), searches=(search("tavily"), search("free")))
    assert (found.search, found.total) == (0.008, 0.108)
    strict = PRICES.model_copy(update={"unpriced_searches_are_free": False})
    found = priced(call(cost=0.1), searches=(search("free"), search(None)), prices=strict)
    assert found.total is None
    assert found.unpriced == ("search:free", "search:unknown")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("local", 1.0),
        ("local-2026-01-01", 1.0),
        ("local-mini-2026", 0.1),
        ("locality", None),
        (None, None),
    ],
)
def test_a_dated_variant_has_the_price_of_the_longest_name_it_begins_with(
    model: str | None, expected: float | None
) -> None:
    price = price_of(model, PRICES)
    assert (None if price is None else price.input) == expected


def test_hostile_token_counts_never_make_a_negative_cost() -> None:
    found = priced(call(input_tokens=10, output_tokens=-5, cached_input_tokens=10**9))
    assert found.total is not None
    assert found.total >= 0
