"""Options that the commands share, and the settings that they give together."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from seekwatch.monitor.settings.model import Settings
from seekwatch.monitor.settings.reading import load_settings, parse_assignments, put

from .logging_setup import configure_logging

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="FILE",
        help="Settings in YAML; also $SEEKWATCH_CONFIG.",
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="One setting, such as closing.quiet=2; may be repeated.",
        show_default=False,
    ),
]
Kafka = Annotated[
    bool,
    typer.Option("--kafka", help="Use Kafka's topics (the same as --set log=kafka)."),
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FILE", help="File of the embedded log.", show_default=False),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy", metavar="FILE", help="Thresholds, prices, prohibitions.", show_default=False
    ),
]
TruthFile = Annotated[
    Path | None,
    typer.Option("--truth", metavar="FILE", help="Truth records by case id.", show_default=False),
]
LABELS: Final = Path("seekwatch-labels.jsonl")
LabelsFile = Annotated[
    Path,
    typer.Option("--labels", metavar="FILE", help="People's labels, JSON Lines."),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON object a line, for programs."),
]


def settings_from(
    config: Path | None,
    assignments: list[str] | None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Read the settings of a command and set logging up.

    Args:
        config: a file.
        assignments: `section.key=value`.
        flags: dotted key to the value of a flag of its own; None was not given.

    Raises:
        ConfigurationError: a key or value that is wrong.
    """
    values = parse_assignments(assignments or ())
    for key, value in (flags or {}).items():
        if value is not None:
            put(values, key.split("."), value)
    settings = load_settings(config, values)
    configure_logging(settings.logging)
    return settings


def announce(console: Console, what: str, addresses: Mapping[str, str]) -> None:
    """Say that a process runs and where it listens."""
    console.print(f"[bold]{what}[/bold] Ctrl-C ends it.")
    for name, address in addresses.items():
        console.print(f"  {name:<10} {address}", soft_wrap=True)
