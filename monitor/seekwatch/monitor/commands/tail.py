"""`seekwatch tail`."""

import contextlib
import time
from typing import Annotated, Final

import typer
from rich.console import Console

from seekwatch.core.scorecard import Axis, Outcome
from seekwatch.monitor import options
from seekwatch.monitor.settings.model import LogKind, Settings
from seekwatch.monitor.terminal.scorecard_view import TITLES

EXAMPLES: Final = (
    "seekwatch tail",
    "seekwatch tail --worst 3 --axis citation_validity --agent my-agent",
    "seekwatch tail --outcome error --outcome timeout --last 3 --no-follow",
    "seekwatch tail --kafka --json | jq .scorecard.outcome",
)

_SLACK: Final = 2.0
"""Seconds by which a scorecard may come later than its trace is due."""


def _axis(name: str) -> Axis:
    """Read an axis by its name, or by the shorter one that stands above its column."""
    titles = {title: axis for axis, title in TITLES.items()}
    try:
        return titles.get(name) or Axis(name)
    except ValueError:
        known = ", ".join(f"{axis} (or {title})" for axis, title in TITLES.items())
        raise typer.BadParameter(f"there is no axis {name!r}; take one of {known}") from None


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    data: options.Data = None,
    kafka: options.Kafka = False,
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only runs of this agent.", show_default=False),
    ] = None,
    axis: Annotated[
        Axis | None,
        typer.Option(
            parser=_axis,
            metavar="AXIS",
            help="Only runs that are bad on this axis: " + ", ".join(Axis),
            show_default=False,
        ),
    ] = None,
    outcome: Annotated[
        list[Outcome] | None,
        typer.Option(
            metavar="OUTCOME",
            help="Only runs that ended so; may be repeated: " + ", ".join(Outcome),
            show_default=False,
        ),
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The N worst runs that are on the log, then end.",
            show_default=False,
        ),
    ] = None,
    last: Annotated[
        int,
        typer.Option("-n", "--last", metavar="N", min=0, help="Begin with this many past runs."),
    ] = 10,
    follow: Annotated[
        bool,
        typer.Option(help="Wait for more; --no-follow ends with the past."),
    ] = True,
    as_json: options.Json = False,
) -> None:
    """Show scorecards as they come, with the reasons of what went wrong."""
    settings = options.settings_from(
        config,
        assignments,
        {"embedded.path": data, "log": "kafka" if kafka else None},
    )
    from seekwatch.monitor.processes.building import output_reader
    from seekwatch.monitor.terminal.tail import LOCAL, REMOTE, Filter, Tail

    reader = output_reader(settings)
    tail = Tail(
        reader,
        Filter(agent=agent, axis=axis, outcomes=frozenset(outcome or ())),
        Console(highlight=False),
        as_json=as_json,
        patience=REMOTE if settings.log is LogKind.KAFKA else LOCAL,
        pending=_pending(settings),
        quiet=settings.closing.quiet,
    )
    try:
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            if worst is not None:
                tail.worst(worst, axis)
            else:
                tail.follow(last, wait=follow)
    finally:
        reader.close()


def _pending(settings: Settings) -> set[str]:
    """Return the traces that wait, where that can be seen: on a log in one file.

    What came earlier waits for its root, or is no run of an agent.
    """
    if settings.log is LogKind.KAFKA:
        return set()
    from seekwatch.monitor.doctor.embedded_sight import EmbeddedSight

    sight = EmbeddedSight(settings)
    usual = settings.closing.quiet + settings.worker.commit_interval + _SLACK
    try:
        return sight.pending(time.time() - usual)
    finally:
        sight.close()
