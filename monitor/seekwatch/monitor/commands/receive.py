"""`seekwatch receive`."""

from typing import Final

import typer
from rich.console import Console

from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch receive --kafka --set kafka.bootstrap_servers=broker:9092",
    "seekwatch receive --set receiver.host=0.0.0.0 --set receiver.token=SECRET",
)


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    data: options.Data = None,
    kafka: options.Kafka = False,
) -> None:
    """Receive OTLP and append it to the log, keyed by trace id, secrets masked.

    For installations without an OpenTelemetry Collector. A request is answered with success when
    its spans are durable, never before.
    """
    settings = options.settings_from(
        config, assignments, {"embedded.path": data, "log": "kafka" if kafka else None}
    )
    from seekwatch.monitor.processes.starting import start_receiver

    running, addresses = start_receiver(settings)
    options.announce(Console(highlight=False), "Seekwatch receives.", addresses)
    raise typer.Exit(running.wait())
