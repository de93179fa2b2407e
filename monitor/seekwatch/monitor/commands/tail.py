"""`seekwatch tail`."""

import contextlib
from typing import Annotated, Final

import typer
from rich.console import Console

from seekwatch.core.scorecard import Axis, Outcome
from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch tail",
    "seekwatch tail --worst 3 --axis citation_validity --agent my-agent",
    "seekwatch tail --outcome error --outcome timeout --last 3 --no-follow",
    "seekwatch tail --kafka --json | jq .scorecard.outcome",
)


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    data: options.Data = None,
    kafka: options.Kafka = False,
    agent: Annotated[
        str | None, typer.Option(help="Only runs of this agent.", show_default=False)
    ] = None,
    axis: Annotated[
        Axis | None,
        typer.Option(
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
        int, typer.Option("-n", "--last", min=0, help="Begin with this many past runs.")
    ] = 10,
    follow: Annotated[
        bool, typer.Option(help="Wait for more; --no-follow ends with the past.")
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
    from seekwatch.monitor.settings.model import LogKind
    from seekwatch.monitor.terminal.tail import LOCAL, REMOTE, Filter, Tail

    reader = output_reader(settings)
    patience = REMOTE if settings.log is LogKind.KAFKA else LOCAL
    tail = Tail(
        reader,
        Filter(agent=agent, axis=axis, outcomes=frozenset(outcome or ())),
        Console(highlight=False),
        as_json=as_json,
        patience=patience,
    )
    try:
        with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
            if worst is not None:
                tail.worst(worst, axis)
            else:
                tail.follow(last, wait=follow)
    finally:
        reader.close()
