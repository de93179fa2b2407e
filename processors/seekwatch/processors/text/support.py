"""How well a page supports a claim, by the words and numbers that both hold.

Lexical and cheap: the page is searched as one string for the claim's word stems, and the best
stretch of a few sentences counts. A number of the claim that the page does not hold is decisive.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.numbers import numbers
from seekwatch.processors.text.words import content_words

_STRETCH: Final = 500
"""Characters of about three sentences."""
_MAX_PLACES: Final = 200
_MAX_STEMS: Final = 60


class Support(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a page holds of a claim.

    Attributes:
        overlap: share of the claim's content words in the page's best stretch, 0 to 1.
        missing_numbers: numbers of the claim that stand nowhere on the page.
    """

    overlap: float
    missing_numbers: tuple[str, ...] = ()


def support_of(claim: str, page: str) -> Support:
    """Measure the support of a claim.

    Args:
        claim: without citation marks.
        page: folded text (`fold`) of the cited page.
    """
    stems = content_words(claim)[:_MAX_STEMS]
    return Support(overlap=_best_stretch(stems, page), missing_numbers=missing_numbers(claim, page))


def missing_numbers(claim: str, page: str) -> tuple[str, ...]:
    """Numbers of a claim that a folded page does not hold, in digits, words or another scale."""
    folded = fold(claim)
    wanted = [number for number in numbers(folded) if not number.worded]
    absent = [n for n in wanted if not _written(folded[n.start : n.end], page)]
    if not absent:
        return ()
    held = numbers(page)
    return tuple(
        folded[number.start : number.end].strip()
        for number in absent
        if not any(number.equals(other) for other in held)
    )


def _written(spelling: str, page: str) -> bool:
    digits = re.search(r"[\d.,]*\d", spelling)
    if digits is None or spelling.strip(" $€£¥") != digits[0]:
        return re.search(rf"(?<![\d.,]){re.escape(spelling.strip())}", page) is not None
    return re.search(rf"(?<![\d.,]){re.escape(digits[0])}(?![\d]|[.,]\d)", page) is not None


def _best_stretch(stems: Sequence[str], page: str) -> float:
    """The largest share of stems that begin within one stretch of the page."""
    if not stems:
        return 0.0
    places: list[tuple[int, int]] = []
    for index, stem in enumerate(stems):
        at = page.find(stem)
        found = 0
        while at >= 0 and found < _MAX_PLACES:
            if not stem.isascii() or at == 0 or not page[at - 1].isalnum():
                places.append((at, index))
                found += 1
            at = page.find(stem, at + 1)
    places.sort()
    inside: dict[int, int] = {}
    best, left = 0, 0
    for at, index in places:
        inside[index] = inside.get(index, 0) + 1
        while places[left][0] < at - _STRETCH:
            gone = places[left][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            left += 1
        best = max(best, len(inside))
    return best / len(stems)
