"""Episodes that wait for evidence, off the loop and never beyond their deadline.

A look-up goes over the network; the loop only asks whether it has come back.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Final, NamedTuple

from seekwatch.core.evidence import Evidence, together
from seekwatch.core.model import Episode
from seekwatch.evidence.source import EvidenceSource
from seekwatch.processors.cuts import Cut

_LOG: Final = logging.getLogger(__name__)


class Waiting(NamedTuple):
    """An episode and what it waits for."""

    cut: Cut
    episode: Episode
    answers: tuple[Future[Evidence], ...]
    due: float

    @property
    def answered(self) -> bool:
        """Whether everything has come back."""
        return all(answer.done() for answer in self.answers)


class EvidenceWait:
    """The episodes of one partition that wait.

    Args:
        sources: who looks things up, each apart from the others: one that is late costs its own.
        deadline: seconds.
        clock: monotonic seconds.
    """

    def __init__(
        self, sources: Sequence[EvidenceSource], deadline: float, clock: Callable[[], float]
    ) -> None:
        self._sources = tuple(sources) if deadline > 0 else ()
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
        """Start the look-ups; return whether the episode waits now."""
        asked = (source.look_up(episode, self._deadline) for source in self._sources)
        answers = tuple(answer for answer in asked if answer is not None)
        if not answers:
            return False
        self._waiting.append(Waiting(cut, episode, answers, self._clock() + self._deadline))
        return True

    def come_back(self) -> list[tuple[Cut, Episode, Evidence]]:
        """Take out the episodes whose evidence is there or whose deadline has passed."""
        now = self._clock()
        back = [w for w in self._waiting if w.answered or now >= w.due]
        if back:
            self._waiting = [w for w in self._waiting if w not in back]
        return [(w.cut, w.episode, _evidence(w)) for w in back]


def _evidence(waiting: Waiting) -> Evidence:
    found = (_answer(waiting.cut.trace, answer) for answer in waiting.answers)
    return together(part for part in found if part is not None)


def _answer(trace: str, answer: Future[Evidence]) -> Evidence | None:
    if not answer.done():
        answer.cancel()
        _LOG.warning("trace %s is scored without a part of its evidence: deadline", trace)
        return None
    if answer.cancelled():
        return None
    error = answer.exception()
    if error is not None:
        _LOG.warning("trace %s is scored without a part of its evidence", trace, exc_info=error)
        return None
    return answer.result()
