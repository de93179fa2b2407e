"""Where reading the scores must begin so that a replay knows everything that is published.

A trace that was published and forgotten is read again whenever an older trace holds the committed
position back; its scorecard must then be found, or it would be published a second time.
"""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from seekwatch.core.records import Signal


class _Commit(NamedTuple):
    scores_offset: int
    last_offsets: dict[Signal, int]


class Told:
    """What the scores partition tells of records that may be read again.

    Kept per commit, not per trace: hours of a held position cost as many entries as commits.
    """

    def __init__(self) -> None:
        self._commits: deque[_Commit] = deque()

    def note(self, last_offsets: Mapping[Signal, int], scores_offset: int) -> None:
        """Note that the scores tell of a trace, from `scores_offset` on (never less than before).

        Args:
            last_offsets: per signal, the trace's last record.
            scores_offset: end of the scores partition before the commit that published it.
        """
        if not self._commits or self._commits[-1].scores_offset != scores_offset:
            self._commits.append(_Commit(scores_offset, {}))
        known = self._commits[-1].last_offsets
        for signal, offset in last_offsets.items():
            known[signal] = max(offset, known.get(signal, offset))

    def lowest(self, position: Mapping[Signal, int]) -> int | None:
        """Return the scores offset to begin at when reading goes on from `position`.

        None: no record from there on was told of. The position never goes back, so commits of
        which nothing will be read again are forgotten.
        """
        while self._commits:
            first = self._commits[0]
            if any(offset >= position[signal] for signal, offset in first.last_offsets.items()):
                return first.scores_offset
            self._commits.popleft()
        return None
