"""Model calls by the names of the GenAI conventions, old and new."""

import math
from typing import Any

from seekwatch.core import attributes as names
from seekwatch.core.model import Generation
from seekwatch.core.otlp.view import Attributes, SpanView
from seekwatch.processors.dialects.base import error_of
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.values import as_list, opened


def read_generation(span: SpanView, cleaner: Cleaner) -> Generation:
    """Read a model call; a number that the span does not carry stays None.

    The model is the one that a gateway says it used, else the one that answered, else the one that
    was asked.
    """
    return Generation(
        span=span.span_id,
        start=span.start,
        end=span.end,
        model=cleaner.name(
            span.text(names.GATEWAY_MODEL)
            or span.text(names.RESPONSE_MODEL)
            or span.text(names.REQUEST_MODEL)
        ),
        provider=cleaner.name(span.text(names.PROVIDER_NAME) or span.text("gen_ai.system")),
        input_tokens=count(span, names.INPUT_TOKENS, "gen_ai.usage.prompt_tokens"),
        output_tokens=count(span, names.OUTPUT_TOKENS, "gen_ai.usage.completion_tokens"),
        cached_input_tokens=count(
            span, names.CACHE_READ_INPUT_TOKENS, "gen_ai.usage.cache_read_input_tokens"
        ),
        reasoning_tokens=count(
            span, names.REASONING_OUTPUT_TOKENS, "gen_ai.usage.reasoning_tokens"
        ),
        cost=amount(span, names.GATEWAY_COST),
        finish_reasons=finish_reasons(span.get(names.FINISH_REASONS), cleaner),
        time_to_first_token=span.number(names.TIME_TO_FIRST_CHUNK),
        fallback=span.flag(names.GATEWAY_FALLBACK),
        error=error_of(span, cleaner),
    )


def amount(span: Attributes, key: str) -> float | None:
    """Return an amount of money: finite, and not negative."""
    value = span.number(key) if key in span else None
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def count(span: Attributes, *keys: str) -> int | None:
    """Return the first of `keys` that holds a count of tokens."""
    for key in keys:
        value = span.integer(key) if key in span else None
        if value is not None and 0 <= value < 2**53:
            return value
    return None


def finish_reasons(value: Any, cleaner: Cleaner) -> tuple[str, ...]:
    """Return finish reasons, which are a list by the convention and JSON text from some."""
    value = opened(value)
    items = [value] if isinstance(value, str) else as_list(value)
    cleaned = (cleaner.name(item) for item in items[:16] if isinstance(item, str))
    return tuple(reason for reason in cleaned if reason is not None)
