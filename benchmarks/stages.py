"""The worker's loop with a stopwatch between its steps, in this process and on any log.

The steps are the worker's own parts in the worker's order; only the loop around them is short. A
trace closes as soon as it is read, so the figures are the cost of work, not of waiting.
"""

import itertools
import time
from collections.abc import Iterable, Mapping
from typing import Final

from prometheus_client import CollectorRegistry

from seekwatch.core.evidence import Evidence
from seekwatch.core.model import Episode
from seekwatch.core.policy import Policy
from seekwatch.core.records import Batch, LogRecord, TraceLog
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer, Scored
from seekwatch.monitor.worker.commit_plan import CommitPlan
from seekwatch.monitor.worker.evidence_wait import EvidenceWait
from seekwatch.monitor.worker.health import Health
from seekwatch.monitor.worker.observation import Observation
from seekwatch.monitor.worker.partition_work import PartitionWork
from seekwatch.monitor.worker.published import read_published
from seekwatch.processors.closing import ClosingRules
from seekwatch.processors.cuts import Cut

STAGES: Final = ("read", "assemble", "normalise", "score", "pack", "commit", "metrics")
"""`pack` encodes what a commit publishes; `commit` is the log's part of it."""

_READ_SECONDS: Final = 0.2
_LONG: Final = 10_000.0
"""Seconds between two reads as the assembler is told: beyond every deadline of a trace."""


class Stopwatch:
    """CPU seconds of this process by stage."""

    def __init__(self) -> None:
        self._last = time.process_time()
        self.spent: dict[str, float] = {}
        self.restart()

    def restart(self) -> None:
        """Forget everything so far."""
        self.spent = dict.fromkeys(STAGES, 0.0)
        self._last = time.process_time()

    def lap(self, stage: str) -> None:
        """Book what went by since the last lap."""
        now = time.process_time()
        self.spent[stage] += now - self._last
        self._last = now


class StagedWorker:
    """A worker that tells what its stages cost.

    Args:
        log: read and committed to; the caller closes it.
    """

    def __init__(self, log: TraceLog) -> None:
        self._log = log
        self._watch = Stopwatch()
        self._scorer = _TimedScorer(self._watch)
        self._works: dict[int, PartitionWork] = {}
        health = Health(0)
        self._observation = Observation(MetricsGateway(CollectorRegistry()), health)
        self._clock = itertools.count(_LONG, 2 * _LONG)

    def score(self, traces: int) -> Mapping[str, float]:
        """Read until `traces` are scored and published; return CPU seconds by stage."""
        self._watch.restart()
        done = 0
        while done < traces:
            batch = self._log.read(_READ_SECONDS)
            self._watch.lap("read")
            self._take_over(batch)
            self._feed(batch)
            self._watch.lap("assemble")
            for work in self._works.values():
                while work.pending:
                    work.score_next(self._scorer)
            done += self._commit()
        return dict(self._watch.spent)

    def _take_over(self, batch: Batch) -> None:
        for assignment in batch.assigned:
            self._works[assignment.partition] = PartitionWork(
                assignment,
                read_published(assignment),
                rules=ClosingRules(),
                evidence=EvidenceWait((), 0.0, time.monotonic),
            )

    def _feed(self, batch: Batch) -> None:
        records: dict[int, list[LogRecord]] = {}
        for record in batch.records:
            records.setdefault(record.partition, []).append(record)
        now = next(self._clock)
        for state in batch.states:
            work = self._works[state.partition]
            work.take(records.get(state.partition, []), state, arrived=now, asked=now)
            work.take((), state, arrived=now + _LONG, asked=now + _LONG)

    def _commit(self) -> int:
        plan = CommitPlan(self._works.values())
        self._watch.lap("pack")
        if not plan:
            return 0
        ends = self._log.commit(plan.positions, plan.records)
        self._watch.lap("commit")
        done: list[Scored] = []
        for work in plan.works:
            position = plan.positions[work.partition]
            scored, counts = work.committed(position, ends[work.partition])
            self._observation.published(scored, counts)
            done += scored
        self._watch.lap("metrics")
        _insist_on_scorecards(done)
        return len(done)


class _TimedScorer(EpisodeScorer):
    """The worker's scorer; what it spends between two calls is its own."""

    def __init__(self, watch: Stopwatch) -> None:
        super().__init__(Policy())
        self._watch = watch

    def episode(self, cut: Cut) -> Episode | None:
        """Normalise, and book it."""
        self._watch.lap("assemble")
        episode = super().episode(cut)
        self._watch.lap("normalise")
        return episode

    def score(self, cut: Cut, episode: Episode, evidence: Evidence) -> Scored:
        """Score, and book it."""
        scored = super().score(cut, episode, evidence)
        self._watch.lap("score")
        return scored


def _insist_on_scorecards(done: Iterable[Scored]) -> None:
    """Refuse to measure a pipeline that fails quickly."""
    for item in done:
        if item.scorecard is None:
            raise RuntimeError(f"trace {item.cut.trace} has no scorecard: {item.failure}")
