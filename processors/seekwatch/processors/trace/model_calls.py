"""One model call, once: agents and wrappers repeat the tokens of the calls inside them."""

import msgspec

from seekwatch.core.model import Generation
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.trace.tree import TraceTree


def merge_generations(tree: TraceTree) -> tuple[Generation, ...]:
    """Collect the model calls of a trace: of nested LLM spans the outermost that knows its usage.

    Only LLM spans count; usage on agent and workflow spans is a sum that would count twice.
    """
    kept: list[Generation] = []
    retold: dict[str, list[Generation]] = {}
    llms = _without_twins(
        [fact for fact in tree.facts if fact.role is Role.LLM and fact.generations]
    )
    knowing = {fact.span for fact in llms if _knows_usage(fact)}
    nested: dict[str, list[SpanFacts]] = {}
    for fact in llms:
        above = [found for found in tree.ancestors(fact) if found.role is Role.LLM]
        counted = next((found.span for found in above if found.span in knowing), None)
        if counted is not None:
            retold.setdefault(counted, []).extend(fact.generations)
            continue
        if above:
            nested.setdefault(above[-1].span, []).append(fact)
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


def _without_twins(llms: list[SpanFacts]) -> list[SpanFacts]:
    """Drop the second telling of one call by two instrumentors whose spans stand side by side.

    The two have one parent, overlap in time, come from two scopes and count the same tokens. The
    one that began first, which wraps the other, stays.
    """
    kept: list[SpanFacts] = []
    last: dict[tuple[str | None, int | None, int | None], SpanFacts] = {}
    for fact in llms:
        generation = fact.generations[0]
        key = (fact.view.parent_id, generation.input_tokens, generation.output_tokens)
        twin = last.get(key)
        if (
            twin is not None
            and _knows_usage(fact)
            and twin.view.scope_name != fact.view.scope_name
            and fact.view.start < twin.view.end
        ):
            continue
        last[key] = fact
        kept.append(fact)
    return kept


def _knows_usage(fact: SpanFacts) -> bool:
    return any(
        generation.input_tokens is not None or generation.output_tokens is not None
        for generation in fact.generations
    )
