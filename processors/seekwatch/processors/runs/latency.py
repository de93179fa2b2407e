"""Where a run's time went: seconds in search, fetch and model, overlaps counted once per kind."""

import math
from collections.abc import Iterable

from seekwatch.core.model import Adapter, Episode
from seekwatch.core.scorecard import Latency

_NANOSECONDS = 1e9


def latency(episode: Episode) -> Latency:
    """Measure one run. Parallel calls of one kind count their union, so no part exceeds the run."""
    first_tokens = [
        generation.time_to_first_token
        for generation in episode.generations
        if generation.time_to_first_token is not None
        and math.isfinite(generation.time_to_first_token)
        and generation.time_to_first_token >= 0
    ]
    pages = [fetch for fetch in episode.fetches if fetch.adapter is not Adapter.SEARCH]
    virtual = episode.context.virtual_seconds
    return Latency(
        total=episode.duration,
        virtual=virtual if virtual is not None and math.isfinite(virtual) else None,
        search=covered((item.start, item.end) for item in episode.searches),
        fetch=covered((item.start, item.end) for item in pages),
        model=covered((item.start, item.end) for item in episode.generations),
        time_to_first_token=first_tokens[0] if first_tokens else None,
    )


def covered(intervals: Iterable[tuple[int, int]]) -> float:
    """Seconds covered by intervals of nanoseconds; one that ends before it begins is empty."""
    total, reached = 0, None
    for start, end in sorted(intervals):
        if reached is not None and start < reached:
            start = reached
        if end > start:
            total += end - start
        reached = end if reached is None else max(reached, end)
    return total / _NANOSECONDS
