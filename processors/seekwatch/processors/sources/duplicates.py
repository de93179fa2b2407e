"""Near-duplicate pages, so that one wire story on three sites counts as one source.

Shares of common word 5-grams, as containment of the shorter text, so that a cut or framed copy is
still found. Work is bounded: a sample of each text, and a cap on the pages.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from seekwatch.processors.text.fold import CJK, KANA, fold

MAX_PAGES: Final = 40
_SAMPLE: Final = 8_000
_WIDTH: Final = 5
_MINIMUM: Final = 20
"""Shingles below which two texts are too short to tell."""
_TOKEN: Final = re.compile(rf"[{CJK}{KANA}]|[^\W_]+")
_ASCII_TOKEN: Final = re.compile(r"[a-z0-9]+")


@lru_cache(maxsize=64)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    pattern = _ASCII_TOKEN if text.isascii() else _TOKEN
    tokens = pattern.findall(fold(text))
    return frozenset(zip(*(tokens[start:] for start in range(_WIDTH)), strict=False))


def similarity(first: str, second: str) -> float:
    """How much of the shorter text stands in the other, 0 to 100."""
    one, two = _shingles(first[:_SAMPLE]), _shingles(second[:_SAMPLE])
    fewer = min(len(one), len(two))
    if fewer < _MINIMUM:
        return 100.0 if first.strip() and first.strip() == second.strip() else 0.0
    return 100.0 * len(one & two) / fewer


def copies(texts: Sequence[str | None], threshold: float) -> dict[int, int]:
    """Map each text that copies an earlier one to the index of its origin.

    Texts that are None are never copies; only the first `MAX_PAGES` are compared.
    """
    origins: list[int] = []
    found: dict[int, int] = {}
    for index, text in enumerate(texts[:MAX_PAGES]):
        if not text:
            continue
        for origin in origins:
            if similarity(texts[origin] or "", text) >= threshold:
                found[index] = origin
                break
        else:
            origins.append(index)
    return found
