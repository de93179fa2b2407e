"""What every benchmark shares: rows of results, their JSON and table, and the goal check.

A benchmark's `main` is three lines: read the arguments, measure, `report`. All measurements that
are compared with a baseline are ratios taken in one run, so that a row means the same on any
machine.
"""

import argparse
import json
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured number. None stands where a field has no meaning."""

    name: str
    value: float | None
    """None when it could not be measured here."""
    unit: str
    """`ratio`, `s`, `MiB`, `spans/s`, …"""
    better: Literal["higher", "lower"]
    goal: float | None = None
    """What the value should reach; a row without a goal cannot fall short."""
    baseline: float | None = None
    """The value that it is compared with, in the same unit."""
    n: int | None = None
    """Number of samples."""
    ci_low: float | None = None
    ci_high: float | None = None
    """Bounds of the 95 % bootstrap interval of the median."""

    @property
    def holds(self) -> bool | None:
        """Whether the goal is reached; None without a goal, False without a value."""
        if self.goal is None:
            return None
        if self.value is None:
            return False
        return self.value <= self.goal if self.better == "lower" else self.value >= self.goal


def median_row(
    name: str,
    samples: Sequence[float],
    *,
    unit: str,
    better: Literal["higher", "lower"],
    goal: float | None = None,
    baseline: float | None = None,
) -> Row:
    """Return the row of a sample's median with its interval."""
    low, high = bootstrap_interval(samples)
    return Row(
        name=name,
        value=statistics.median(samples),
        unit=unit,
        better=better,
        goal=goal,
        baseline=baseline,
        n=len(samples),
        ci_low=low,
        ci_high=high,
    )


def bootstrap_interval(samples: Sequence[float], rounds: int = 1000) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of the medians of resamples (seeded)."""
    source = random.Random(0)
    size = len(samples)
    medians = sorted(statistics.median(source.choices(samples, k=size)) for _ in range(rounds))
    return medians[int(rounds * 0.025)], medians[int(rounds * 0.975)]


def interleaved(
    subjects: dict[str, Callable[[], float]], *, rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """Measure subjects in turns, in a new order each round, so that drift hits all alike.

    Args:
        subjects: name to a function that does one batch and returns what it cost.
        rounds: samples of each that are kept.
        warm_up: rounds before them that are not.

    Returns:
        Name to samples; those with the same index come from the same round.
    """
    source = random.Random(0)
    samples: dict[str, list[float]] = {name: [] for name in subjects}
    for round_number in range(warm_up + rounds):
        order = list(subjects)
        source.shuffle(order)
        for name in order:
            cost = subjects[name]()
            if round_number >= warm_up:
                samples[name].append(cost)
    return samples


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> list[float]:
    """Return the paired ratios of two samples of the same rounds."""
    return [above / below for above, below in zip(numerators, denominators, strict=True)]


def argument_parser(description: str) -> argparse.ArgumentParser:
    """Return a parser that knows `--json` and `--check`; a benchmark adds its own options."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 when a row falls short of its goal"
    )
    return parser


def report(rows: Sequence[Row], arguments: argparse.Namespace) -> int:
    """Print the table, write the JSON where asked; returns the exit status."""
    if arguments.json is not None:
        described = [{**asdict(row), "holds": row.holds} for row in rows]
        path: Path = arguments.json
        path.write_text(json.dumps(described, indent=2, allow_nan=False) + "\n")
    # A pipe has no width of its own; the default of 80 would break every name.
    width = None if sys.stdout.isatty() else 140
    Console(file=sys.stdout, width=width).print(_table(rows))
    short = [row.name for row in rows if row.holds is False]
    if arguments.check and short:
        sys.stderr.write(f"short of the goal: {', '.join(short)}\n")
        return 1
    return 0


def _table(rows: Sequence[Row]) -> Table:
    table = Table("name", "value", "95 % interval", "unit", "goal", "baseline", "n", "holds")
    for row in rows:
        interval = "" if row.ci_low is None else f"{_number(row.ci_low)} – {_number(row.ci_high)}"
        goal = "" if row.goal is None else f"{'≤' if row.better == 'lower' else '≥'} {row.goal:g}"
        holds = {None: "", True: "yes", False: "NO"}[row.holds]
        table.add_row(
            row.name,
            _number(row.value),
            interval,
            row.unit,
            goal,
            _number(row.baseline),
            "" if row.n is None else str(row.n),
            holds,
        )
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
