"""The metrics gateway: the one object that owns every metric, in the words of the domain.

Whatever is counted anywhere in the monitor goes through these methods, so that what rules rely on
(finite values, closed labels, series that begin at 0, revision 1 alone in the counters) holds by
construction.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import Final

from prometheus_client import CollectorRegistry

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.model import Lane
from seekwatch.core.scorecard import Axis, Envelope, Scorecard
from seekwatch.core.tags import INVARIANTS
from seekwatch.core.verdicts import Verdict

from .agents import AgentCap, ReleaseWatch, readable_release
from .holdback import Holdback
from .metric_names import (
    CHECKS,
    DECLARATIONS,
    ESCALATION_STEPS,
    METRIC_NAMES,
    OTHER,
    RUBRICS,
    SAMPLE_NAMES,
    Scope,
)
from .page import Page, render
from .series import Increment, Labels, SeriesTable, declared_series

__all__ = ["METRIC_NAMES", "SAMPLE_NAMES", "MetricsGateway"]

AgentInLane = tuple[str, str]

UP_FOR: Final = 30.0
"""Seconds after its last turn for which the loop counts as turning."""

_PROCESS: Final = ()
"""The group of the series that every worker has from its start."""

_STEPS: Final = frozenset(ESCALATION_STEPS)
_LANES: Final = frozenset(str(lane) for lane in Lane)


class MetricsGateway:
    """All metrics of one process. Safe to call from any thread.

    Args:
        registry: the process's own; no global one is touched.
        known_agents: (agent, lane) pairs of an earlier run, whose series come back at 0.
        agent_cap: agents with a label of their own; the rest is `other`.
        clock: monotonic seconds.
        wall_clock: Unix seconds.
        environment: of the process, to refuse prometheus_client's multi-process mode.

    Raises:
        ConfigurationError: multi-process mode is on, or the cap is negative.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        known_agents: Iterable[AgentInLane] = (),
        agent_cap: int = 20,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        _refuse_multiprocess_mode(environment)
        if agent_cap < 0:
            raise ConfigurationError("metrics.agent_cap", agent_cap, "write a number from 0 on")
        self._registry = registry
        self._clock = clock
        self._wall_clock = wall_clock
        self._lock = RLock()
        self._table = SeriesTable(registry, self._of_process)
        self._agents = AgentCap(agent_cap, lambda: self._table.overflow("agent"))
        self._holdback = Holdback(self._table.apply, clock=clock)
        self._sighted: set[AgentInLane] = set()
        self._at_work: set[AgentInLane] = set()
        self._releases: dict[str, ReleaseWatch] = {}
        self._last_turn: float | None = None
        self._create_process_series()
        self.recall(known_agents)

    # --- Runs -----------------------------------------------------------------------------------

    def scored(
        self, scorecard: Scorecard, envelope: Envelope, *, delay_seconds: float | None = None
    ) -> None:
        """Count a scorecard whose commit has succeeded.

        Revision 1 moves every run metric; a later revision moves the corrections alone.

        Args:
            scorecard: what was published.
            envelope: how its trace came; its revision decides what is counted.
            delay_seconds: from the trace's last span end to the commit, where known. A negative
                one (the agent's clock is ahead of ours) counts as 0.
        """
        with self._lock:
            agent, lane = self._agents.label(scorecard.agent), self._lane(scorecard.lane)
            self._sight(agent, lane)
            self._at_work.add((agent, lane))
            if envelope.revision > 1:
                self._run((agent, lane), "seekwatch_corrections_total")
                return
            self._count_run(agent, lane, scorecard)
            self._note_release(agent, lane, scorecard)
            self._table.set("seekwatch_last_scored_timestamp_seconds", self._wall_clock(), (agent,))
        if delay_seconds is not None:
            delay = 0.0 if delay_seconds < 0 else delay_seconds
            self._observe("seekwatch_scoring_delay_seconds", delay)

    def recall(self, agents: Iterable[AgentInLane]) -> None:
        """Bring the series of (agent, lane) pairs of an earlier run back, at 0."""
        with self._lock:
            for agent, lane in agents:
                self._sight(self._agents.label(agent), self._lane(lane))

    def known_agents(self) -> tuple[AgentInLane, ...]:
        """The (agent, lane) pairs that have series, sorted."""
        with self._lock:
            return tuple(sorted(self._sighted))

    def agents_at_work(self) -> frozenset[AgentInLane]:
        """The (agent, lane) pairs that had a run since the start."""
        with self._lock:
            return frozenset(self._at_work)

    def _count_run(self, agent: str, lane: str, card: Scorecard) -> None:
        group = (agent, lane)
        self._run(group, "seekwatch_runs_total", str(card.outcome))
        self._run(
            group,
            "seekwatch_run_duration_seconds",
            value=card.latency.total,
            trace=card.trace,
            observation=True,
        )
        self._count_axes(group, card)
        self._count_cost(group, card)
        if not card.complete:
            self._run(group, "seekwatch_incomplete_runs_total")
        for invariant, tags in INVARIANTS.items():
            if not tags.isdisjoint(card.tags):
                self._run(group, "seekwatch_invariant_violations_total", invariant)
        for tag in dict.fromkeys(card.tags):
            self._lane_metric(group, "seekwatch_failure_tags_total", str(tag))
        for judged in card.judgements:
            rubric = self._rubric(judged.rubric)
            self._lane_metric(group, "seekwatch_judgements_total", rubric, str(judged.verdict))
        if card.escalations:
            self._run(group, "seekwatch_escalated_runs_total")
        for escalation in card.escalations:
            step = self._step(escalation.source, escalation.target)
            self._lane_metric(group, "seekwatch_escalations_total", *step, value=escalation.count)

    def _count_axes(self, group: AgentInLane, card: Scorecard) -> None:
        for axis in card.axes:
            self._run(
                group,
                "seekwatch_axis_evaluations_total",
                str(axis.axis),
                str(axis.verdict),
                trace=card.trace if axis.verdict is Verdict.BAD else None,
            )
            for check in axis.checks:
                name = self._check(axis.axis, check.name)
                self._lane_metric(
                    group, "seekwatch_checks_total", str(axis.axis), name, str(check.verdict)
                )

    def _count_cost(self, group: AgentInLane, card: Scorecard) -> None:
        """Count what the run cost; an unknown cost is never 0."""
        cost = card.cost.total
        if cost is None or not self._table.accepts("seekwatch_run_cost_usd_total", cost):
            self._run(group, "seekwatch_unpriced_runs_total")
            return
        self._run(group, "seekwatch_run_cost_usd_total", value=cost)
        self._run(group, "seekwatch_priced_runs_total", str(card.outcome))

    def _note_release(self, agent: str, lane: str, card: Scorecard) -> None:
        release, environment = card.release, card.environment or ""
        if not release or lane != Lane.LIVE or agent == OTHER:
            return
        if not readable_release((release, environment)):
            return
        watch = self._releases.setdefault(agent, ReleaseWatch())
        before = watch.current
        if watch.run(release, environment, card.start / 1e9):
            if before is not None:
                self._table.remove("seekwatch_agent_release_info", (agent, *before))
            self._table.set("seekwatch_agent_release_info", 1, (agent, release, environment))

    # --- Pipeline -------------------------------------------------------------------------------

    def records(self, signal: str, result: str, number: int = 1) -> None:
        """Count records read: `ok`, `skipped` (published before) or `dead`."""
        self._count("seekwatch_records_total", signal, result, value=number)

    def spans(self, result: str, number: int = 1) -> None:
        """Count spans: `accepted`, `late`, `duplicate`, `misrouted` or `foreign`."""
        self._count("seekwatch_spans_total", result, value=number)

    def closed(self, reason: str) -> None:
        """Count a trace that was closed."""
        self._count("seekwatch_traces_closed_total", reason)

    def dead_letter(self, reason: str) -> None:
        """Count a record that went to the dead-letter topic, or could not be published."""
        self._count("seekwatch_dead_letters_total", reason)

    def scorer_error(self, axis: str) -> None:
        """Count a scorer that failed on an episode; `other` for what belongs to no axis."""
        self._count("seekwatch_scorer_errors_total", axis)

    def judged(self, result: str) -> None:
        """Count a wish for a model's judgement by how it ended."""
        self._count("seekwatch_judge_calls_total", result)

    def judge_spent(self, dollars: float) -> None:
        """Count what a judgement cost."""
        self._count("seekwatch_judge_cost_usd_total", value=dollars)

    def open_traces(self, number: int, oldest_seconds: float) -> None:
        """Say how many traces are open and how old the oldest is on the log's clock."""
        self._table.set("seekwatch_open_traces", number)
        self._table.set("seekwatch_oldest_open_trace_seconds", oldest_seconds)

    def partition(self, partition: int, read: int, end: int, lag_seconds: float) -> None:
        """Say where reading stands on a partition that this worker owns.

        Args:
            partition: its number.
            read: the next offset to be read (never the committed one).
            end: the log's end offset.
            lag_seconds: how far the read position is behind.
        """
        labels = (str(int(partition)),)
        self._table.set("seekwatch_read_position", read, labels)
        self._table.set("seekwatch_log_end_position", end, labels)
        self._table.set("seekwatch_lag_seconds", lag_seconds, labels)

    def forget_partition(self, partition: int) -> None:
        """Take the series of a partition that this worker no longer owns off the page."""
        for name in (
            "seekwatch_read_position",
            "seekwatch_log_end_position",
            "seekwatch_lag_seconds",
        ):
            self._table.remove(name, (str(int(partition)),))

    def commit(self, result: str) -> None:
        """Count a commit: `ok`, `retry`, `fenced` or `refused`."""
        self._count("seekwatch_commits_total", result)

    def rebalanced(self) -> None:
        """Count a change of the partitions that this worker owns."""
        self._count("seekwatch_rebalances_total")

    def turned(self) -> None:
        """Take note that the worker's loop has come round."""
        self._last_turn = self._clock()

    def received(self, signal: str, transport: str, result: str) -> None:
        """Count a request to the receiver.

        Args:
            signal: `traces`, `logs` or `metrics`.
            transport: `grpc` or `http`.
            result: how it was answered, e.g. `ok` or `unavailable`.
        """
        self._count("seekwatch_receiver_requests_total", signal, transport, result)

    def received_spans(self, result: str, number: int = 1) -> None:
        """Count spans that came to the receiver: `accepted`, `rejected` or `ignored`."""
        self._count("seekwatch_receiver_spans_total", result, value=number)

    def exported(self, exporter: str, result: str, number: int = 1) -> None:
        """Count records that an exporter `delivered`, `retried` or `refused`."""
        self._count("seekwatch_exported_records_total", exporter, result, value=number)

    def build_info(self, version: str, scorer_revision: str, policy_revision: str) -> None:
        """Say what is running and what it judges by."""
        self._table.set("seekwatch_build_info", 1, (version, scorer_revision, policy_revision))

    # --- The page -------------------------------------------------------------------------------

    def page(self, accept: str = "") -> Page:
        """Make the page that Prometheus scrapes.

        Args:
            accept: the request's `Accept` header; OpenMetrics is sent to whom can read it.
        """
        self._holdback.release_due()
        with self._lock:
            # Under the lock no group is half created: every zero of these is on the page.
            zeros = self._holdback.waiting()
        turning = self._last_turn is not None and self._clock() - self._last_turn <= UP_FOR
        self._table.set("seekwatch_up", 1 if turning else 0)
        page = render(self._registry, accept)
        self._holdback.shown(zeros)
        return page

    # --- Parts ----------------------------------------------------------------------------------

    def _create_process_series(self) -> None:
        self._holdback.sight(_PROCESS)
        for declaration in DECLARATIONS:
            if declaration.scope is Scope.PROCESS:
                for labels in declared_series(declaration, ()):
                    self._table.zero(declaration.name, labels)

    def _sight(self, agent: str, lane: str) -> None:
        """Create every series of an agent in a lane at 0 when it is first seen."""
        self._holdback.release_due()
        if not self._holdback.sight((agent, lane)):
            return
        self._sighted.add((agent, lane))
        leading: dict[Scope, Labels] = {Scope.AGENT_AND_LANE: (agent, lane), Scope.LANE: (lane,)}
        for declaration in DECLARATIONS:
            if declaration.scope in leading:
                for labels in declared_series(declaration, leading[declaration.scope]):
                    self._table.zero(declaration.name, labels)

    def _run(
        self,
        group: AgentInLane,
        name: str,
        *labels: str,
        value: float = 1.0,
        observation: bool = False,
        trace: str | None = None,
    ) -> None:
        self._hold(group, name, (*group, *labels), value, observation=observation, trace=trace)

    def _lane_metric(self, group: AgentInLane, name: str, *labels: str, value: float = 1.0) -> None:
        self._hold(group, name, (group[1], *labels), value)

    def _hold(
        self,
        group: AgentInLane,
        name: str,
        labels: Labels,
        value: float,
        *,
        observation: bool = False,
        trace: str | None = None,
    ) -> None:
        """Check the value before it can be summed up with held ones, then hold or apply."""
        if self._table.accepts(name, value):
            increment = Increment(
                name=name, labels=labels, value=value, observation=observation, trace=trace
            )
            self._holdback.add(group, increment)

    def _count(self, name: str, *labels: str, value: float = 1.0) -> None:
        if self._table.accepts(name, value):
            self._of_process(Increment(name=name, labels=labels, value=value))

    def _observe(self, name: str, value: float) -> None:
        if self._table.accepts(name, value):
            self._of_process(Increment(name=name, value=value, observation=True))

    def _of_process(self, increment: Increment) -> None:
        self._holdback.add(_PROCESS, increment)

    def _lane(self, lane: str) -> str:
        if lane in _LANES or lane == OTHER:
            return str(lane)
        self._table.overflow("lane")
        return OTHER

    def _check(self, axis: Axis, name: str) -> str:
        if name in CHECKS.get(axis, ()):
            return name
        self._table.overflow("check")
        return OTHER

    def _rubric(self, name: str) -> str:
        if name in RUBRICS:
            return name
        self._table.overflow("rubric")
        return OTHER

    def _step(self, source: str, target: str) -> tuple[str, str]:
        if (source, target) in _STEPS:
            return (source, target)
        self._table.overflow("from_adapter")
        return (OTHER, OTHER)


def _refuse_multiprocess_mode(environment: Mapping[str, str]) -> None:
    """Refuse the mode in which exemplars, removal of series and gauges do not work."""
    for key in ("PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir"):
        if key in environment:
            raise ConfigurationError(
                key,
                environment[key],
                "unset it: a worker is one process with one /metrics, and scales by more workers",
            )
