"""Recording rules: each ratio and its sample count, for each window that an alert reads.

Alerts, dashboards and people then read the same number under one name.
"""

from rules.builders.indicators import Indicator, all_indicators
from rules.builders.promql import any_of, block
from rules.builders.runs import cost_per_success_rules, run_windows
from rules.objectives import Objectives
from rules.quantities import Duration

Rule = dict[str, object]
Group = dict[str, object]

_HOUR = 3600


def recording_files(objectives: Objectives) -> dict[str, list[Group]]:
    """Rule groups by file stem: one file per kind of indicator, one group per window."""
    files: dict[str, list[Group]] = {}
    for (stem, window), rules in _rules_by_window(objectives).items():
        files.setdefault(stem, []).append(
            {
                "name": f"seekwatch:{stem}:{window}",
                "interval": str(interval(objectives, window)),
                "rules": [{"record": name, "expr": expr} for name, expr in rules.items()],
            }
        )
    cost: Group = {
        "name": "seekwatch:cost",
        "interval": str(objectives.evaluation.long),
        "rules": cost_per_success_rules(objectives),
    }
    return {**files, "cost": [cost]}


def interval(objectives: Objectives, window: Duration) -> Duration:
    """How often rules over `window` run."""
    evaluation = objectives.evaluation
    return evaluation.short if window.seconds <= _HOUR else evaluation.long


def _rules_by_window(objectives: Objectives) -> dict[tuple[str, Duration], dict[str, str]]:
    """Expressions by name, by file and window; a name that two indicators share stands once."""
    indicators = all_indicators(objectives)
    wanted = [
        (indicators[key], window)
        for key, objective in objectives.ratios().items()
        for tier in map(objectives.tiers.__getitem__, objective.tiers)
        for window in (tier.long, tier.short)
    ]
    rules: dict[tuple[str, Duration], dict[str, str]] = {}
    for indicator, window in sorted(wanted, key=lambda pair: (pair[0].key, pair[1].seconds)):
        group = rules.setdefault((indicator.key, window), {})
        group[indicator.samples(window)] = indicator.total.within(window, indicator.by)
        group[indicator.ratio(window)] = _ratio(indicator, window)
    for indicator, window in run_windows(objectives):
        group = rules.setdefault((indicator.key, window), {})
        group.setdefault(indicator.samples(window), indicator.total.within(window, indicator.by))
    return rules


def _ratio(indicator: Indicator, window: Duration) -> str:
    """Bad over all: 0 where no bad series exists, no series where nothing was counted."""
    samples = indicator.samples(window)
    bad = indicator.bad.within(window, indicator.by)
    bad_or_none = any_of(bad, f"0 * {samples}")
    return f"{block(bad_or_none)}\n/\n({samples} > 0)"
