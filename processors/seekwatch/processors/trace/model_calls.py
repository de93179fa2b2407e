"""One model call, once: agents and wrappers repeat the tokens of the calls inside them."""

import re
from collections import deque
from typing import Final

import msgspec

from seekwatch.core.model import Generation
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.trace.tree import TraceTree

_MOST_AT_ONCE: Final = 32
"""Siblings among which a second telling is looked for: more calls are not under way at once."""

_DATE: Final = re.compile(r"[-@]\d{4}[\d-]{0,6}", re.ASCII)


def merge_generations(tree: TraceTree) -> tuple[Generation, ...]:
    """Collect the model calls of a trace: of nested LLM spans the outermost that knows its usage.

    Only LLM spans count; usage on agent and workflow spans is a sum that would count twice.
    """
    kept: list[Generation] = []
    retold: dict[str, list[Generation]] = {}
    llms, stands_for = _without_twins(
        [fact for fact in tree.facts if fact.role is Role.LLM and fact.generations]
    )
    knowing = {fact.span for fact in llms if _knows_usage(fact)}
    nested: dict[str, list[SpanFacts]] = {}
    for fact in llms:
        above = [
            stands_for.get(found.span, found.span)
            for found in tree.ancestors(fact)
            if found.role is Role.LLM
        ]
        counted = next((span for span in above if span in knowing), None)
        if counted is not None:
            retold.setdefault(counted, []).extend(fact.generations)
            continue
        if above:
            nested.setdefault(above[-1], []).append(fact)
        else:
            nested.setdefault(fact.span, []).insert(0, fact)
    for chain in nested.values():
        telling = [fact for fact in chain if fact.span in knowing]
        for fact in telling or chain[:1]:
            inner = retold.get(fact.span, [])
            kept.extend(_completed(generation, inner) for generation in fact.generations)
    return tuple(sorted(kept, key=lambda generation: (generation.start, generation.span)))


def _completed(generation: Generation, inner: list[Generation]) -> Generation:
    """Fill what a call's span does not say from the one span of the same call inside it.

    An instrumentation of a client library knows the tokens, the span of the HTTP call inside it
    the gateway's headers and when the first bytes came. Of several calls inside none is the same.
    """
    if len(inner) != 1:
        return generation
    return msgspec.structs.replace(
        generation,
        cost=inner[0].cost if generation.cost is None else generation.cost,
        fallback=inner[0].fallback if generation.fallback is None else generation.fallback,
        time_to_first_token=(
            inner[0].time_to_first_token
            if generation.time_to_first_token is None
            else generation.time_to_first_token
        ),
    )


def _without_twins(llms: list[SpanFacts]) -> tuple[list[SpanFacts], dict[str, str]]:
    """Leave out the second telling of one call by two instrumentors whose spans stand side by side.

    The one that began first, which wraps the other, stays, unless only the other knows the tokens.

    Args:
        llms: in the order in which they began.

    Returns:
        The spans that stay, and of each other one the id of the span that stands for it.
    """
    staying: dict[str, SpanFacts] = {}
    stands_for: dict[str, str] = {}
    beside: dict[str | None, deque[SpanFacts]] = {}
    told: set[tuple[str, str | None]] = set()
    for fact in llms:
        scope = fact.view.scope_name
        siblings = beside.setdefault(fact.view.parent_id, deque(maxlen=_MOST_AT_ONCE))
        twin = next(
            (
                sibling
                for sibling in reversed(siblings)
                if (sibling.span, scope) not in told and _tell_one_call(sibling, fact)
            ),
            None,
        )
        if twin is None:
            siblings.append(fact)
            staying[fact.span] = fact
            continue
        told.add((twin.span, scope))
        if _knows_usage(fact) and not _knows_usage(staying[stands_for.get(twin.span, twin.span)]):
            del staying[twin.span]
            staying[fact.span] = fact
            stands_for[twin.span] = fact.span
        else:
            stands_for[fact.span] = stands_for.get(twin.span, twin.span)
    return list(staying.values()), stands_for


def _tell_one_call(outer: SpanFacts, inner: SpanFacts) -> bool:
    """Tell two spans of one call: of two scopes, at one time, with the same tokens.

    Where one of them does not count tokens, the model has to be the same, and the second span to
    lie within the first: calls at once of one model would be as alike otherwise.
    """
    if outer.view.scope_name == inner.view.scope_name or inner.view.start >= outer.view.end:
        return False
    one, other = outer.generations[0], inner.generations[0]
    if _knows_usage(outer) and _knows_usage(inner):
        return (one.input_tokens, one.output_tokens) == (other.input_tokens, other.output_tokens)
    return inner.view.end <= outer.view.end and _is_one_model(one.model, other.model)


def _is_one_model(one: str | None, other: str | None) -> bool:
    """Tell whether names are of one model: the one that was asked may lack the date."""
    if not one or not other:
        return False
    shorter, longer = sorted((one, other), key=len)
    rest = longer.removeprefix(shorter)
    return not rest or (rest != longer and _DATE.fullmatch(rest) is not None)


def _knows_usage(fact: SpanFacts) -> bool:
    return any(
        generation.input_tokens is not None or generation.output_tokens is not None
        for generation in fact.generations
    )
