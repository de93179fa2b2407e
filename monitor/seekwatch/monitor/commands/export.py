"""`seekwatch export`."""

from typing import Final

import typer
from rich.console import Console

from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch export --kafka --set archive.directory=/var/lib/archive",
    "seekwatch export --kafka --set evaluation.endpoint=https://otlp.example.com",
)


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    data: options.Data = None,
    kafka: options.Kafka = False,
) -> None:
    """Run the exporters that the settings switch on, each with a position of its own.

    `archive.directory` keeps every scored episode in files; `evaluation.endpoint` sends scores as
    gen_ai.evaluation.result over OTLP. A slow backend never slows scoring.
    """
    settings = options.settings_from(
        config, assignments, {"embedded.path": data, "log": "kafka" if kafka else None}
    )
    from seekwatch.monitor.processes.starting import start_exporters

    running, addresses = start_exporters(settings)
    options.announce(Console(highlight=False), "Seekwatch exports.", addresses)
    raise typer.Exit(running.wait())
