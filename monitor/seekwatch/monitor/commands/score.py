"""`seekwatch score`."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch score traces.json",
    "seekwatch score --policy strict.yaml --json archive/ | jq .outcome",
)


def command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="OTLP files or archives.", show_default=False),
    ],
    config: options.Config = None,
    assignments: options.Assignments = None,
    policy: options.PolicyFile = None,
    truth: options.TruthFile = None,
    as_json: options.Json = False,
) -> None:
    """Score recorded traces, without a log or a network.

    FILE is OTLP as protobuf, JSON or JSON Lines, also compressed; or an archive. The scorecards are
    those that the running monitor publishes for the same spans, byte for byte.
    """
    settings = options.settings_from(config, assignments, {"policy": policy, "truth": truth})
    from seekwatch.core.scorecard import encode_line
    from seekwatch.monitor.processes.building import closing_rules, scorer_from
    from seekwatch.monitor.scoring.offline import score_files
    from seekwatch.monitor.terminal.scorecard_view import details

    console = Console(highlight=False)
    count = 0
    for card in score_files(files, scorer_from(settings), closing_rules(settings)):
        if as_json:
            typer.echo(encode_line(card))
        else:
            console.print(details(card), "")
        count += 1
    if not count:
        Console(stderr=True).print("no agent run in it: no agent, model or retriever span")
        raise typer.Exit(1)
