"""Episodes that wait for evidence, off the loop and never beyond their deadline.

A look-up goes over the network; the loop only asks whether it has come back.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Final, NamedTuple

from seekwatch.core.evidence import NO_EVIDENCE, Evidence
from seekwatch.core.model import Episode
from seekwatch.evidence.source import EvidenceSource
from seekwatch.processors.cuts import Cut

_LOG: Final = logging.getLogger(__name__)


class Waiting(NamedTuple):
    """An episode and what it waits for."""

    cut: Cut
    episode: Episode
    answer: Future[Evidence]
    due: float


class EvidenceWait:
    """The episodes of one partition that wait.

    Args:
        source: who looks things up.
        deadline: seconds.
        clock: monotonic seconds.
    """

    def __init__(
        self, source: EvidenceSource | None, deadline: float, clock: Callable[[], float]
    ) -> None:
        self._source = source if deadline > 0 else None
        self._deadline = deadline
        self._clock = clock
        self._waiting: list[Waiting] = []

    def __len__(self) -> int:
        """How many episodes wait."""
        return len(self._waiting)

    def traces(self) -> Iterator[str]:
        """Iterate over the traces that wait."""
        return (waiting.cut.trace for waiting in self._waiting)

    def begin(self, cut: Cut, episode: Episode) -> bool:
        """Start a look-up; return whether the episode waits now."""
        if self._source is None:
            return False
        answer = self._source.look_up(episode, self._deadline)
        if answer is None:
            return False
        self._waiting.append(Waiting(cut, episode, answer, self._clock() + self._deadline))
        return True

    def come_back(self) -> list[tuple[Cut, Episode, Evidence]]:
        """Take out the episodes whose evidence is there or whose deadline has passed."""
        now = self._clock()
        back = [w for w in self._waiting if w.answer.done() or now >= w.due]
        if back:
            self._waiting = [w for w in self._waiting if w not in back]
        return [(w.cut, w.episode, _evidence(w)) for w in back]


def _evidence(waiting: Waiting) -> Evidence:
    if not waiting.answer.done():
        waiting.answer.cancel()
        _LOG.warning("trace %s is scored without evidence: deadline", waiting.cut.trace)
        return NO_EVIDENCE
    error = None if waiting.answer.cancelled() else waiting.answer.exception()
    if error is not None:
        _LOG.warning("trace %s is scored without evidence", waiting.cut.trace, exc_info=error)
    return NO_EVIDENCE if error or waiting.answer.cancelled() else waiting.answer.result()
