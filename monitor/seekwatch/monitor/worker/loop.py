"""The worker: one loop that reads, assembles, scores in slices and commits.

One loop on one thread, because the order in which things happen is the contract: partitions are
given away only inside `read()`, scoring never keeps a poll waiting, metrics move after the commit.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from seekwatch.core.errors import FencedError, PermanentError, RetryableError
from seekwatch.core.records import Assignment, Batch, LogRecord, TraceLog
from seekwatch.evidence.source import EvidenceSource
from seekwatch.monitor.backoff import Backoff
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer
from seekwatch.monitor.settings.model import WorkerSettings
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.record_decoder import OwnsTrace

from .commit_plan import CommitPlan
from .evidence_wait import EvidenceWait
from .health import Health
from .memory import shares_to_free
from .observation import Observation
from .partition_work import PartitionWork
from .published import read_published
from .slices import Scoring

_LOG: Final = logging.getLogger(__name__)

_COMMIT_BYTES: Final = 8 << 20
"""Bytes of spans that were scored, at which a commit is made before its time."""
_WEIGHING_SHARE: Final = 0.02
"""Of the memory limit: what is held is weighed anew when so much has come since."""
_WEIGHING_SECONDS: Final = 0.5
"""At the latest it is weighed after this: every trace is looked at, so not at every turn."""
_EVIDENCE_POLL: Final = 0.05
"""Seconds between two looks at what is waited for."""


class Worker:
    """One member of the group.

    Args:
        log: where records come from and scorecards go; closed by `close`.
        scorer: what scores.
        settings: slices, intervals and deadlines.
        rules: when traces close.
        memory: bytes of spans held at which the oldest traces are closed; 0 sets no limit.
        observation: the metrics of this worker.
        health: what probes are told.
        evidence: who looks things up outside the trace; nobody by default.
        owns: makes a partition's test of whether a trace id belongs there.
        monotonic: seconds of a clock that never goes back.
    """

    def __init__(
        self,
        log: TraceLog,
        scorer: EpisodeScorer,
        *,
        settings: WorkerSettings,
        rules: ClosingRules,
        memory: int,
        observation: Observation,
        health: Health,
        evidence: Sequence[EvidenceSource] = (),
        owns: Callable[[int], OwnsTrace] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._settings = settings
        self._scoring = Scoring(scorer, settings.slice, monotonic)
        self._rules = rules
        self._memory = memory
        self._observation = observation
        self._health = health
        self._evidence = evidence
        self._owns = owns
        self._monotonic = monotonic
        self._works: dict[int, PartitionWork] = {}
        self._committed_at = monotonic()
        self._unweighed, self._weighed_at = 0, monotonic()
        self._backoff = Backoff()
        log.set_revocation_listener(self)

    # --- the loop ---------------------------------------------------------------------------------

    def run(self, stop: threading.Event) -> None:
        """Turn until `stop` is set, then publish what is scored."""
        while not stop.is_set():
            try:
                self.turn()
                self._backoff.reset()
            except RetryableError as error:
                self._observation.away(str(error))
                pause = self._backoff.next(error)
                _LOG.warning("the log is not to be had, next try in %.1f s: %s", pause, error)
                stop.wait(pause)
        self._health.stopping()
        self._finish()

    def turn(self) -> None:
        """Read once, score for one slice, commit when it is time.

        Raises:
            RetryableError: the log cannot be reached now.
        """
        asked = self._monotonic()
        batch = self._log.read(self._patience())
        self._take_over(batch)
        self._feed(batch, asked)
        self._relieve()
        self._scoring.run(list(self._works.values()))
        if self._commit_is_due():
            self._commit(self._works.values())
        self._observation.turned()
        self._observation.held(self._works.values(), self._monotonic())

    def close(self) -> None:
        """Leave the log in good order; calling it again does nothing."""
        self._log.close()

    def on_revoke(self, partitions: Sequence[int]) -> None:
        """Commit what is scored of `partitions` and drop the rest: another worker reads it anew."""
        given = [self._works[partition] for partition in partitions if partition in self._works]
        try:
            self._commit(given)
        except RetryableError as error:
            _LOG.warning("partitions %s are given away uncommitted: %s", list(partitions), error)
        for partition in partitions:
            self._works.pop(partition, None)

    # --- reading ----------------------------------------------------------------------------------

    def _patience(self) -> float:
        """Return how long a read may wait: not at all while there is something to score."""
        works = self._works.values()
        if any(work.backlog for work in works):
            return 0.0
        patience = self._settings.poll
        if any(work.scored for work in works):
            patience = min(patience, max(0.0, self._commit_at() - self._monotonic()))
        if any(work.waiting for work in works):
            patience = min(patience, _EVIDENCE_POLL)
        return patience

    def _take_over(self, batch: Batch) -> None:
        for partition in (*batch.lost, *batch.revoked):
            self._works.pop(partition, None)
        for assignment in batch.assigned:
            self._works[assignment.partition] = self._begin(assignment)
        if batch.assigned or batch.revoked or batch.lost:
            _LOG.info("partitions %s", sorted(self._works))
            self._observation.rebalanced(self._works)

    def _begin(self, assignment: Assignment) -> PartitionWork:
        published = read_published(assignment)
        self._observation.known(published.agents)
        _LOG.debug(
            "partition %d from %s, %d traces published from there on",
            assignment.partition,
            assignment.position,
            len(published.cuts),
        )
        return PartitionWork(
            assignment,
            published,
            rules=self._rules,
            evidence=EvidenceWait(
                self._evidence, self._settings.evidence_deadline, self._monotonic
            ),
            owns=None if self._owns is None else self._owns(assignment.partition),
        )

    def _feed(self, batch: Batch, asked: float) -> None:
        by_partition: dict[int, list[LogRecord]] = {}
        for record in batch.records:
            self._unweighed += len(record.value)
            by_partition.setdefault(record.partition, []).append(record)
        now = self._monotonic()
        for state in batch.states:
            work = self._works.get(state.partition)
            if work is not None:
                work.take(by_partition.get(state.partition, []), state, arrived=now, asked=asked)
        self._health.read(batch.states, batch.records)
        self._observation.read(batch.states)

    def _relieve(self) -> None:
        """Close the oldest traces when memory is short."""
        now = self._monotonic()
        grown = self._unweighed >= self._memory * _WEIGHING_SHARE
        if not self._memory or not (grown or now - self._weighed_at >= _WEIGHING_SECONDS):
            return
        self._unweighed, self._weighed_at = 0, now
        if sum(work.assembler.held_bytes for work in self._works.values()) <= self._memory:
            return
        held = {partition: work.assembler.held() for partition, work in self._works.items()}
        for partition, share in shares_to_free(held, self._memory).items():
            self._works[partition].relieve(share, now)

    # --- committing -------------------------------------------------------------------------------

    def _commit_at(self) -> float:
        return self._committed_at + self._settings.commit_interval

    def _commit_is_due(self) -> bool:
        works = self._works.values()
        if self._monotonic() >= self._commit_at():
            return True
        scored = sum(len(work.scored) for work in works)
        size = sum(work.scored_bytes for work in works)
        return scored >= self._settings.commit_count or size >= _COMMIT_BYTES

    def _commit(self, works: Iterable[PartitionWork]) -> None:
        """Publish and move in one step; only then do the metrics move."""
        self._committed_at = self._monotonic()
        plan = CommitPlan(works)
        if not plan:
            return
        try:
            ends = self._log.commit(plan.positions, plan.records)
        except FencedError as error:
            _LOG.warning(
                "partitions %s belong to another worker: %s", sorted(plan.positions), error
            )
            self._observation.commit("fenced")
            for partition in plan.positions:
                self._works.pop(partition, None)
            return
        except RetryableError:
            # The log has gone back to its committed position and assigns everything anew.
            self._observation.commit("retry")
            self._works.clear()
            raise
        except PermanentError as error:
            # Not for the worker to mend (rights, a damaged file): it stays, is not ready, and says
            # why. Ending here would only begin the same commit again.
            self._observation.commit("refused")
            self._works.clear()
            raise RetryableError(f"a commit is refused: {error}") from error
        self._observation.commit("ok")
        for work in plan.works:
            position = plan.positions[work.partition]
            scored, counts = work.committed(position, ends[work.partition])
            self._observation.published(scored, counts)

    def _finish(self) -> None:
        """Score what is waiting, as far as the time allowed goes, and publish it."""
        deadline = self._monotonic() + self._settings.shutdown / 2
        while self._monotonic() < deadline and any(w.pending for w in self._works.values()):
            self._scoring.run(list(self._works.values()))
        try:
            self._commit(self._works.values())
        except RetryableError as error:
            _LOG.warning("the last commit failed; the next start does it again: %s", error)
