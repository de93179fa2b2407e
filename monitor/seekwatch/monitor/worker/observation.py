"""What the worker tells the metrics gateway, and when: run metrics only after their commit.

A crash may so lose one commit's worth of counts and never doubles them.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from seekwatch.core.records import PartitionState
from seekwatch.core.scorecard import Axis
from seekwatch.core.verdicts import Reason
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.monitor.scoring.episode_scorer import Scored

from .agent_memory import AgentMemory
from .commit_plan import REASON_NOT_SCORED
from .health import Health
from .partition_work import PartitionWork
from .pending_counts import PendingCounts

_BEYOND_AXES: Final = "other"
_HELD_SECONDS: Final = 1.0
"""Between two counts of what is held: nobody scrapes more often, and every trace is looked at."""


class Observation:
    """The metrics of one worker.

    Args:
        gateway: owns every metric.
        health: knows the lag.
        memory: keeps the agents that were seen; None keeps none.
        wall: seconds since the epoch.
    """

    def __init__(
        self,
        gateway: MetricsGateway,
        health: Health,
        *,
        memory: AgentMemory | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._gateway = gateway
        self._memory = memory or AgentMemory(None, gateway)
        self._health = health
        self._wall = wall
        self._partitions: frozenset[int] = frozenset()
        self._held_at = float("-inf")

    def turned(self) -> None:
        """Note a turn of the loop."""
        self._health.turned()
        self._gateway.turned()

    def rebalanced(self, partitions: Iterable[int]) -> None:
        """Note that partitions came or went."""
        now = frozenset(partitions)
        for gone in self._partitions - now:
            self._gateway.forget_partition(gone)
        self._partitions = now
        self._gateway.rebalanced()

    def known(self, agents: Iterable[tuple[str, str]]) -> None:
        """Bring back the series of (agent, lane) pairs that earlier commits have published."""
        self._gateway.recall(sorted(agents))

    def read(self, states: Iterable[PartitionState]) -> None:
        """Note where reading stands: the read position, never the committed one."""
        for state in states:
            self._gateway.partition(
                state.partition,
                read=sum(state.read.values()),
                end=sum(state.end.values()),
                lag_seconds=self._health.lag(state.partition),
            )

    def away(self, why: str) -> None:
        """Note that the log cannot be reached: the loop lives, and falls behind."""
        self._health.failed(why)
        self._gateway.turned()
        self.read(self._health.states)

    def held(self, works: Iterable[PartitionWork], monotonic: float) -> None:
        """Note how many traces are open and how old the oldest is on its log's clock."""
        if monotonic - self._held_at < _HELD_SECONDS:
            return
        self._held_at = monotonic
        number, oldest = 0, 0.0
        for work in works:
            number += work.assembler.open_traces
            first = work.assembler.oldest_open
            if first is not None:
                age = (work.assembler.now(monotonic) - first) / 1000
                oldest = max(oldest, age)
        self._gateway.open_traces(number, oldest)

    def commit(self, result: str) -> None:
        """Count a commit: `ok`, `retry`, `fenced` or `refused`."""
        self._gateway.commit(result)

    def published(self, scored: Sequence[Scored], counts: PendingCounts) -> None:
        """Count what a commit has published."""
        self._count_reading(counts)
        for item in scored:
            self._count_cut(item)
        self._memory.keep()

    def _count_reading(self, counts: PendingCounts) -> None:
        for signal, number in counts.read.items():
            dead, skipped = counts.dead[signal], counts.skipped[signal]
            self._gateway.records(signal, "ok", number - dead - skipped)
            self._gateway.records(signal, "skipped", skipped)
            self._gateway.records(signal, "dead", dead)
        for reason, number in counts.reasons.items():
            for _ in range(number):
                self._gateway.dead_letter(reason)
        self._gateway.spans("late", counts.late)
        self._gateway.spans("misrouted", counts.misrouted)

    def _count_cut(self, item: Scored) -> None:
        envelope = item.cut.envelope
        if envelope.revision == 1:
            known = "accepted" if item.scorecard or item.failure else "foreign"
            self._gateway.spans(known, len(item.cut.spans))
            self._gateway.spans("duplicate", envelope.duplicate_spans)
            self._gateway.closed(str(envelope.reason))
        else:
            self._gateway.spans("late", envelope.late_spans)
        if item.failure is not None:
            self._gateway.dead_letter(REASON_NOT_SCORED)
            self._gateway.scorer_error(_BEYOND_AXES)
        if item.scorecard is not None:
            for axis in item.scorecard.axes:
                if axis.reason is Reason.SCORER_ERROR:
                    self._gateway.scorer_error(str(Axis(axis.axis)))
            delay = self._wall() - item.cut.last_end / 1e9 if item.cut.last_end else None
            self._gateway.scored(item.scorecard, envelope, delay_seconds=delay)
