"""How often a run went for a target again with a stronger adapter.

Observed, never condemned here: whether it was needed only a truth record can say. A target is one
page address; a second search is no escalation.
"""

from typing import Final

from seekwatch.core.model import Adapter, Episode
from seekwatch.core.scorecard import Escalation
from seekwatch.processors.urls import url_key

LADDER: Final = {adapter: rung for rung, adapter in enumerate(Adapter)}
"""Adapter to its rung; `Adapter` is declared weakest first."""


def escalations(episode: Episode) -> tuple[Escalation, ...]:
    """Count the steps up the ladder, by from and to, in the order of the ladder.

    Each step counts from the strongest adapter that had tried the target before.
    """
    strongest: dict[str, Adapter] = {}
    counts: dict[tuple[Adapter, Adapter], int] = {}
    for fetch in sorted(episode.fetches, key=lambda item: (item.start, item.span)):
        target = url_key(fetch.url) or fetch.url
        before = strongest.get(target)
        if before is None or LADDER[fetch.adapter] > LADDER[before]:
            strongest[target] = fetch.adapter
            if before is not None:
                step = (before, fetch.adapter)
                counts[step] = counts.get(step, 0) + 1
    ordered = sorted(counts, key=lambda step: (LADDER[step[0]], LADDER[step[1]]))
    return tuple(
        Escalation(source=source.value, target=target.value, count=counts[source, target])
        for source, target in ordered
    )
