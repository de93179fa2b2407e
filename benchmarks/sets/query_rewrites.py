"""Which words does a query lack that a person had to add? Conversations of TREC CAsT and iKAT."""

from pathlib import Path

from benchmarks.measures import f1, measure_row, precision, recall
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from seekwatch.processors.text.preservation import Queries
from seekwatch.processors.text.words import content_words

from .pages import SEEN_AT


def measure(directory: Path) -> list[Row]:
    """Measure the naming of missing content words: what the breadth check counts."""
    return named_rows(directory, "query_rewrites")


def named_rows(directory: Path, name: str) -> list[Row]:
    """Return the rows of a set of turns: each content word of the resolved question is an item."""
    words: list[tuple[bool, bool]] = []
    for turn in read_items(directory / "turns.jsonl"):
        queries = Queries([turn["raw"]], SEEN_AT)
        missing = {stem for word in turn["missing_in_raw"] for stem in content_words(word)}
        words += [
            (stem in missing, stem not in queries.stems) for stem in content_words(turn["resolved"])
        ]
    return [
        measure_row(f"{name}: {measured.__name__} of the named missing words", words, measured)
        for measured in (precision, recall, f1)
    ]
