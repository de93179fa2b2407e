"""What to let go when memory is short: the oldest traces, whatever partition they are on."""

from collections.abc import Iterable, Mapping
from typing import Final

_ROOM: Final = 0.1
"""Share of the limit that is freed beyond it, so that the next record does not ask again."""


def shares_to_free(held: Mapping[int, Iterable[tuple[int, int]]], limit: int) -> dict[int, int]:
    """Return how many bytes each partition is to let go, so that the rest fits.

    Args:
        held: by partition, (time it began in milliseconds, bytes) of each trace.
        limit: bytes of all of them together; 0 sets no limit.
    """
    traces = [
        (began, size, partition) for partition, sizes in held.items() for began, size in sizes
    ]
    total = sum(size for _, size, _ in traces)
    if not limit or total <= limit:
        return {}
    excess = total - limit + int(limit * _ROOM)
    shares: dict[int, int] = {}
    for _, size, partition in sorted(traces):
        if excess <= 0:
            break
        shares[partition] = shares.get(partition, 0) + size
        excess -= size
    return shares
