"""What the demo shows: the four axes live on a terminal, plain lines into a pipe."""

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from demo.measures import WINDOW_SECONDS, AxisShare, Window

_WIDEST: Final = 100
_LONGEST_BAR: Final = 30
_SHORTEST_BAR: Final = 6
_BESIDE_THE_BAR: Final = 54
"""Columns of a row that are not its bar: the axis, the figures, frame and gaps."""
_COLOURS: Final = {"good": "green", "bad": "red", "unscorable": "bright_black"}
_PLAIN_EVERY: Final = 5.0
"""Seconds between two lines of figures where there is no terminal."""


class Screen:
    """Shows the state once a second and everything else once.

    Args:
        console: the terminal or the pipe.
        profile: what is said about the rules below the figures.
        hint: what is shown in place of figures until the first run is scored.
    """

    def __init__(self, console: Console, *, profile: str = "", hint: str = "") -> None:
        self._console = console
        self._profile = profile
        self._hint = hint
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._last_line = -_PLAIN_EVERY
        self._state: Panel | None = None
        self._printed: list[RenderableType] = []

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """End the live part; its last state stays on the screen when the demo came to its end."""
        self._live.stop()
        if error is None and self._state is not None and self._console.is_terminal:
            self.print(self._state)

    def configure(self, *, profile: str, hint: str) -> None:
        """Set what is said beside the figures."""
        self._profile, self._hint = profile, hint

    def print(self, what: RenderableType) -> None:
        """Print something that stays."""
        self._printed.append(what)
        self._console.print(what, soft_wrap=isinstance(what, str) and not self._console.is_terminal)

    def event(self, at: float, what: str, *, style: str = "") -> None:
        """Tell that something happened."""
        time = f"{at:4.0f} s"
        if not self._console.is_terminal:
            self.print(f"{time}  {escape(what)}")
            return
        line = Table.grid(padding=(0, 2))
        line.add_column(style="bold cyan", no_wrap=True)
        line.add_column(style=style, overflow="fold")
        line.add_row(time, Text(what))
        self.print(line)

    def show(self, at: float, window: Window, firing: Sequence[str]) -> None:
        """Show the figures of the last seconds."""
        self._state = self._panel(at, window, firing)
        if self._live.is_started:
            self._live.update(self._state)
        elif at - self._last_line >= _PLAIN_EVERY:
            self._last_line = at
            self.print(plain_line(at, window, self._hint))
            self._hint = ""

    def save_svg(self, path: Path) -> None:
        """Write all that was printed as a picture of a terminal."""
        console = Console(
            record=True, width=_WIDEST, file=StringIO(), force_terminal=True, highlight=False
        )
        for renderable in self._printed:
            console.print(renderable)
        picture = console.export_svg(title="make demo", unique_id="demo")
        path.write_text(without_web_fonts(picture), encoding="utf-8")

    def _panel(self, at: float, window: Window, firing: Sequence[str]) -> Panel:
        width = min(_WIDEST, self._console.width)
        length = max(_SHORTEST_BAR, min(_LONGEST_BAR, width - _BESIDE_THE_BAR))
        table = Table.grid(padding=(0, 2))
        for axis, share in window.axes.items():
            table.add_row(axis.replace("_", " "), bar(share, length), figures(share))
        alerts = Text("alerts firing: ", style="bold")
        alerts.append(", ".join(firing) or "none", style="bold red" if firing else "green")
        figures_of_runs = Text(run_figures(window) if window.runs else self._hint)
        return Panel(
            Group(table, Text(), figures_of_runs, alerts),
            title=f"Seekwatch demo, {at:.0f} s",
            subtitle=f"runs of the last {WINDOW_SECONDS:.0f} s; {self._profile}",
            width=width,
        )


def bar(share: AxisShare, length: int = _LONGEST_BAR) -> Text:
    """Draw the verdicts of one axis as a bar of fixed length."""
    total = share.scored + share.unscorable
    text = Text()
    drawn = 0
    counts = (("good", share.good), ("bad", share.bad), ("unscorable", share.unscorable))
    for verdict, count in counts:
        width = round(length * count / total) if total else 0
        width = min(width, length - drawn)
        text.append("█" * width, style=_COLOURS[verdict])
        drawn += width
    text.append("·" * (length - drawn), style="bright_black")
    return text


def figures(share: AxisShare) -> Text:
    """Say in numbers what the bar shows."""
    if share.bad_share is None:
        unscorable = f", {share.unscorable} unscorable" if share.unscorable else ""
        return Text(f"nothing scored{unscorable}", style="bright_black")
    style = "red" if share.bad_share > 0.5 else "default"
    text = Text(f"{share.bad_share:4.0%} bad of {share.scored}", style=style)
    if share.unscorable:
        text.append(f", {share.unscorable} unscorable", style="bright_black")
    return text


def run_figures(window: Window) -> str:
    """Success and cost in one line."""
    success = f"success {window.successes / window.runs:.0%} of {window.runs} runs"
    if not window.successes:
        return f"{success}; cost per success: there was no success"
    if window.cost_per_success is None:
        return f"{success}; cost per success unknown: the model has no price in the policy"
    return f"{success}; cost per success ${window.cost_per_success:.6f}"


def plain_line(at: float, window: Window, hint: str = "") -> str:
    """The figures in one line, for logs."""
    if not window.runs:
        return f"{at:4.0f} s  {hint or 'no run scored yet'}"
    shares = (
        f"{axis} {'-' if share.bad_share is None else f'{share.bad_share:.0%}'} bad"
        f" of {share.scored}"
        for axis, share in window.axes.items()
    )
    return f"{at:4.0f} s  {'; '.join(shares)}; {run_figures(window)}"


def without_web_fonts(svg: str) -> str:
    """Take out the fonts that the picture would load from elsewhere; the reader's own will do."""
    while "@font-face" in svg:
        begin = svg.index("@font-face")
        svg = svg[:begin].rstrip() + svg[svg.index("}", begin) + 1 :]
    return svg.replace("Fira Code", "DejaVu Sans Mono")
