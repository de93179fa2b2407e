"""What the ratio alerts of one subject say and where their lines are, spelled out by hand.

The figures repeat rules/objectives.yaml on purpose: whoever changes a line changes it here as well,
and sees the sentence that on-call will read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.rules.promtool import Firing
from tests.rules.series import axis_traffic, counter, evaluations, per_agent, runs

Traffic = Callable[[float, float, int], dict[str, str]]
"""Series from good runs a minute, bad runs a minute, and minutes."""

PACE = {
    "BurnFast": "suddenly and in most runs",
    "BurnSlow": "for hours",
    "BurnTicket": "more often than its objective allows",
    "High": "more often than its objective allows",
}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One ratio. `lines` are the thresholds in per cent, by window and in the alert's order."""

    prefix: str
    component: str
    problem: str
    did: str
    goal: str
    counted: str
    board: str
    traffic: Traffic
    lines: Mapping[str, Mapping[str, float]]
    pages: tuple[str, ...] = ()
    axis: str | None = None

    def firing(self, suffix: str, share: float, samples: Mapping[str, int]) -> Firing:
        """The alert at `share` per cent bad, with `samples` by window."""
        windows = " and ".join(
            f"{share:g}% in the last {window} (n = {samples[window]}, the line is {line:g}%)"
            for window, line in self.lines[suffix].items()
        )
        # Only an alert on an axis has runs that are bad on it.
        on_axis = self.axis and self.axis == self.component
        which = f"--axis {self.axis} --worst 3" if on_axis else "--last 20 --no-follow"
        return Firing(
            severity="page" if suffix in self.pages else "ticket",
            component=self.component,
            agent="shop",
            axis=self.axis,
            summary=f"shop {self.problem}, {PACE[suffix]}",
            description=(
                f"Of the {self.counted} of shop, {windows} {self.did}. Objective: {self.goal}."
            ),
            board=self.board,
            traces=f"seekwatch tail --agent 'shop' {which}",
        )


def _quality_lines(
    fast: float, slow: float, day: float, trend: float
) -> dict[str, dict[str, float]]:
    return {
        "BurnFast": {"1h": fast},
        "BurnSlow": {"6h": slow},
        "BurnTicket": {"1d": day, "3d": trend},
    }


def _on_axis(axis: str) -> Traffic:
    def traffic(good: float, bad: float, minutes: int) -> dict[str, str]:
        return axis_traffic("shop", axis, [(good, minutes)], [(bad, minutes)])

    return traffic


def _by_outcome(bad_outcome: str) -> Traffic:
    def traffic(good: float, bad: float, minutes: int) -> dict[str, str]:
        return {
            **runs("shop", "success", (good, minutes)),
            **runs("shop", bad_outcome, (bad, minutes)),
        }

    return traffic


def _marked(metric: str) -> Traffic:
    def traffic(good: float, bad: float, minutes: int) -> dict[str, str]:
        return {
            **runs("shop", "success", (good + bad, minutes)),
            **per_agent(metric, "shop", (bad, minutes)),
        }

    return traffic


def _durations(good: float, bad: float, minutes: int) -> dict[str, str]:
    metric = "seekwatch_run_duration_seconds"
    return {
        **per_agent(f"{metric}_count", "shop", (good + bad, minutes)),
        **per_agent(f"{metric}_bucket", "shop", (0, minutes), extra=',le="30.0"'),
        **per_agent(f"{metric}_bucket", "shop", (good, minutes), extra=',le="60.0"'),
        **per_agent(f"{metric}_bucket", "shop", (good + bad, minutes), extra=',le="120.0"'),
    }


def _unscorable(good: float, bad: float, minutes: int) -> dict[str, str]:
    axis = "source_freshness"
    return {
        evaluations("shop", axis, "good"): counter((good, minutes)),
        evaluations("shop", axis, "bad"): counter((0, minutes)),
        evaluations("shop", axis, "unscorable"): counter((bad, minutes)),
    }


SUBJECTS = (
    Subject(
        prefix="CitationValidity",
        component="citation_validity",
        axis="citation_validity",
        problem="cites sources that do not hold",
        did="had citations that do not hold",
        goal="90% valid citations",
        counted="scored runs",
        board="citations",
        traffic=_on_axis("citation_validity"),
        lines=_quality_lines(50, 30, 20, 10),
        pages=("BurnFast", "BurnSlow"),
    ),
    Subject(
        prefix="QueryQuality",
        component="query_quality",
        axis="query_quality",
        problem="searches for something else than was asked",
        did="searched for something else than was asked",
        goal="90% faithful queries",
        counted="scored runs",
        board="overview",
        traffic=_on_axis("query_quality"),
        lines=_quality_lines(50, 30, 20, 10),
    ),
    Subject(
        prefix="SourceFreshness",
        component="source_freshness",
        axis="source_freshness",
        problem="answers from sources that are too old",
        did="answered from sources that are too old",
        goal="85% fresh sources",
        counted="scored runs",
        board="freshness",
        traffic=_on_axis("source_freshness"),
        lines=_quality_lines(75, 45, 30, 15),
    ),
    Subject(
        prefix="SourceDiversity",
        component="source_diversity",
        axis="source_diversity",
        problem="answers from too few independent sources",
        did="answered from too few independent sources",
        goal="80% diverse sources",
        counted="scored runs",
        board="freshness",
        traffic=_on_axis("source_diversity"),
        lines=_quality_lines(70, 50, 35, 20),
    ),
    Subject(
        prefix="SuccessRate",
        component="success",
        problem="fails too many runs",
        did="did not succeed",
        goal="85% success",
        counted="runs with a known outcome",
        board="overview",
        traffic=_by_outcome("timeout"),
        lines=_quality_lines(75, 45, 30, 15),
        pages=("BurnFast",),
    ),
    Subject(
        prefix="Latency",
        component="latency",
        problem="is slow in too many runs",
        did="took longer than 60 s",
        goal="90% at most 60 s",
        counted="runs",
        board="cost",
        traffic=_durations,
        lines={"High": {"1h": 20}},
    ),
    Subject(
        prefix="EscalationRate",
        component="escalations",
        problem="turns to stronger adapters too often",
        did="turned to a stronger adapter",
        goal="85% no escalation",
        counted="runs",
        board="cost",
        traffic=_marked("seekwatch_escalated_runs_total"),
        lines={"High": {"1h": 30}},
    ),
    Subject(
        prefix="AxisUnscorable",
        component="coverage",
        axis="source_freshness",
        problem="cannot be scored on source_freshness",
        did="could not be scored on source_freshness",
        goal="90% a verdict",
        counted="evaluated runs",
        board="health",
        traffic=_unscorable,
        lines={"High": {"1h": 20}},
    ),
    Subject(
        prefix="UnpricedRuns",
        component="coverage",
        problem="has runs without a known price",
        did="had no known cost",
        goal="95% a known cost",
        counted="runs",
        board="cost",
        traffic=_marked("seekwatch_unpriced_runs_total"),
        lines={"High": {"1h": 10}},
    ),
    Subject(
        prefix="IncompleteRuns",
        component="coverage",
        problem="has runs whose traces arrive with parts missing",
        did="had an incomplete trace",
        goal="95% a whole trace",
        counted="runs",
        board="health",
        traffic=_marked("seekwatch_incomplete_runs_total"),
        lines={"High": {"1h": 10}},
    ),
    Subject(
        prefix="UnknownOutcomes",
        component="coverage",
        problem="has runs whose outcome the monitor cannot tell",
        did="ended in an unknown outcome",
        goal="90% a known outcome",
        counted="runs",
        board="health",
        traffic=_by_outcome("unknown"),
        lines={"High": {"1h": 20}},
    ),
)
