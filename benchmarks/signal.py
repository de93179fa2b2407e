"""How well the scorers agree with people: every scorer on every labelled set.

    python -m benchmarks.signal --data DIR [--set NAME …] [--json FILE] [--check]

`DIR` holds one folder per set. The scorers are those that the worker runs. Goals are for a half
that nobody here has seen; the intervals say how far a figure may be off.
"""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Run as a file: this folder comes first on the path then, and hides the standard `signal`.
    _HERE = Path(__file__).resolve().parent
    sys.path[:] = [str(_HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != _HERE)]

from rich.progress import Progress

from benchmarks.rows import Row, argument_parser, report

SETS = Path(__file__).resolve().parent / "sets"


def set_names() -> list[str]:
    """Return the sets that have a module with a `measure`."""
    return sorted(
        path.stem
        for path in SETS.glob("*.py")
        if "\ndef measure(" in path.read_text(encoding="utf-8")
    )


def measure(data: Path, names: list[str]) -> list[Row]:
    """Measure the scorers on sets, one after the other.

    Raises:
        SystemExit: a set is not there.
    """
    missing = [name for name in names if not (data / name).is_dir()]
    if missing:
        raise SystemExit(f"no folder {', '.join(missing)} in {data}; name others with --set")
    rows: list[Row] = []
    with Progress(transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("sets", total=len(names))
        for name in names:
            progress.update(task, description=name)
            module = importlib.import_module(f"benchmarks.sets.{name}")
            rows += module.measure(data / name)
            progress.advance(task)
    return rows


def main() -> int:
    """Measure, print the table, write the rows."""
    parser = argument_parser("How well the scorers agree with labelled sets.")
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="the folder of the labelled sets"
    )
    parser.add_argument(
        "--set",
        dest="sets",
        action="append",
        choices=set_names(),
        metavar="NAME",
        help=f"only this set; may be given again (of {', '.join(set_names())})",
    )
    arguments = parser.parse_args()
    return report(measure(arguments.data, arguments.sets or set_names()), arguments)


if __name__ == "__main__":
    sys.exit(main())
