"""Scoring in slices, so that the log is polled on time however much there is to score."""

from collections.abc import Callable, Sequence
from typing import Final

from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer

from .partition_work import PartitionWork

BACKLOG_BYTES: Final = 64 << 20
"""Cuts that wait to be scored; beyond it scoring goes on before more is read."""
LONGEST_WITHOUT_POLL: Final = 2.0
"""Seconds of scoring without a poll while the backlog is that big: far below the 300 s after which
Kafka takes the partitions away."""


class Scoring:
    """Takes turns between partitions, so that a busy one does not starve the others.

    Args:
        scorer: what scores.
        slice_seconds: no new episode is begun when a slice has lasted this long.
        monotonic: seconds of a clock that never goes back.
    """

    def __init__(
        self, scorer: EpisodeScorer, slice_seconds: float, monotonic: Callable[[], float]
    ) -> None:
        self._scorer = scorer
        self._slice = slice_seconds
        self._monotonic = monotonic
        self._last = -1

    def run(self, works: Sequence[PartitionWork]) -> None:
        """Score for one slice; for longer only while too much waits to read more."""
        begun = self._monotonic()
        for work in works:
            work.score_returned(self._scorer)
        while (chosen := self._next(works)) is not None:
            spent = self._monotonic() - begun
            if spent >= self._slice and not self._must_go_on(works, spent):
                return
            self._last = chosen.partition
            chosen.score_next(self._scorer)

    def _next(self, works: Sequence[PartitionWork]) -> PartitionWork | None:
        """Return the next partition in turn that has a cut waiting."""
        ready = sorted((work for work in works if work.backlog), key=lambda work: work.partition)
        if not ready:
            return None
        return next((work for work in ready if work.partition > self._last), ready[0])

    def _must_go_on(self, works: Sequence[PartitionWork], spent: float) -> bool:
        waiting = sum(work.backlog_bytes for work in works)
        return waiting > BACKLOG_BYTES and spent < LONGEST_WITHOUT_POLL
