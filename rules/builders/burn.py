"""Alerts on ratios: bad share over a long and a short window against a multiple of the budget.

The multiwindow form of the SRE workbook, with two changes for traffic that may be thin: the long
window needs a minimum of samples, and the short one can only clear the alert when it has evidence
itself, so a quiet spell neither fires nor resolves.
"""

from rules.builders.alerting import AGENT, Alert, last_traces, live_value, worst_traces
from rules.builders.indicators import Indicator, all_indicators
from rules.builders.promql import (
    any_of,
    anyone_but,
    block,
    just,
    number,
    percent,
    selector,
    template_choice,
)
from rules.builders.wordings import BOUND, PACE, WORDINGS, Wording
from rules.objectives import Objectives, RatioObjective


def ratio_alerts(objectives: Objectives) -> list[Alert]:
    """Every alert that compares a share with an objective."""
    indicators = all_indicators(objectives)
    return [
        _alert(objectives, key, indicators[key], suffix, tiers)
        for key, objective in objectives.ratios().items()
        for suffix, tiers in _tiers_by_alert(objectives, objective).items()
    ]


def _tiers_by_alert(objectives: Objectives, objective: RatioObjective) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name in objective.tiers:
        grouped.setdefault(objectives.tiers[name].alert, []).append(name)
    return grouped


def _alert(
    objectives: Objectives, key: str, indicator: Indicator, suffix: str, tiers: list[str]
) -> Alert:
    objective = objectives.ratios()[key]
    wording = WORDINGS[key]
    tier = objectives.tiers[tiers[0]]
    return Alert(
        name=wording.prefix + suffix,
        expr=_expression(objectives, objective, indicator, wording, tiers),
        pending=tier.pending,
        keep_firing_for=tier.keep_firing_for,
        severity=objective.severity.get(tiers[0], "ticket"),
        component=wording.component,
        labels={"axis": wording.axis} if wording.axis else {},
        summary=f"{AGENT} {wording.problem}, {PACE[suffix]}",
        description=_description(objectives, objective, indicator, wording, tiers),
        when=_condition(objectives, objective, tiers),
        board=wording.board,
        traces=worst_traces() if wording.axis else last_traces(),
    )


def _expression(
    objectives: Objectives,
    objective: RatioObjective,
    indicator: Indicator,
    wording: Wording,
    tiers: list[str],
) -> str:
    """One branch per tier and per group of agents; the agents without an override come first."""
    axis = f'axis="{wording.axis}"' if wording.axis else ""
    branches = [
        _burning(objectives, effective, indicator, tier, (matcher, axis))
        for tier in tiers
        for matcher, effective in _agent_groups(objective)
    ]
    return branches[0] if len(branches) == 1 else any_of(*map(block, branches))


def _agent_groups(objective: RatioObjective) -> list[tuple[str, RatioObjective]]:
    overrides = [(just(agent), objective.for_agent(agent)) for agent in sorted(objective.agents)]
    return [(anyone_but(objective.agents), objective), *overrides]


def _burning(
    objectives: Objectives,
    objective: RatioObjective,
    indicator: Indicator,
    tier_name: str,
    matchers: tuple[str, str],
) -> str:
    tier = objectives.tier(tier_name, objective)
    line = number(objectives.threshold(tier_name, objective))
    long_ratio = selector(indicator.ratio(tier.long), *matchers)
    long_samples = selector(indicator.samples(tier.long), *matchers)
    short_ratio = selector(indicator.ratio(tier.short), *matchers)
    short_samples = selector(indicator.samples(tier.short), *matchers)
    breached = f"{long_ratio} > {line}\nand\n{long_samples} >= {tier.minimum_samples}"
    cleared = f"{short_ratio} <= {line}\nand\n{short_samples} >= {tier.short_minimum_samples}"
    return f"{block(breached)}\nunless\n{block(cleared)}"


def _condition(objectives: Objectives, objective: RatioObjective, tiers: list[str]) -> str:
    parts: list[str] = []
    for name in tiers:
        tier = objectives.tier(name, objective)
        line = percent(objectives.threshold(name, objective))
        parts.append(
            f"more than {line} bad in {tier.long} (n ≥ {tier.minimum_samples}) and in {tier.short}"
        )
    return "; or ".join(parts)


def _description(
    objectives: Objectives,
    objective: RatioObjective,
    indicator: Indicator,
    wording: Wording,
    tiers: list[str],
) -> str:
    bound = f"{objectives.latency.threshold_seconds:g}"
    bad, good = (text.replace(BOUND, bound) for text in (wording.bad, wording.good))
    windows = " and ".join(
        _window(objectives, objective, indicator, name, alone=len(tiers) == 1) for name in tiers
    )
    goal = template_choice(
        percent(objective.objective),
        {agent: percent(objective.for_agent(agent).objective) for agent in objective.agents},
    )
    return f"Of the {wording.counted} of {AGENT}, {windows} {bad}. Objective: {goal} {good}."


def _window(
    objectives: Objectives,
    objective: RatioObjective,
    indicator: Indicator,
    tier_name: str,
    *,
    alone: bool,
) -> str:
    """`62% in the last 1h (n = 240, the line is 50%)`."""
    tier = objectives.tiers[tier_name]
    line = template_choice(
        percent(objectives.threshold(tier_name, objective)),
        {
            agent: percent(objectives.threshold(tier_name, objective.for_agent(agent)))
            for agent in objective.agents
        },
    )
    share = (
        "{{ $value | humanizePercentage }}"
        if alone
        else live_value(indicator.ratio(tier.long), indicator.by, "humanizePercentage")
    )
    samples = live_value(indicator.samples(tier.long), indicator.by, 'printf "%.0f"')
    return f"{share} in the last {tier.long} (n = {samples}, the line is {line})"
