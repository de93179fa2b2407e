"""Does the cited page support a sentence of Wikipedia, and where on the page?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measures import auc, f1, measure_row, time_row
from benchmarks.rows import Row
from benchmarks.sets.reading import read_items
from benchmarks.sets.support import support_score
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.words import content_words

_FIRST: Final = 5


def measure(directory: Path) -> list[Row]:
    """Measure the support check on whole pages, and the order that it gives their sentences."""
    items = read_items(directory / "claims.jsonl")

    def judge(item: dict[str, Any]) -> float:
        return support_score(item["claim"], ["\n".join(item["evidence"])])

    numbers = [(item["label"], judge(item)) for item in items]
    places = [place for item in items if (place := _place(item)) is not None]
    name = "citation_wice"
    return [
        measure_row(
            f"{name}: AUC, supported against the rest",
            [(label == "supported", number) for label, number in numbers],
            auc,
            goal=0.80,
            baseline=0.77,
        ),
        measure_row(
            f"{name}: AUC, not supported against the rest",
            [(label == "not_supported", -number) for label, number in numbers],
            auc,
            goal=0.90,
            baseline=0.87,
        ),
        measure_row(f"{name}: MRR of the evidence", places, _mean_reciprocal, goal=0.92),
        measure_row(f"{name}: evidence among the first {_FIRST}", places, _among_first),
        measure_row(
            f"{name}: F1 of unsupported words",
            _words(read_items(directory / "unsupported_tokens.jsonl")),
            f1,
        ),
        time_row(name, items, judge),
    ]


def _place(item: dict[str, Any]) -> int | None:
    """Place of the first supporting sentence in the order of support, from 1."""
    wanted = {index for option in item["supporting_sentences"] for index in option}
    if not wanted:
        return None
    scored = [
        (-support_score(item["claim"], [sentence]), index)
        for index, sentence in enumerate(item["evidence"])
    ]
    order = [index for _, index in sorted(scored)]
    return min(order.index(index) for index in wanted) + 1


def _mean_reciprocal(places: Sequence[int]) -> float | None:
    return sum(1 / place for place in places) / len(places) if places else None


def _among_first(places: Sequence[int]) -> float | None:
    return sum(place <= _FIRST for place in places) / len(places) if places else None


def _words(items: Sequence[dict[str, Any]]) -> list[tuple[bool, bool]]:
    """Content words of the claims: marked by people, and missing on the page."""
    found: list[tuple[bool, bool]] = []
    for item in items:
        page = fold("\n".join(item["evidence"]))
        for token, unsupported in zip(item["tokens"], item["unsupported"], strict=True):
            stems = content_words(token)
            if stems:
                found.append((unsupported, any(stem not in page for stem in stems)))
    return found
