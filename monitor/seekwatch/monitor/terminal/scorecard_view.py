"""How a scorecard looks in a terminal: one line for the run, then why something went wrong."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from seekwatch.core.scorecard import Axis, AxisVerdict, Outcome, Scorecard
from seekwatch.core.verdicts import Verdict

from .plain_text import plain

TITLES: Final = {
    Axis.QUERY_QUALITY: "query",
    Axis.SOURCE_FRESHNESS: "freshness",
    Axis.SOURCE_DIVERSITY: "diversity",
    Axis.CITATION_VALIDITY: "citations",
}
_MARKS: Final = {
    Verdict.GOOD: ("✓", "green"),
    Verdict.BAD: ("✗", "bold red"),
    Verdict.UNSCORABLE: ("·", "dim"),
}
_WELL: Final = frozenset({Outcome.SUCCESS, Outcome.CORRECT_REFUSAL})
_OUTCOME_STYLES: Final = dict.fromkeys(_WELL, "green") | {Outcome.UNKNOWN: "dim"}

_WIDTHS: Final = {axis: max(7, len(title) + 1) for axis, title in TITLES.items()}
_TIME: Final = 8
_INDENT: Final = " " * (_TIME + 2)
_SECONDS: Final = 7
_COST: Final = 9
_LONGEST_NAME: Final = 32
"""Columns of an agent's name where there is room; what is left is for notes."""


class _Columns(NamedTuple):
    """How much of names a terminal has room for, and whether it shows the cost."""

    agent: int
    outcome: int
    cost: bool


def _columns(width: int) -> _Columns:
    outcome = 16 if width >= 100 else 9  # in 16 every outcome fits
    cost = width >= 92
    taken = len(_INDENT) + outcome + 2 + sum(_WIDTHS.values()) + _SECONDS + (_COST if cost else 0)
    return _Columns(agent=max(12, min(_LONGEST_NAME, width - taken)), outcome=outcome, cost=cost)


def header(width: int) -> Text:
    """Return the line above scorecards that come one by one, for a terminal of so many columns."""
    columns = _columns(width)
    titles = "".join(f"{TITLES[axis]:<{_WIDTHS[axis]}}" for axis in Axis)
    text = f"{'time':<{_TIME}}  {'agent':<{columns.agent}} {'outcome':<{columns.outcome}} {titles}"
    text += f"{'seconds':>{_SECONDS}}"
    if columns.cost:
        text += f"{'dollars':>{_COST}}"
    return Text(text, style="bold", no_wrap=True, overflow="ellipsis")


def line(card: Scorecard, width: int, *, revision: int = 1) -> RenderableType:
    """Return a run in one line; where it or an axis went wrong, why, and the trace to look up."""
    text = _measured(card, _columns(width))
    below: list[RenderableType] = []
    notes = ", ".join(note for note in (_lane(card), _revision(revision)) if note)
    if notes and len(text) + 2 + len(notes) <= width:
        text.append(f"  {notes}", style="dim")
    elif notes:
        below.append(Text(f"{_INDENT}{notes}", style="dim"))
    reasons = [_reason(verdict) for verdict in card.axes if _is_bad(verdict)]
    # A run is mostly partial because of a bad axis, and then that says it already.
    if card.outcome not in _WELL and not (reasons and card.outcome is Outcome.PARTIAL):
        ending = f"{card.outcome}: {card.outcome_evidence}"
        reasons.insert(0, _indented(Text(plain(ending, 400), style="yellow")))
    if reasons:
        reasons.append(Text(f"{_INDENT}trace {card.trace}", style="dim"))
    return Group(text, *below, *reasons)


def _measured(card: Scorecard, columns: _Columns) -> Text:
    """Return what stands in columns."""
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{_clock(card.end):<{_TIME}}  ", style="dim")
    text.append(f"{plain(card.agent, columns.agent):<{columns.agent}} ")
    outcome = f"{plain(str(card.outcome), columns.outcome):<{columns.outcome}} "
    text.append(outcome, style=_OUTCOME_STYLES.get(card.outcome, "yellow"))
    for verdict in card.axes:
        text.append_text(_cell(verdict))
    text.append(f"{card.latency.total:>{_SECONDS}.1f}")
    if columns.cost:
        text.append(f"{_dollars(card):>{_COST}}")
    return text


def ranking(cards: Iterable[Scorecard], axis: Axis | None) -> RenderableType:
    """Return runs in the order given, each with the axis that brought it here and its trace."""
    parts: list[RenderableType] = []
    for number, card in enumerate(cards, start=1):
        bad = [verdict for verdict in card.axes if _is_bad(verdict)]
        shown = card.axis(axis) if axis else min(bad, key=lambda verdict: verdict.score or 0.0)
        parts.append(
            Text.assemble(
                (f"{number:>2}. ", "bold"),
                _mark(shown),
                f" {TITLES[shown.axis]}  {plain(card.agent, 30)}, {card.outcome}  ",
                (card.trace, "dim"),
            )
        )
        if card.question:
            parts.append(Text(f"    “{plain(card.question, 120)}”", style="italic"))
        parts.append(Padding(Text(plain(shown.evidence)), (0, 0, 0, 4), expand=False))
    return Group(*parts)


def details(card: Scorecard) -> RenderableType:
    """Return everything that a person asks of one run: question, axes, checks, work, cost."""
    head = Text.assemble(
        (plain(card.agent), "bold"),
        "  ",
        (str(card.outcome), _OUTCOME_STYLES.get(card.outcome, "yellow")),
        (f"  {plain(card.outcome_evidence)}", "dim"),
    )
    parts: list[RenderableType] = [head]
    if card.question:
        parts.append(Text(f"  “{plain(card.question, 200)}”", style="italic"))
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for verdict in card.axes:
        grid.add_row(f"  {TITLES[verdict.axis]}", _mark(verdict), Text(plain(verdict.evidence)))
        for check in verdict.checks:
            if check.verdict is Verdict.BAD:
                grid.add_row("", "", Text(plain(f"{check.name}: {check.evidence}"), style="dim"))
    parts.append(grid)
    if card.tags:
        parts.append(Text("  tags       " + ", ".join(map(str, card.tags)), style="red"))
    parts.append(Text(f"  {_work(card)}", style="dim"))
    parts.append(Text(f"  trace {card.trace}", style="dim"))
    return Group(*parts)


def _work(card: Scorecard) -> str:
    work = card.work
    escalated = "; ".join(f"{e.source} → {e.target} ×{e.count}" for e in card.escalations)
    cost = "cost unknown" if card.cost.total is None else f"${card.cost.total:.4f}"
    text = (
        f"{card.latency.total:.1f} s, {cost}, {work.searches} searches, {work.fetches} fetches, "
        f"{work.generations} model calls"
    )
    return f"{text}, {escalated}" if escalated else text


def _cell(verdict: AxisVerdict) -> Text:
    mark = _mark(verdict)
    mark.pad_right(max(0, _WIDTHS[verdict.axis] - len(mark)))
    return mark


def _mark(verdict: AxisVerdict) -> Text:
    mark, style = _MARKS[verdict.verdict]
    return Text(mark if verdict.score is None else f"{mark} {verdict.score:.2f}", style=style)


def _reason(verdict: AxisVerdict) -> RenderableType:
    text = Text.assemble((f"✗ {TITLES[verdict.axis]}: ", "red"), plain(verdict.evidence, 400))
    return _indented(text)


def _indented(text: Text) -> RenderableType:
    return Padding(text, (0, 0, 0, len(_INDENT)), expand=False)


def _is_bad(verdict: AxisVerdict) -> bool:
    return verdict.verdict is Verdict.BAD


def _clock(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).astimezone().strftime("%H:%M:%S")


def _dollars(card: Scorecard) -> str:
    return "?" if card.cost.total is None else f"{card.cost.total:.4f}"


def _lane(card: Scorecard) -> str:
    return "" if card.lane == "live" else plain(card.lane)


def _revision(revision: int) -> str:
    return "" if revision == 1 else f"revision {revision}"
