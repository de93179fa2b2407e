"""`seekwatch doctor`."""

from typing import Final

import typer
from rich.console import Console

from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch doctor",
    "seekwatch doctor --kafka -c seekwatch.yaml --json",
)


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    data: options.Data = None,
    kafka: options.Kafka = False,
    as_json: options.Json = False,
) -> None:
    """Say whether the monitor sees what it should, and what to do where it does not.

    Is anything arriving, and from whom? Is it sampled? Which agents send no searches, no citations,
    no answers? Is an axis never scored? Is the pipeline in order? Exit code 1 when something is
    wrong.
    """
    settings = options.settings_from(
        config, assignments, {"embedded.path": data, "log": "kafka" if kafka else None}
    )
    from seekwatch.monitor.doctor.examination import examine
    from seekwatch.monitor.doctor.view import show, to_json

    findings = examine(settings)
    if as_json:
        for finding in findings:
            typer.echo(to_json(finding))
    else:
        show(findings, Console(highlight=False))
    raise typer.Exit(1 if any(finding.is_wrong for finding in findings) else 0)
