"""Input series for promtool: what an agent's runs look like on /metrics.

Rates are per sample interval; `minutes` says how long a phase lasts, and phases follow each other.
"""

from collections.abc import Sequence

Phase = tuple[float, int]
"""Growth per interval, and for how many intervals."""


def counter(*phases: Phase, start: float = 0) -> str:
    """A counter that grows at one rate after another."""
    parts: list[str] = []
    value = start
    for index, (rate, intervals) in enumerate(phases):
        first = value if index == 0 else value + rate
        steps = intervals if index == 0 else intervals - 1
        parts.append(f"{first:g}+{rate:g}x{steps}")
        value = first + rate * steps
    return " ".join(parts)


def gap(intervals: int) -> str:
    """Missed scrapes."""
    return f"_x{intervals}"


def evaluations(agent: str, axis: str, verdict: str, *, instance: str = "a") -> str:
    """The series of one verdict."""
    labels = f'agent="{agent}",lane="live",axis="{axis}",verdict="{verdict}",instance="{instance}"'
    return f'seekwatch_axis_evaluations_total{{{labels},job="seekwatch"}}'


def axis_traffic(
    agent: str,
    axis: str,
    good: Sequence[Phase],
    bad: Sequence[Phase],
    *,
    instance: str = "a",
) -> dict[str, str]:
    """Good and bad verdicts of one agent on one axis, from one worker."""
    return {
        evaluations(agent, axis, "good", instance=instance): counter(*good),
        evaluations(agent, axis, "bad", instance=instance): counter(*bad),
    }


def runs(agent: str, outcome: str, *phases: Phase, instance: str = "a") -> dict[str, str]:
    """Runs of one outcome."""
    labels = f'agent="{agent}",lane="live",outcome="{outcome}",instance="{instance}"'
    return {f'seekwatch_runs_total{{{labels},job="seekwatch"}}': counter(*phases)}


def per_agent(metric: str, agent: str, *phases: Phase, extra: str = "") -> dict[str, str]:
    """Any counter that has only an agent and a lane."""
    return {f'{metric}{{agent="{agent}",lane="live"{extra},instance="a"}}': counter(*phases)}
