"""The `seekwatch` script: a bare install has it too, so it must not need the monitor to start.

The SDK alone comes without the command line's libraries; a traceback would not say which extra has
them.
"""

import sys
from typing import Final

_MISSING: Final = "the command line needs the monitor: pip install 'seekwatch[monitor]'"


def main() -> None:
    """Run the command line; say what to install, with exit code 2, where it cannot be imported."""
    try:
        from .cli import main as command_line
    except ModuleNotFoundError as error:
        if (error.name or "seekwatch").partition(".")[0] == "seekwatch":
            raise  # one of our own modules: the install is broken, and no extra mends it
        print(_MISSING, file=sys.stderr)
        sys.exit(2)
    command_line()
