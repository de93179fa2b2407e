"""A worker on a real embedded log, turned by hand, with a monotonic clock that the test moves."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from prometheus_client import CollectorRegistry

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core.policy import Policy
from seekwatch.core.records import NewRecord, Output, StoredOutput, TraceLog
from seekwatch.core.scorecard import ScoreEntry
from seekwatch.core.testing import FixedClock
from seekwatch.core.topics import unpack_scores
from seekwatch.evidence.source import EvidenceSource
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.monitor.scoring.episode_scorer import EpisodeScorer
from seekwatch.monitor.settings.model import WorkerSettings
from seekwatch.monitor.worker.health import Health
from seekwatch.monitor.worker.loop import Worker
from seekwatch.monitor.worker.observation import Observation
from seekwatch.processors.closing import ClosingRules

RULES = ClosingRules(quiet=5.0, idle=30.0, max_age=600.0, late_window=60.0, remember=120.0)
"""Closing rules in seconds of the clock that the test moves."""


class Workbench:
    """One worker and its log; a context manager. Leaving it is like a crash: nothing is committed.

    Args:
        path: file of the log.
        rules: when traces close.
        memory: see `Worker`.
        wrap: puts something around the log, to let it fail.
        scorer: None scores by the built-in policy.
        evidence: see `Worker`.
        settings: of the worker, beside a commit after every slice.
    """

    def __init__(
        self,
        path: Path,
        *,
        rules: ClosingRules = RULES,
        memory: int = 0,
        wrap: Callable[[TraceLog], TraceLog] = lambda log: log,
        scorer: EpisodeScorer | None = None,
        evidence: Sequence[EvidenceSource] = (),
        **settings: Any,
    ) -> None:
        self.clock = FixedClock()
        self.log = EmbeddedLog(path, partitions=2)
        self.registry = CollectorRegistry()
        self.gateway = MetricsGateway(self.registry, clock=self.clock)
        self.health = Health(60.0, monotonic=self.clock)
        self._appender = self.log.appender()
        self.worker = Worker(
            wrap(self.log.trace_log()),
            scorer or EpisodeScorer(Policy()),
            settings=WorkerSettings(**{"commit_interval": 0, "poll": 0.01} | settings),
            rules=rules,
            memory=memory,
            observation=Observation(self.gateway, self.health),
            health=self.health,
            evidence=evidence,
            monotonic=self.clock,
        )

    def append(self, *records: NewRecord) -> None:
        """Append records as a receiver does."""
        self._appender.append(records)

    def turn(self, *, after: float = 0.0, times: int = 1) -> None:
        """Let time pass and turn the loop."""
        self.clock.advance(after)
        for _ in range(times):
            self.worker.turn()

    def settle(self) -> None:
        """Read what is there, then let every trace close whose root has ended, and publish."""
        self.turn(times=2)
        self.turn(after=RULES.quiet + 5, times=3)

    def outputs(self, output: Output) -> Sequence[StoredOutput]:
        """Return everything that lies on an output topic."""
        reader = self.log.output_reader([output])
        found: list[StoredOutput] = []
        while records := reader.read(0.05):
            found += records
        reader.close()
        return found

    def scores(self) -> list[ScoreEntry]:
        """Return every score entry that is published."""
        return [e for record in self.outputs(Output.SCORES) for e in unpack_scores(record.value)]

    def sample(self, name: str, **labels: str) -> float | None:
        """Return a metric as it would be scraped now."""
        self.gateway.page()
        self.clock.advance(61)
        self.gateway.page()
        return self.registry.get_sample_value(name, labels)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.log.close()
