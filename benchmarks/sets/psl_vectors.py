"""The Public Suffix List's own test: which domain can be registered of a host?"""

from pathlib import Path

from benchmarks.measures import accuracy, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.processors.urls import registrable_domain


def measure(directory: Path) -> list[Row]:
    """Measure which registrable domains are exactly those of the list's test."""
    vectors = read_items(directory / "vectors.jsonl")
    pairs = [(vector["registrable"], registrable_domain(vector["host"])) for vector in vectors]
    return [
        measure_row("psl_vectors: exact", pairs, accuracy, goal=1.0, baseline=70 / 77),
        time_row("psl_vectors", vectors, lambda vector: registrable_domain(vector["host"])),
    ]
