"""From a cut to what is published of it: normalise, join what is known, score.

One place for it, so that the worker, `seekwatch score FILE` and a backfill cannot differ.
"""

import logging
from collections.abc import Mapping
from typing import Final

import msgspec

from seekwatch.core.archive import ArchiveEntry
from seekwatch.core.evidence import NO_EVIDENCE, Evidence, TruthRecord
from seekwatch.core.model import Episode, Record
from seekwatch.core.policy import Policy
from seekwatch.core.redaction import Redactor
from seekwatch.core.scorecard import SCHEMA_VERSION, Scorecard, ScoreEntry
from seekwatch.processors.cuts import Cut
from seekwatch.processors.normalise import normalise
from seekwatch.processors.score import score

_LOG: Final = logging.getLogger(__name__)


class Scored(Record, frozen=True, kw_only=True):
    """One cut that was dealt with.

    Attributes:
        scorecard: None for a foreign trace (no agent, model or retriever span in it).
        archived: for the episodes topic; None when episodes are not published.
        failure: why it could not be scored at all, for the dead-letter topic.
    """

    cut: Cut
    scorecard: Scorecard | None = None
    archived: ArchiveEntry | None = None
    failure: str | None = None

    @property
    def entry(self) -> ScoreEntry | None:
        """What goes to the scores topic."""
        if self.scorecard is None:
            return None
        return ScoreEntry(
            schema=SCHEMA_VERSION, scorecard=self.scorecard, envelope=self.cut.envelope
        )


class EpisodeScorer:
    """Scores cuts under one policy.

    Args:
        policy: thresholds, prices and prohibitions.
        truth: truth records by case id.
        redactor: masks what others wrote to the topic.
        keep_episodes: publish the episode and its evidence too.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        truth: Mapping[str, TruthRecord] | None = None,
        redactor: Redactor | None = None,
        keep_episodes: bool = True,
    ) -> None:
        self.policy = policy
        self._truth = truth or {}
        self._redactor = redactor or Redactor()
        self._keep_episodes = keep_episodes

    def episode(self, cut: Cut) -> Episode | None:
        """Return the run that a cut holds, or None for a foreign trace."""
        return normalise(cut, self._redactor, self.policy.lanes)

    def known(self, episode: Episode, looked_up: Evidence = NO_EVIDENCE) -> Evidence:
        """Return the evidence of an episode, the truth of its case included."""
        case = episode.context.case
        truth = None if case is None else self._truth.get(case)
        return msgspec.structs.replace(looked_up, truth=truth or looked_up.truth)

    def score(self, cut: Cut, episode: Episode, evidence: Evidence) -> Scored:
        """Score one episode."""
        scorecard = score(episode, evidence, self.policy)
        archived = None
        if self._keep_episodes:
            archived = ArchiveEntry(
                schema=SCHEMA_VERSION,
                episode=episode,
                evidence=evidence,
                scorecard=scorecard,
                envelope=cut.envelope,
            )
        return Scored(cut=cut, scorecard=scorecard, archived=archived)


def failed(cut: Cut, error: Exception) -> Scored:
    """Put a cut aside that made a scorer fail: one bad trace does not stop its partition."""
    _LOG.error("trace %s could not be scored", cut.trace, exc_info=error)
    return Scored(cut=cut, failure=f"{type(error).__name__}: {error}")
