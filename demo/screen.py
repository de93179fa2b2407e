"""What the demo shows: the four axes live on a terminal, plain lines into a pipe."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from demo.measures import WINDOW_SECONDS, AxisShare, Window

_BAR: Final = 30
_COLOURS: Final = {"good": "green", "bad": "red", "unscorable": "bright_black"}
_PLAIN_EVERY: Final = 5.0
"""Seconds between two lines of figures where there is no terminal."""


class Screen:
    """Shows the state once a second and each event once."""

    def __init__(self, console: Console, *, profile: str) -> None:
        self._console = console
        self._profile = profile
        self._events: list[tuple[float, str]] = []
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._last_line = -_PLAIN_EVERY

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def event(self, at: float, what: str) -> None:
        """Tell that something happened."""
        self._events.append((at, what))
        line = Text.assemble((f"{at:5.0f} s  ", "bold cyan"), what)
        console = self._live.console if self._live.is_started else self._console
        console.print(line, soft_wrap=True)

    def show(self, at: float, window: Window, firing: Sequence[str]) -> None:
        """Show the figures of the last seconds."""
        if self._live.is_started:
            self._live.update(self._panel(at, window, firing))
        elif at - self._last_line >= _PLAIN_EVERY:
            self._last_line = at
            self._console.print(plain_line(at, window), soft_wrap=True)

    def _panel(self, at: float, window: Window, firing: Sequence[str]) -> Panel:
        table = Table.grid(padding=(0, 2))
        for axis, share in window.axes.items():
            table.add_row(axis.replace("_", " "), bar(share), figures(share))
        alerts = Text("alerts firing: ", style="bold")
        alerts.append(", ".join(firing) or "none", style="bold red" if firing else "green")
        return Panel(
            Group(table, Text(), Text(run_figures(window)), alerts),
            title=f"Seekwatch demo, {at:.0f} s",
            subtitle=f"last {WINDOW_SECONDS:.0f} s of runs, {self._profile}",
            width=min(100, self._console.width),
        )


def bar(share: AxisShare) -> Text:
    """Draw the verdicts of one axis as a bar of fixed width."""
    total = share.scored + share.unscorable
    text = Text()
    drawn = 0
    counts = (("good", share.good), ("bad", share.bad), ("unscorable", share.unscorable))
    for verdict, count in counts:
        width = round(_BAR * count / total) if total else 0
        width = min(width, _BAR - drawn)
        text.append("█" * width, style=_COLOURS[verdict])
        drawn += width
    text.append("·" * (_BAR - drawn), style="bright_black")
    return text


def figures(share: AxisShare) -> Text:
    """Say in numbers what the bar shows."""
    if share.bad_share is None:
        return Text(f"nothing scored, {share.unscorable} unscorable", style="bright_black")
    style = "red" if share.bad_share > 0.5 else "default"
    text = Text(f"{share.bad_share:4.0%} bad of {share.scored}", style=style)
    if share.unscorable:
        text.append(f", {share.unscorable} unscorable", style="bright_black")
    return text


def run_figures(window: Window) -> str:
    """Success and cost in one line."""
    if not window.runs:
        return "no run scored yet"
    success = f"success {window.successes / window.runs:.0%} of {window.runs} runs"
    if not window.successes:
        return f"{success}, cost per success: no success"
    return f"{success}, cost per success ${window.cost / window.successes:.6f}"


def plain_line(at: float, window: Window) -> str:
    """The figures in one line, for logs."""
    shares = (
        f"{axis} {'-' if share.bad_share is None else f'{share.bad_share:.0%}'} bad"
        f" of {share.scored}"
        for axis, share in window.axes.items()
    )
    return f"{at:5.0f} s  {'; '.join(shares)}; {run_figures(window)}"


def alert_panel(alert: Mapping[str, Any]) -> Panel:
    """Show an alert as the person who is paged sees it."""
    labels: Mapping[str, str] = alert["labels"]
    annotations: Mapping[str, str] = alert["annotations"]
    table = Table.grid(padding=(0, 2))
    for name in ("summary", "description", "runbook_url", "worst"):
        if annotations.get(name):
            table.add_row(Text(name, style="bold"), annotations[name])
    return Panel(
        table,
        title=f"{labels['alertname']}  severity={labels.get('severity', '?')}  "
        f"agent={labels.get('agent', '?')}",
        border_style="red",
    )


def worst_table(traces: Sequence[Mapping[str, Any]]) -> Table:
    """List the worst traces with the line of evidence that decided each."""
    table = Table(title="The three worst traces", title_justify="left", show_lines=True)
    table.add_column("trace")
    table.add_column("score", justify="right")
    table.add_column("evidence")
    for trace in traces:
        table.add_row(trace["trace"], f"{trace['score']:.2f}", trace["evidence"])
    return table
