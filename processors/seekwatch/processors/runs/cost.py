"""What a run cost, where that is known: unknown is not zero.

What the gateway reported wins; else tokens times the policy's price. A call without a price or
without usage (a streamed one whose usage was never sent, or zeros in its place) makes the total
unknown, and its name is told.
"""

import math
from collections.abc import Iterable
from typing import Final

from seekwatch.core.model import Episode, Generation, Search
from seekwatch.core.policy import ModelPrice, PricePolicy
from seekwatch.core.scorecard import Cost

_PER: Final = 1_000_000
_MAX_UNPRICED: Final = 10
_NAME_LENGTH: Final = 80


def cost(episode: Episode, prices: PricePolicy) -> Cost:
    """Price one run.

    A run without any model call has an unknown cost: an agent has a model, and it was not seen. A
    model call that failed before its first token and reports no usage is free of charge.
    """
    unpriced: dict[str, None] = {}
    models: list[float] = []
    searches: list[float] = []
    for generation in episode.generations:
        amount, why = generation_cost(generation, prices)
        if amount is not None:
            models.append(amount)
        if why is not None:
            unpriced[why] = None
    if not episode.generations:
        unpriced["model:none-seen"] = None
    for call in episode.searches:
        amount = search_cost(call, prices)
        if amount is not None:
            searches.append(amount)
        else:
            unpriced[f"search:{(call.provider or 'unknown')[:_NAME_LENGTH]}"] = None
    return Cost(
        total=None if unpriced else _sum([*models, *searches]),
        model=_sum(models) if models else None,
        search=_sum(searches) if searches else None,
        unpriced=tuple(sorted(unpriced)[:_MAX_UNPRICED]),
    )


def generation_cost(generation: Generation, prices: PricePolicy) -> tuple[float | None, str | None]:
    """US dollars of one model call, or None and the name of what is missing."""
    if generation.cost is not None and math.isfinite(generation.cost) and generation.cost >= 0:
        return generation.cost, None
    name = (generation.model or "unknown")[:_NAME_LENGTH]
    used = (generation.input_tokens or 0) + (generation.output_tokens or 0)
    if used <= 0:
        if generation.error is not None and generation.time_to_first_token is None:
            return 0.0, None
        return None, f"usage:{name}"
    price = price_of(generation.model, prices)
    if price is None:
        return None, f"model:{name}"
    cached = min(max(generation.cached_input_tokens or 0, 0), generation.input_tokens or 0)
    cached_price = price.input if price.cached_input is None else price.cached_input
    fresh = max((generation.input_tokens or 0) - cached, 0)
    output = max(generation.output_tokens or 0, 0)
    return (fresh * price.input + cached * cached_price + output * price.output) / _PER, None


def price_of(model: str | None, prices: PricePolicy) -> ModelPrice | None:
    """The price of a model: its own, else that of the longest name that it is a variant of.

    Gateways put their provider's name before a model's (`openai/gpt-4o`); where the whole name has
    no price, the part behind the last slash has its own.
    """
    if model is None:
        return None
    for name in (model, model.rpartition("/")[2]):
        if name in prices.models:
            return prices.models[name]
        variants = [
            known for known in prices.models if name.startswith(tuple(f"{known}{c}" for c in "-@:"))
        ]
        if variants:
            return prices.models[max(variants, key=len)]
    return None


def search_cost(search: Search, prices: PricePolicy) -> float | None:
    """US dollars of one search; None where policy says that unpriced providers are not free."""
    price = prices.searches.get(search.provider or "")
    if price is not None:
        return price
    return 0.0 if prices.unpriced_searches_are_free else None


def _sum(amounts: Iterable[float]) -> float | None:
    """Dollars to a billionth, so that the order of adding never shows; None beyond all numbers."""
    amount = sum(amounts, 0.0)
    return round(amount, 9) if math.isfinite(amount) else None
