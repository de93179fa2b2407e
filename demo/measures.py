"""What the demo reads from `/metrics`: the four axes and run figures over the last seconds."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

AXES: Final = ("query_quality", "source_freshness", "source_diversity", "citation_validity")
WINDOW_SECONDS: Final = 15.0


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
    """Totals at one moment."""

    at: float
    verdicts: Mapping[tuple[str, str], float]
    outcomes: Mapping[str, float]
    cost: float

    @classmethod
    def read(cls, page: str, at: float) -> "Snapshot":
        """Read the totals from a scrape."""
        verdicts: dict[tuple[str, str], float] = {}
        outcomes: dict[str, float] = {}
        cost = 0.0
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                if sample.name == "seekwatch_axis_evaluations_total":
                    key = (sample.labels["axis"], sample.labels["verdict"])
                    verdicts[key] = verdicts.get(key, 0.0) + sample.value
                elif sample.name == "seekwatch_runs_total":
                    outcome = sample.labels["outcome"]
                    outcomes[outcome] = outcomes.get(outcome, 0.0) + sample.value
                elif sample.name == "seekwatch_run_cost_usd_total":
                    cost += sample.value
        return cls(at=at, verdicts=verdicts, outcomes=outcomes, cost=cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What happened between two moments."""

    axes: Mapping[str, AxisShare]
    runs: int
    successes: int
    cost: float

    @classmethod
    def between(cls, before: Snapshot, after: Snapshot) -> "Window":
        """Subtract two snapshots."""

        def grown(axis: str, verdict: str) -> int:
            key = (axis, verdict)
            return round(after.verdicts.get(key, 0.0) - before.verdicts.get(key, 0.0))

        outcomes = {
            name: round(total - before.outcomes.get(name, 0.0))
            for name, total in after.outcomes.items()
        }
        return cls(
            axes={
                axis: AxisShare(grown(axis, "good"), grown(axis, "bad"), grown(axis, "unscorable"))
                for axis in AXES
            },
            runs=sum(outcomes.values()),
            successes=outcomes.get("success", 0),
            cost=after.cost - before.cost,
        )


class History:
    """The snapshots of the last seconds."""

    def __init__(self, window: float = WINDOW_SECONDS) -> None:
        self._window = window
        self._snapshots: deque[Snapshot] = deque()

    def add(self, snapshot: Snapshot) -> None:
        """Remember a snapshot and forget those outside the window."""
        self._snapshots.append(snapshot)
        while snapshot.at - self._snapshots[0].at > self._window:
            self._snapshots.popleft()

    def latest(self) -> Window:
        """What happened in the window."""
        return Window.between(self._snapshots[0], self._snapshots[-1])
