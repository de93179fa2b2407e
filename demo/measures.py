"""What the demo reads from metrics: axes, tags and run figures over the last seconds."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

AXES: Final = ("query_quality", "source_freshness", "source_diversity", "citation_validity")
WINDOW_SECONDS: Final = 20.0
"""The long window of the demo profile's fast alerts."""
RECENT_SECONDS: Final = 5.0
"""Their short window: what happens now."""


@dataclass(frozen=True, slots=True)
class AxisShare:
    """Scored runs of one axis in a window."""

    good: int
    bad: int
    unscorable: int

    @property
    def scored(self) -> int:
        """Runs that could be scored."""
        return self.good + self.bad

    @property
    def bad_share(self) -> float | None:
        """Share of bad runs among the scored ones; None without any."""
        return self.bad / self.scored if self.scored else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Totals at one moment: by axis and verdict, by outcome, by tag; cost in USD."""

    at: float
    verdicts: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    outcomes: Mapping[str, float] = field(default_factory=dict[str, float])
    tags: Mapping[str, float] = field(default_factory=dict[str, float])
    priced_successes: float = 0.0
    cost: float = 0.0

    @classmethod
    def read(cls, page: str, at: float) -> "Snapshot":
        """Read the totals from a page of metrics in Prometheus' text format."""
        verdicts: dict[tuple[str, str], float] = {}
        outcomes: dict[str, float] = {}
        tags: dict[str, float] = {}
        cost = priced = 0.0
        for family in text_string_to_metric_families(page):
            for name, labels, value, *_ in family.samples:
                if name == "seekwatch_axis_evaluations_total":
                    key = (labels["axis"], labels["verdict"])
                    verdicts[key] = verdicts.get(key, 0.0) + value
                elif name == "seekwatch_runs_total":
                    outcomes[labels["outcome"]] = outcomes.get(labels["outcome"], 0.0) + value
                elif name == "seekwatch_failure_tags_total":
                    tags[labels["tag"]] = tags.get(labels["tag"], 0.0) + value
                elif name == "seekwatch_run_cost_usd_total":
                    cost += value
                elif name == "seekwatch_priced_runs_total" and labels["outcome"] == "success":
                    priced += value
        return cls(
            at=at,
            verdicts=verdicts,
            outcomes=outcomes,
            tags=tags,
            priced_successes=priced,
            cost=cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What happened between two moments."""

    axes: Mapping[str, AxisShare]
    tags: Mapping[str, int]
    runs: int
    successes: int
    cost_per_success: float | None
    """USD; None without a success whose cost is known."""

    @classmethod
    def between(cls, before: Snapshot, after: Snapshot) -> "Window":
        """Subtract two snapshots."""

        def grown(axis: str, verdict: str) -> int:
            key = (axis, verdict)
            return round(after.verdicts.get(key, 0.0) - before.verdicts.get(key, 0.0))

        outcomes = _growth(before.outcomes, after.outcomes)
        priced = round(after.priced_successes - before.priced_successes)
        return cls(
            axes={
                axis: AxisShare(grown(axis, "good"), grown(axis, "bad"), grown(axis, "unscorable"))
                for axis in AXES
            },
            tags=_growth(before.tags, after.tags),
            runs=sum(outcomes.values()),
            successes=outcomes.get("success", 0),
            cost_per_success=(after.cost - before.cost) / priced if priced else None,
        )


def _growth(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, int]:
    return {name: round(total - before.get(name, 0.0)) for name, total in after.items()}


class History:
    """The snapshots of the last seconds."""

    def __init__(self, window: float = WINDOW_SECONDS) -> None:
        self._window = window
        self._snapshots: deque[Snapshot] = deque()

    def add(self, snapshot: Snapshot) -> None:
        """Remember a snapshot and forget those that no window needs any more."""
        self._snapshots.append(snapshot)
        while snapshot.at - self._snapshots[0].at > self._window:
            self._snapshots.popleft()

    def __bool__(self) -> bool:
        return bool(self._snapshots)

    def latest(self, seconds: float | None = None) -> Window:
        """Return what happened in the last `seconds`, at most those of the whole window."""
        newest = self._snapshots[-1]
        begin = newest.at - (self._window if seconds is None else seconds)
        oldest = next(snapshot for snapshot in self._snapshots if snapshot.at >= begin)
        return Window.between(oldest, newest)
