"""Everything that one worker holds for one partition between two commits."""

from collections import deque
from collections.abc import Sequence

from seekwatch.core.errors import PermanentError
from seekwatch.core.records import Assignment, LogRecord, PartitionState, Position
from seekwatch.core.scorecard import encode_line
from seekwatch.core.topics import SCORE_BYTES
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer, Scored, failed
from seekwatch.processors.assembly import Assembled, PartitionAssembler
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.cuts import Cut
from seekwatch.processors.record_decoder import DeadLetter, OwnsTrace

from .evidence_wait import EvidenceWait
from .pending_counts import PendingCounts
from .published import Published, scores_end


class PartitionWork:
    """One partition: its assembler, the cuts to score, and what the next commit publishes.

    Args:
        assignment: where reading starts and what is published already.
        published: the same, decoded.
        rules: when traces close.
        evidence: where episodes of this partition wait.
        owns: the log's partitioner, see `PartitionAssembler`.
    """

    def __init__(
        self,
        assignment: Assignment,
        published: Published,
        *,
        rules: ClosingRules,
        evidence: EvidenceWait,
        owns: OwnsTrace | None = None,
    ) -> None:
        self.partition = assignment.partition
        self.assembler = PartitionAssembler(
            assignment.partition, rules, assignment.position, published=published.cuts, owns=owns
        )
        self.scores_end = scores_end(assignment)
        self.backlog: deque[Cut] = deque()
        self.backlog_bytes = 0
        self.scored: list[Scored] = []
        self.scored_bytes = 0
        self.dead_letters: list[DeadLetter] = []
        self.counts = PendingCounts()
        self._evidence = evidence
        self._committed: Position = assignment.position

    # --- reading ----------------------------------------------------------------------------------

    def take(
        self,
        records: Sequence[LogRecord],
        state: PartitionState,
        *,
        arrived: float,
        asked: float,
    ) -> None:
        """Feed records and fire what is due.

        Args:
            records: what a read of the log brought.
            state: what it said of the partition.
            arrived: monotonic seconds after the read.
            asked: the same before it. That the log had ended was true then, at least; a process
                that was frozen since must not take the time for silence of the log.
        """
        self.assembler.add(records, arrived)
        self._accept(self.assembler.advance(state, asked))

    def relieve(self, bytes_to_free: int, monotonic: float) -> None:
        """Close traces, oldest first, because memory is short."""
        self._accept(self.assembler.relieve(bytes_to_free, monotonic))

    def _accept(self, assembled: Assembled) -> None:
        self.backlog.extend(assembled.cuts)
        self.backlog_bytes += sum(_size(cut) for cut in assembled.cuts)
        self.dead_letters.extend(assembled.dead_letters)
        self.counts.add(assembled)

    # --- scoring ----------------------------------------------------------------------------------

    @property
    def pending(self) -> bool:
        """Whether a cut waits to be begun."""
        return bool(self.backlog)

    @property
    def waiting(self) -> int:
        """How many episodes wait for evidence."""
        return len(self._evidence)

    def score_next(self, scorer: EpisodeScorer) -> None:
        """Begin the oldest cut: score it, or let it wait for its evidence."""
        cut = self.backlog.popleft()
        size = _size(cut)
        self.backlog_bytes -= size
        self.scored_bytes += size
        try:
            episode = scorer.episode(cut)
            if episode is None:
                self.scored.append(Scored(cut=cut))
            elif not self._evidence.begin(cut, episode):
                self.scored.append(_publishable(scorer.score(cut, episode, scorer.known(episode))))
        except Exception as error:  # noqa: BLE001 - whatever a hostile trace brings about
            self.scored.append(failed(cut, error))

    def score_returned(self, scorer: EpisodeScorer) -> None:
        """Score the episodes whose evidence has come, or is not waited for any longer."""
        for cut, episode, evidence in self._evidence.come_back():
            try:
                self.scored.append(
                    _publishable(scorer.score(cut, episode, scorer.known(episode, evidence)))
                )
            except Exception as error:  # noqa: BLE001 - as above
                self.scored.append(failed(cut, error))

    # --- committing -------------------------------------------------------------------------------

    def done(self) -> list[str]:
        """Return the traces of the cuts that the next commit finishes, one for each cut."""
        return [item.cut.trace for item in self.scored]

    def position(self) -> Position:
        """Return the position that the next commit moves to."""
        return self.assembler.position(self.done(), self.scores_end)

    def is_changed_by(self, position: Position) -> bool:
        """Tell whether a commit that moves to `position` would change anything."""
        return bool(self.scored or self.dead_letters) or position != self._committed

    def committed(self, position: Position, scores_end: int) -> tuple[list[Scored], PendingCounts]:
        """Learn that everything pending is published; return it for the metrics."""
        self.assembler.committed(self.done(), self.scores_end)
        self._committed = position
        self.scores_end = scores_end
        published, self.scored = self.scored, []
        self.scored_bytes = 0
        counts, self.counts = self.counts, PendingCounts()
        self.dead_letters = []
        return published, counts


def _publishable(scored: Scored) -> Scored:
    """Check that a scorecard fits its topic: one that does not would fail its whole commit.

    Raises:
        PermanentError: it is too large.
    """
    if scored.entry is not None and (size := len(encode_line(scored.entry))) > SCORE_BYTES:
        raise PermanentError(f"a scorecard of {size} bytes; {SCORE_BYTES} can be published")
    return scored


def _size(cut: Cut) -> int:
    return sum(item.size for item in cut.spans) + sum(item.size for item in cut.logs)
