"""What stands on the screen when the demo ends: the alert, the worst traces, what was shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from demo.effects import Effect
from demo.measures import AxisShare


def alert_panel(alert: Mapping[str, Any]) -> Panel:
    """Show an alert as the person who is paged sees it."""
    labels: Mapping[str, str] = alert["labels"]
    annotations: Mapping[str, str] = alert["annotations"]
    table = Table.grid(padding=(0, 2))
    names = {"summary": "summary", "description": "description", "runbook_url": "runbook"}
    for name, shown in names.items():
        if annotations.get(name):
            table.add_row(Text(shown, style="bold"), Text(annotations[name]))
    return Panel(
        table,
        title=f"{labels['alertname']}, severity {labels.get('severity', '?')}, "
        f"agent {labels.get('agent', '?')}",
        border_style="red",
    )


def worst_table(traces: Sequence[Mapping[str, Any]]) -> Table:
    """List the worst traces with the line of evidence that decided each."""
    table = _table("The three worst traces")
    table.add_column("trace", no_wrap=True)
    table.add_column("score", justify="right")
    table.add_column("evidence", overflow="fold")
    for trace in traces:
        table.add_row(trace["trace"], f"{trace['score']:.2f}", Text(trace["evidence"]))
    return table


def effects_table(effects: Sequence[Effect]) -> Table:
    """List what went wrong and what the scores said, before and after."""
    table = _table("What each step showed (share of bad runs, and runs that carry its tag)")
    table.add_column("step")
    table.add_column("axis")
    table.add_column("before", justify="right")
    table.add_column("after", justify="right")
    table.add_column("tag")
    for effect in effects:
        table.add_row(
            effect.step.name,
            effect.step.axis.replace("_", " "),
            percent(effect.before),
            "not seen" if effect.seen is None else percent(effect.after),
            f"{effect.step.tag} {effect.tagged}/{effect.runs}" if effect.runs else "",
        )
    return table


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def effect_sentence(effect: Effect) -> str:
    """Say what one step did."""
    axis = effect.step.axis.replace("_", " ")
    return (
        f"→ {axis}: {percent(effect.after)} of the newest {effect.after.scored} runs are bad "
        f"(before: {percent(effect.before)}); {effect.tagged} carry {effect.step.tag}"
    )


def percent(share: AxisShare) -> str:
    """Return the bad share, or a dash where nothing was scored."""
    return "-" if share.bad_share is None else f"{share.bad_share:.0%}"
