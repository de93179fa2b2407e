"""`seekwatch judge`: how far the models that judge can be believed."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from seekwatch.monitor import options

HELP: Final = "See how far the models that judge can be believed."
EXAMPLES: Final = (
    "seekwatch judge calibrate archive/ --labels labels.jsonl",
    "seekwatch judge rubrics",
)


def calibrate(
    archives: Annotated[
        list[Path],
        typer.Argument(metavar="ARCHIVE", help="Folders or files of archives.", show_default=False),
    ],
    labels: options.LabelsFile = options.LABELS,
    config: options.Config = None,
    assignments: options.Assignments = None,
    policy: options.PolicyFile = None,
    as_json: options.Json = False,
) -> None:
    """Compare judges with people's labels and with the deterministic scorers.

    Each rubric, revision and model is a judge of its own: one that was changed asks for a fresh
    sample of labels, and the traces to label next are named.
    """
    settings = options.settings_from(config, assignments, {"policy": policy})
    from seekwatch.core.scorecard import encode_line
    from seekwatch.evidence.judges.calibration import calibrate as compare
    from seekwatch.evidence.labels import read_labels
    from seekwatch.monitor.processes.building import closing_rules, scorer_from
    from seekwatch.monitor.scoring.offline import score_files
    from seekwatch.monitor.terminal.calibration_view import table

    given = read_labels(labels) if labels.exists() else []
    cards = score_files(archives, scorer_from(settings), closing_rules(settings))
    found = compare(cards, given)
    if as_json:
        for judge in found:
            typer.echo(encode_line(judge))
    elif found:
        Console(highlight=False).print(table(found, labels, len(given)))
    if not found:
        Console(stderr=True).print(
            "no judgement in it: switch judges on (judges.endpoint) and keep an archive"
        )
        raise typer.Exit(1)


def rubrics() -> None:
    """Show the rubrics that come with Seekwatch, each with its revision."""
    from seekwatch.evidence.judges.rubrics import built_in_names, load_rubrics
    from seekwatch.monitor.terminal.calibration_view import rubric_table

    Console(highlight=False).print(rubric_table(load_rubrics(built_in_names())))
