"""`seekwatch up`."""

from typing import Annotated, Final

import typer
from rich.console import Console

from seekwatch.monitor import options

EXAMPLES: Final = (
    "seekwatch up",
    "seekwatch up --set archive.directory=/var/lib/archive",
    "seekwatch up --set closing.quiet=2 --policy policy.yaml",
)


def command(
    config: options.Config = None,
    assignments: options.Assignments = None,
    data: options.Data = None,
    policy: options.PolicyFile = None,
    truth: options.TruthFile = None,
    grpc_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Port of OTLP over gRPC; else 4317.", show_default=False),
    ] = None,
    http_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Port of OTLP over HTTP; else 4318.", show_default=False),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="Port of /metrics; else 9464.", show_default=False),
    ] = None,
) -> None:
    """Run the whole monitor in one process, on a log in one file.

    Agents send OTLP to it, Prometheus scrapes it. Ctrl-C ends it; nothing that was answered with
    success is lost, by kill -9 neither.
    """
    settings = options.settings_from(
        config,
        assignments,
        {
            "embedded.path": data,
            "policy": policy,
            "truth": truth,
            "receiver.grpc_port": grpc_port,
            "receiver.http_port": http_port,
            "metrics.port": metrics_port,
        },
    )
    # Imported here, as in every command: `seekwatch --help` needs none of it.
    from seekwatch.monitor.processes.starting import start_up

    running, addresses = start_up(settings)
    console = Console(highlight=False)
    options.announce(console, "Seekwatch is up.", addresses)
    quiet = f"{settings.closing.quiet:g} s after the last span of a run"
    console.print(f"  [dim]scorecards come {quiet}: seekwatch tail[/dim]", soft_wrap=True)
    raise typer.Exit(running.wait())
