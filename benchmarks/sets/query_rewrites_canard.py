"""As `query_rewrites`, for the dialogues of CANARD."""

from pathlib import Path

from benchmarks.rows import Row
from benchmarks.sets.query_rewrites import named_rows


def measure(directory: Path) -> list[Row]:
    """Measure the naming of missing content words."""
    return named_rows(directory, "query_rewrites_canard")
