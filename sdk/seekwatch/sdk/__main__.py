"""`python -m seekwatch.sdk run -- COMMAND`: watches an agent without a line changed in it."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from . import _no_code

RUN_PID: Final = "SEEKWATCH_RUN_PID"
"""The process that `run` becomes: the only one that complains when it cannot be watched."""

RUN_PYTHON: Final = "SEEKWATCH_RUN_PYTHON"
"""What that process runs, where `run` chose it from its own environment, as no path was given."""

_FOLDER: Final = str(Path(__file__).parent / "_sitecustomize")
_PROGRAM: Final = "SEEKWATCH_PROGRAM"
_PYTHONS: Final = frozenset({"python", "python3"})
_EXAMPLES: Final = """\
examples:
  %(prog)s --agent my-agent -- python agent.py --verbose
  %(prog)s --agent my-agent --endpoint http://collector:4318 -- uvicorn app:app
  %(prog)s --agent my-agent --entrypoint app.agent:answer -- gunicorn app:app

The command takes the place of this process: signals, exit code and streams are its own. Every
Python that it starts is watched as well. `python` is the Python that runs this command: an agent
with an environment of its own needs seekwatch in that one, and is run by its Python, with
`-m seekwatch.sdk run`. Each option is passed on as a variable, which may be set instead; OTEL_*
variables hold as ever.
"""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run a command line; what is wrong with it is told with its fix, and exit code 2."""
    program = os.environ.pop(_PROGRAM, None) or "python -m seekwatch.sdk"
    parser = argparse.ArgumentParser(
        prog=program, description="Watches an agent without a line changed in it."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="run")
    run = verbs.add_parser(
        "run",
        help="run a command with every Python process in it instrumented",
        description="Run a command with every Python process in it instrumented.",
        usage="%(prog)s [options] -- COMMAND [ARGUMENT ...]",
        epilog=_EXAMPLES % {"prog": f"{program} run"},
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_options(run)
    options = parser.parse_args(argv)
    command: list[str] = options.command
    if command[:1] == ["--"]:
        command = command[1:]
    _set_variables(run, options)
    _check(run, program, command)
    _execute(run, command)


def _add_options(run: argparse.ArgumentParser) -> None:
    run.add_argument("--agent", metavar="NAME", help=_help("the agent's name", _no_code.AGENT))
    for argument, (metavar, text) in {
        "endpoint": ("URL", "OTLP base address, http://host:4318 or grpc://host:4317"),
        "entrypoint": ("MODULE:FUNCTION", "the agent's function: one call of it is one run"),
        "environment": ("NAME", "such as production"),
        "release": ("VERSION", "the agent's version"),
    }.items():
        variable = _no_code.TEXTS[argument]
        run.add_argument(f"--{argument}", metavar=metavar, help=_help(text, variable))
    run.add_argument(
        "--no-content",
        action="store_true",
        help=_help("send no question, answer, page, query or title", _no_code.CAPTURE_CONTENT),
    )
    run.add_argument(
        "--capture-pages",
        metavar="BYTES",
        help=_help("bytes of each page body; 0 sends none", _no_code.CAPTURE_PAGES),
    )
    run.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _help(text: str, variable: str) -> str:
    return f"{text} ({variable})"


def _set_variables(run: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    given = {
        _no_code.AGENT: options.agent,
        **{variable: getattr(options, name) for name, variable in _no_code.TEXTS.items()},
        _no_code.CAPTURE_CONTENT: "false" if options.no_content else None,
        _no_code.CAPTURE_PAGES: options.capture_pages,
    }
    os.environ.update({name: value for name, value in given.items() if value is not None})
    try:
        arguments = _no_code.arguments()
    except ValueError as error:
        run.exit(2, f"error  {error}\n")
    if arguments is None:
        run.exit(2, "error  the agent has no name\nfix    --agent my-agent\n")


def _check(run: argparse.ArgumentParser, program: str, command: Sequence[str]) -> None:
    if not command:
        example = f"{program} run --agent my-agent -- python agent.py"
        run.exit(2, f"error  there is no command to run\nfix    {example}\n")
    entrypoint = os.environ.get(_no_code.TEXTS["entrypoint"], "")
    module = entrypoint.partition(":")[0]
    if module and module in _main_modules(command):
        run.exit(
            2,
            f"error  --entrypoint {entrypoint} lies in the program itself, which no import "
            "reaches\nfix    move the function to a module that the program imports, or leave "
            "--entrypoint out: calls without a parent then make a run of their own\n",
        )


def _main_modules(command: Sequence[str]) -> set[str]:
    """Return the module that the command runs as its program, where that can be told."""
    if Path(command[0]).name.startswith("python"):
        if "-m" in command[:-1]:
            return {command[command.index("-m") + 1]}
        scripts = [each for each in command[1:] if not each.startswith("-")]
        return {Path(scripts[0]).stem} if scripts else set()
    return {Path(command[0]).stem} if command[0].endswith(".py") else set()


def _execute(run: argparse.ArgumentParser, command: Sequence[str]) -> NoReturn:
    found = _find(command[0])
    if found is None:
        file = Path(command[0])
        fix = f"python {command[0]}" if file.is_file() else "give its full path, or install it"
        run.exit(127, f"error  {command[0]} is no command that can be run\nfix    {fix}\n")
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    paths = [_FOLDER, *(path for path in paths if path != _FOLDER)]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ[RUN_PID] = str(os.getpid())
    os.environ.pop(RUN_PYTHON, None)
    if found != command[0] and Path(found).parent == Path(sys.executable).parent:
        os.environ[RUN_PYTHON] = found
    if os.name == "nt":
        # Windows has no exec: what it calls so returns to the shell at once.
        sys.exit(subprocess.run([found, *command[1:]], check=False).returncode)  # noqa: S603
    sys.stdout.flush()
    # Its full path as its name too: by that a Python finds the environment that it belongs to.
    os.execv(found, [found, *command[1:]])  # noqa: S606 - the user's own command


def _find(name: str) -> str | None:
    if name in _PYTHONS:
        return sys.executable
    # What was installed beside this Python is meant even where its environment is not active.
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


if __name__ == "__main__":
    main()
