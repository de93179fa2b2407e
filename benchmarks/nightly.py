"""`make nightly`: what is longer than CI allows, with dated results that are committed.

Runs every benchmark and the tests that are marked nightly, one after the other so that none
disturbs another, and writes `docs/results/<date>.md` with the rows of each benchmark beside it as
JSON. The exit code is 1 when anything failed.
"""

import argparse
import ast
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
RESULTS: Final = ROOT / "docs" / "results"
_THIS: Final = Path(__file__).stem
_NEEDS_DATA: Final = "signal"
"""The benchmark that measures with labelled sets, which are not part of the project."""
_TAIL: Final = 12


@dataclass(frozen=True)
class Part:
    """One thing that was run, and how it went."""

    name: str
    code: int
    seconds: float
    end: str
    """The last lines that it said."""
    rows: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])


def benchmarks(folder: Path) -> list[str]:
    """Return the modules of `folder` that are run: those with a `main` of their own."""
    return [
        path.stem
        for path in sorted(folder.glob("*.py"))
        if path.stem != _THIS and _has_main(path.read_text(encoding="utf-8"))
    ]


def _has_main(source: str) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) and node.name == "main" for node in ast.parse(source).body
    )


def run(name: str, command: Sequence[str | Path], rows: Path | None = None) -> Part:
    """Run a command, show what it says, and keep the end of it."""
    print(f"\n=== {name}", flush=True)
    began = time.monotonic()
    said: list[str] = []
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            said.append(line.rstrip())
    code = process.returncode
    found: list[Mapping[str, Any]] = []
    if rows is not None and rows.exists():
        found = json.loads(rows.read_text(encoding="utf-8"))
    return Part(name, code, time.monotonic() - began, "\n".join(said[-_TAIL:]), found)


def page(day: date, parts: Sequence[Part]) -> str:
    """Write the results as Markdown."""
    lines = [f"# Nightly, {day.isoformat()}", ""]
    lines += [f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}."]
    lines += ["", "| Part | Result | Took |", "|---|---|---|"]
    for part in parts:
        result = "passed" if part.code == 0 else f"failed (exit code {part.code})"
        lines.append(f"| {part.name} | {result} | {part.seconds:.0f} s |")
    for part in parts:
        lines += ["", f"## {part.name}", ""]
        lines += _table(part.rows) if part.rows else ["```text", part.end, "```"]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["| Row | Value | Unit | Goal | Holds | n |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = (_cell(row.get(key)) for key in ("name", "value", "unit", "goal", "holds", "n"))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    """Run everything and write the results."""
    parser = argparse.ArgumentParser(prog="make nightly", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--no-tests", action="store_true", help="the benchmarks alone")
    parser.add_argument("--data", type=Path, help="folder of the labelled sets (else not measured)")
    arguments = parser.parse_args()
    day = datetime.now(UTC).date()
    results: Path = arguments.results
    results.mkdir(parents=True, exist_ok=True)
    parts: list[Part] = []
    for name in benchmarks(Path(__file__).parent):
        if name == _NEEDS_DATA and arguments.data is None:
            print(f"\nbenchmarks/{name} is left out: name the labelled sets with --data DIR")
            continue
        rows = results / f"{day.isoformat()}-{name}.json"
        command = [sys.executable, "-m", f"benchmarks.{name}", "--json", str(rows)]
        if name == _NEEDS_DATA:
            command += ["--data", str(arguments.data)]
        parts.append(run(f"benchmarks/{name}", command, rows))
    if not arguments.no_tests:
        tests = [sys.executable, "-m", "pytest", "-m", "nightly", "-q", "--durations=10"]
        parts.append(run("nightly tests", tests))
    (results / f"{day.isoformat()}.md").write_text(page(day, parts), encoding="utf-8")
    print(f"\nresults: {results / f'{day.isoformat()}.md'}")
    return int(any(part.code for part in parts))


if __name__ == "__main__":
    sys.exit(main())
