"""The ratios that objectives are about: which events are bad, out of which.

Each is recorded twice per window, as `seekwatch:<bad>:ratio<window>` and
`seekwatch:<total>:increase<window>`, because a share says nothing without its sample count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rules.builders.promql import LIVE, increase, selector
from rules.objectives import Objectives
from rules.quantities import Duration

AGENT = ("agent",)
AGENT_AND_AXIS = ("agent", "axis")


@dataclass(frozen=True)
class Count:
    """A number of events: the growth of one counter, or of it less that of a second one."""

    series: str
    less: str | None = None

    def within(self, window: Duration, by: Sequence[str]) -> str:
        """The expression for the events of `window`."""
        whole = increase(self.series, window, by)
        if self.less is None:
            return whole
        # Both sides are extrapolated on their own, so the difference may fall below zero by a hair.
        return f"clamp_min({whole} - {increase(self.less, window, by)}, 0)"


@dataclass(frozen=True)
class Indicator:
    """One ratio.

    Attributes:
        key: the file of its recording rules.
        bad_name: names the share, e.g. `axis_bad`.
        total_name: names the sample count, e.g. `axis_scored`.
        bad: the events that count against the objective.
        total: all events that count.
        by: the labels that stay.
    """

    key: str
    bad_name: str
    total_name: str
    bad: Count
    total: Count
    by: tuple[str, ...] = AGENT

    def ratio(self, window: Duration) -> str:
        """The recorded series of the bad share."""
        return f"seekwatch:{self.bad_name}:ratio{window}"

    def samples(self, window: Duration) -> str:
        """The recorded series of the sample count."""
        return f"seekwatch:{self.total_name}:increase{window}"


_RUNS = selector("seekwatch_runs_total", LIVE)
_EVALUATIONS = "seekwatch_axis_evaluations_total"

AXIS = Indicator(
    key="axes",
    bad_name="axis_bad",
    total_name="axis_scored",
    bad=Count(selector(_EVALUATIONS, LIVE, 'verdict="bad"')),
    total=Count(selector(_EVALUATIONS, LIVE, 'verdict=~"good|bad"')),
    by=AGENT_AND_AXIS,
)
SCORABLE = Indicator(
    key="axes",
    bad_name="axis_unscorable",
    total_name="axis_evaluated",
    bad=Count(selector(_EVALUATIONS, LIVE, 'verdict="unscorable"')),
    total=Count(selector(_EVALUATIONS, LIVE)),
    by=AGENT_AND_AXIS,
)
PRICED = Indicator(
    key="runs",
    bad_name="runs_unpriced",
    total_name="runs_finished",
    bad=Count(selector("seekwatch_unpriced_runs_total", LIVE)),
    total=Count(_RUNS),
)
COMPLETE = Indicator(
    key="runs",
    bad_name="runs_incomplete",
    total_name="runs_finished",
    bad=Count(selector("seekwatch_incomplete_runs_total", LIVE)),
    total=Count(_RUNS),
)
KNOWN_OUTCOME = Indicator(
    key="runs",
    bad_name="runs_unknown",
    total_name="runs_finished",
    bad=Count(selector("seekwatch_runs_total", LIVE, 'outcome="unknown"')),
    total=Count(_RUNS),
)
ESCALATION = Indicator(
    key="runs",
    bad_name="runs_escalated",
    total_name="runs_finished",
    bad=Count(selector("seekwatch_escalated_runs_total", LIVE)),
    total=Count(_RUNS),
)


def success(objectives: Objectives) -> Indicator:
    """Runs that ended in no good outcome, of those whose outcome counts."""
    good, ignored = objectives.success.good, objectives.success.ignored
    failed = f'outcome!~"{"|".join([*good, *ignored])}"'
    judged = f'outcome!~"{"|".join(ignored)}"' if ignored else ""
    return Indicator(
        key="runs",
        bad_name="runs_failed",
        total_name="runs_judged",
        bad=Count(selector("seekwatch_runs_total", LIVE, failed)),
        total=Count(selector("seekwatch_runs_total", LIVE, judged)),
    )


def latency(objectives: Objectives) -> Indicator:
    """Runs that took longer than the bound."""
    bound = f"{objectives.latency.threshold_seconds:g}"
    # Prometheus 3 and OpenMetrics write the bound of 60 s as "60.0", the older text format as "60".
    spelling = bound if "." in bound else f"{bound}|{bound}\\\\.0"
    within = selector("seekwatch_run_duration_seconds_bucket", LIVE, f'le=~"{spelling}"')
    total = selector("seekwatch_run_duration_seconds_count", LIVE)
    return Indicator(
        key="runs",
        bad_name="runs_slow",
        total_name="runs_timed",
        bad=Count(total, less=within),
        total=Count(total),
    )


def all_indicators(objectives: Objectives) -> dict[str, Indicator]:
    """Every indicator by the key of its objective; the axes share one."""
    return {
        **{f"axes.{axis}": AXIS for axis in objectives.axes},
        "success": success(objectives),
        "latency": latency(objectives),
        "escalations": ESCALATION,
        "coverage.scorable": SCORABLE,
        "coverage.priced": PRICED,
        "coverage.complete": COMPLETE,
        "coverage.known_outcome": KNOWN_OUTCOME,
    }
