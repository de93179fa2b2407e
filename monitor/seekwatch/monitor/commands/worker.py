"""`seekwatch worker`."""

from typing import Final

import typer
from rich.console import Console

from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch worker --set kafka.bootstrap_servers=broker:9092",
    "seekwatch worker -c seekwatch.yaml --set metrics.host=0.0.0.0",
)


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    policy: options.PolicyFile = None,
    truth: options.TruthFile = None,
) -> None:
    """Run one member of the group that scores what Kafka brings.

    Start as many as there is load for, up to the number of partitions; each serves its own
    /metrics, /healthz and /readyz.
    """
    settings = options.settings_from(
        config, assignments, {"policy": policy, "truth": truth, "log": "kafka"}
    )
    from seekwatch.monitor.processes.starting import start_worker

    running, addresses = start_worker(settings)
    options.announce(Console(highlight=False), "Seekwatch scores.", addresses)
    raise typer.Exit(running.wait())
