"""Writes `docs/metrics.md` from the declarations.

The page is committed, and a test compares it with what `python -m` of this module writes.
"""

import sys
from collections.abc import Iterable
from typing import Final

from .metric_names import (
    CHECKS,
    DECLARATIONS,
    PIPELINE_METRICS,
    RUN_METRICS,
    Declaration,
    Label,
    MetricType,
    Scope,
)
from .series import declared_series

_INTRODUCTION: Final = """\
# Metrics

What a worker serves at `/metrics`, as OpenMetrics to a scraper that asks for it (exemplars carry
the trace id) and as plain text to any other. The scrape job is named `seekwatch`; `instance` stays
on every series and rules sum it away. Metric names are an interface: one is renamed only with a
changelog line and both names for a release.

What holds for all of them:

- Counters move after the commit of what they count. A crash may lose one commit's worth; nothing is
  counted twice.
- Runs are counted once, by the first revision of their scorecard. A revision after late spans moves
  `seekwatch_corrections_total` alone.
- Values are finite and not negative. Anything else is kept out and counted in
  `seekwatch_refused_values_total`.
- Label values come from closed sets. What is outside shows as `other` and is counted in
  `seekwatch_label_overflow_total`. The first 20 agents have a label of their own
  (`metrics.agent_cap`); domains, URLs, trace ids and exception messages are never a label.
- Every series starts at 0, and is scraped once at 0 before its first increment shows (or 60 seconds
  pass), so that `increase()` sees the very first failure of an agent. Any request for the page is
  that scrape: point nothing but Prometheus at it. Agents of an earlier run come back at 0.
- Alerts read `lane="live"`. Other lanes are `nonproduction`, `fixture`, `canary` and `replay`.
- There is no composite of the four axes.

This page is written from the declarations by `python -m seekwatch.exporters.metrics_document`.
"""

_NUMBERS: Final = """\
## How many series

| created | series each | with 20 agents in one lane |
|---|---|---|
"""

_CREATED: Final = {
    Scope.AGENT_AND_LANE: "with the agent",
    Scope.LANE: "with the lane",
    Scope.PROCESS: "at the start",
    Scope.OCCASION: "when known",
}

_MANY: Final = 4
"""More metrics than this with the same label are "all"."""

_AGENTS: Final = 21
"""The default cap, and `other`."""


def document() -> str:
    """Return the page."""
    parts = [
        _INTRODUCTION,
        "## Runs\n\n" + _table(RUN_METRICS),
        "## Pipeline\n\n" + _table((*PIPELINE_METRICS, DECLARATIONS[-1])),
        "## Label values\n\n" + _labels(),
        "### Checks\n\n" + _checks(),
        "## Buckets\n\n" + _buckets(),
        _NUMBERS + _series(),
    ]
    return "\n".join(parts)


def _table(declarations: Iterable[Declaration]) -> str:
    rows = ["| metric | type | labels | created | what |", "|---|---|---|---|---|"]
    for item in declarations:
        labels = ", ".join(f"`{name}`" for name in item.label_names)
        unit = f" Unit: {item.unit}." if item.unit else ""
        rows.append(
            f"| `{item.name}` | {item.type} | {labels} | {_CREATED[item.scope]} | "
            f"{item.help}{unit} |"
        )
    return "\n".join(rows) + "\n"


def _labels() -> str:
    rows = ["| label | of | values |", "|---|---|---|"]
    uses: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for item in DECLARATIONS:
        for label in item.labels:
            uses.setdefault((label.name, label.values, label.bound), []).append(item.name)
    for (name, values, bound), metrics in sorted(uses.items()):
        if name in ("check", "metric"):
            continue
        of = "all" if len(metrics) > _MANY else ", ".join(f"`{metric}`" for metric in metrics)
        shown = _values(Label(name=name, values=values, bound=bound))
        rows.append(f"| `{name}` | {of} | {shown} |")
    return "\n".join(rows) + "\n"


def _values(label: Label) -> str:
    return ", ".join(f"`{value}`" for value in label.values) or label.bound


def _checks() -> str:
    rows = ["| axis | checks |", "|---|---|"]
    for axis, names in CHECKS.items():
        rows.append(f"| `{axis}` | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(rows) + "\n"


def _buckets() -> str:
    rows = ["| histogram | upper bounds in seconds |", "|---|---|"]
    for item in DECLARATIONS:
        if item.type is MetricType.HISTOGRAM:
            bounds = ", ".join(f"{bound:g}" for bound in item.buckets)
            rows.append(f"| `{item.name}` | {bounds} |")
    return "\n".join(rows) + "\n"


def _series() -> str:
    """Count the series that exist from the first sight on; the product is the bound."""
    each = dict.fromkeys(Scope, 0)
    leading = {Scope.AGENT_AND_LANE: ("", ""), Scope.LANE: ("",)}
    for item in DECLARATIONS:
        if item.scope is Scope.OCCASION:
            continue
        width = len(item.buckets) + 3 if item.type is MetricType.HISTOGRAM else 1
        each[item.scope] += width * len(list(declared_series(item, leading.get(item.scope, ()))))
    agent = each[Scope.AGENT_AND_LANE]
    rows = [
        (f"with an agent in a lane | {agent}", agent * _AGENTS),
        (f"with a lane | {each[Scope.LANE]}", each[Scope.LANE]),
        (f"at the start | {each[Scope.PROCESS]}", each[Scope.PROCESS]),
        ("when known: two for an agent, three for a partition, one of the build | ", 2 * _AGENTS),
    ]
    return "".join(f"| {text} | {number} |\n" for text, number in rows)


if __name__ == "__main__":
    sys.stdout.write(document())
