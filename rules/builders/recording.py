"""Recording rules: each ratio and its sample count, for each window that an alert reads.

Alerts, dashboards and people then read the same number under one name.
"""

from collections.abc import Iterable

from rules.builders.indicators import Indicator, all_indicators
from rules.builders.promql import any_of, block
from rules.objectives import Objectives
from rules.quantities import Duration

Rule = dict[str, object]
Group = dict[str, object]

_HOUR = 3600


def recording_files(objectives: Objectives) -> dict[str, list[Group]]:
    """Rule groups by file stem: one file per kind of indicator, one group per window."""
    files: dict[str, list[Group]] = {}
    for key, windows in _windows_by_file(objectives).items():
        for window in sorted(windows, key=lambda duration: duration.seconds):
            rules = _rules(windows[window], window)
            files.setdefault(key, []).append(
                {
                    "name": f"seekwatch:{key}:{window}",
                    "interval": str(interval(objectives, window)),
                    "rules": rules,
                }
            )
    return files


def interval(objectives: Objectives, window: Duration) -> Duration:
    """How often rules over `window` run."""
    longest_of_short = max(tier.short.seconds for tier in objectives.tiers.values())
    evaluation = objectives.evaluation
    return evaluation.short if window.seconds <= min(longest_of_short, _HOUR) else evaluation.long


def _windows_by_file(objectives: Objectives) -> dict[str, dict[Duration, list[Indicator]]]:
    indicators = all_indicators(objectives)
    files: dict[str, dict[Duration, list[Indicator]]] = {}
    for key, objective in objectives.ratios().items():
        indicator = indicators[key]
        tiers = [objectives.tiers[name] for name in objective.tiers]
        windows = {window for tier in tiers for window in (tier.long, tier.short)}
        if indicator.key == "axes":
            windows.add(objectives.vanished.window)
        for window in windows:
            wanted = files.setdefault(indicator.key, {}).setdefault(window, [])
            if indicator not in wanted:
                wanted.append(indicator)
    return files


def _rules(indicators: Iterable[Indicator], window: Duration) -> list[Rule]:
    rules: dict[str, Rule] = {}
    for indicator in indicators:
        samples, ratio = indicator.samples(window), indicator.ratio(window)
        rules[samples] = {"record": samples, "expr": indicator.total.within(window, indicator.by)}
        rules[ratio] = {"record": ratio, "expr": _ratio(indicator, window)}
    return list(rules.values())


def _ratio(indicator: Indicator, window: Duration) -> str:
    """Bad over all: 0 where no bad series exists, and no series at all where nothing was counted."""
    samples = indicator.samples(window)
    bad = indicator.bad.within(window, indicator.by)
    bad_or_none = any_of(bad, f"0 * {samples}")
    return f"{block(bad_or_none)}\n/\n({samples} > 0)"
