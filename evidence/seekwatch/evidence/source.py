"""How the worker asks for what has to be looked up outside a trace.

A source works on threads of its own: the worker's loop begins a look-up, asks now and then whether
it has come back, and scores without it when the deadline has passed.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Protocol

from seekwatch.core.evidence import Evidence, TruthRecord
from seekwatch.core.model import Episode


class EvidenceSource(Protocol):
    """Looks things up for episodes."""

    def look_up(self, episode: Episode, deadline: float) -> Future[Evidence] | None:
        """Begin to look up what an episode needs; never waits.

        Args:
            episode: the run.
            deadline: seconds until it is scored with or without.

        Returns:
            What will hold the evidence, or None when there is nothing to look up. A future that is
            cancelled by the caller is no longer worked on.
        """
        ...

    def close(self) -> None:
        """Stop; calling it again does nothing."""
        ...


class TraceEvidence:
    """Looks nothing up: the trace speaks for itself."""

    def look_up(self, episode: Episode, deadline: float) -> Future[Evidence] | None:
        """Return None, for every episode."""
        return None

    def close(self) -> None:
        """Do nothing."""


class TruthSource:
    """Knows the truth of some cases, at once.

    Args:
        records: by case id, as `truth.load_truth` returns them.
    """

    def __init__(self, records: Mapping[str, TruthRecord]) -> None:
        self._records = records

    def look_up(self, episode: Episode, deadline: float) -> Future[Evidence] | None:
        """Return the truth record of the episode's case in a future that is done."""
        record = None if episode.context.case is None else self._records.get(episode.context.case)
        if record is None:
            return None
        answer: Future[Evidence] = Future()
        answer.set_result(Evidence(truth=record))
        return answer

    def close(self) -> None:
        """Do nothing."""
