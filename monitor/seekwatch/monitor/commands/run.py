"""`seekwatch run`."""

import os
import sys
from typing import Any, Final

import typer

CONTEXT_SETTINGS: Final[dict[str, Any]] = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    # Every option, and the examples, are the SDK's own to explain.
    "help_option_names": [],
}


def command(context: typer.Context) -> None:
    """Run an agent's command with every Python process in it watched, no line changed.

    The same as `python -m seekwatch.sdk run`, which is there without the monitor too.
    """
    arguments = [sys.executable, "-m", "seekwatch.sdk", "run", *context.args]
    os.environ["SEEKWATCH_PROGRAM"] = "seekwatch"
    sys.stdout.flush()
    os.execv(sys.executable, arguments)  # noqa: S606 - ourselves again
