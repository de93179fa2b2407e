"""The `seekwatch` script: a bare install has it too, so it must not need the monitor to start.

The SDK alone comes without the command line's libraries; a traceback would not say which extra has
them.
"""

import os
import sys

from seekwatch.core.extras import install_command


def main() -> None:
    """Run the command line; say what to install, with exit code 2, where it cannot be imported."""
    try:
        from .cli import main as command_line
    except ModuleNotFoundError as error:
        if (error.name or "seekwatch").partition(".")[0] == "seekwatch":
            raise  # one of our own modules: the install is broken, and no extra mends it
        if sys.argv[1:2] == ["run"]:
            _watch()
        print(
            f"the command line needs the monitor: {install_command('monitor')}\n"
            "an agent is watched without it: seekwatch run, or python -m seekwatch.sdk run",
            file=sys.stderr,
        )
        sys.exit(2)
    command_line()


def _watch() -> None:
    """Become the SDK's own `run`, which an agent's environment has too."""
    os.environ["SEEKWATCH_PROGRAM"] = "seekwatch"
    os.execv(sys.executable, [sys.executable, "-m", "seekwatch.sdk", *sys.argv[1:]])  # noqa: S606
