"""How well cited pages support a claim, by the words and numbers that both hold.

Lexical and cheap: the page is searched as one string for the claim's word stems, and the best
stretch of a few sentences counts. A number of the claim that the page does not hold is decisive.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from seekwatch.processors.text.figures import is_worked_out, numbers_on, without_held
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.numbers import numbers
from seekwatch.processors.text.words import content_words

_STRETCH: Final = 500
"""Characters of about three sentences."""
_MAX_PLACES: Final = 200
_MAX_STEMS: Final = 60
_MAX_NUMBERS: Final = 30
"""Numbers of one claim that are looked for."""
_MAX_LENGTH: Final = 60
"""Characters of one word or number; a longer one is none, and slow to look for."""


class Support(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the cited pages hold of a claim.

    Attributes:
        overlap: share of the claim's content words in the best stretch of each page, 0 to 1.
        missing_numbers: numbers of the claim that stand on none of them.
    """

    overlap: float
    missing_numbers: tuple[str, ...] = ()


def support_of(claim: str, pages: Sequence[str], enough: float = 1.0) -> Support:
    """Measure the support of a claim by all pages that are cited for it.

    Together, because a claim that compares two things cites a page for each.

    Args:
        claim: without citation marks.
        pages: folded texts (`fold`) of the cited pages.
        enough: overlap at which no further page is searched.
    """
    stems = [stem[:_MAX_LENGTH] for stem in content_words(claim)[:_MAX_STEMS]]
    held: set[int] = set()
    for page in pages:
        if stems and len(held) < enough * len(stems):
            held |= _best_stretch(stems, page)
    return Support(
        overlap=len(held) / len(stems) if stems else 0.0,
        missing_numbers=missing_numbers(claim, pages),
    )


def missing_numbers(claim: str, pages: Sequence[str]) -> tuple[str, ...]:
    """Numbers of a claim that no page holds: in digits, words, another unit, scale or notation.

    A number that the claim works out of two that are held is not missing.
    """
    folded = fold(claim)
    stated = [
        number
        for number in numbers(folded)
        if not number.worded and number.end - number.start <= _MAX_LENGTH
    ][:_MAX_NUMBERS]
    wanted = stated
    for page in pages if wanted else ():
        absent = [n for n in wanted if not _written(folded[n.start : n.end], page)]
        held = numbers_on(page) if absent else ()
        absent = [n for n in absent if not any(n.equals(other) for other in held)]
        wanted = without_held(absent, folded, held, page)
    if wanted and len(wanted) < len(stated):
        known = [number for number in stated if number not in wanted]
        wanted = [number for number in wanted if not is_worked_out(number, folded, known)]
    return tuple(folded[number.start : number.end].strip() for number in wanted)


def _written(spelling: str, page: str) -> bool:
    digits = re.search(r"[\d.,]*\d", spelling)
    if digits is None or spelling.strip(" $€£¥") != digits[0]:
        return _stands(spelling.strip(), page)
    return _stands(digits[0], page, whole=True)


def _stands(spelling: str, page: str, *, whole: bool = False) -> bool:
    """Tell whether a spelling stands on the page and is not the end of a longer number.

    Searched by hand: a pattern for each number would be compiled for it alone, which takes longer
    than all the rest of a claim.

    Args:
        spelling: of a number.
        page: folded text.
        whole: nor the beginning of a longer number.
    """
    at = page.find(spelling)
    while at >= 0:
        before, after = page[max(0, at - 1) : at], page[at + len(spelling) : at + len(spelling) + 2]
        begins = not (before.isdecimal() or before in (".", ","))
        goes_on = after[:1].isdecimal() or (after[:1] in (".", ",") and after[1:].isdecimal())
        if begins and not (whole and goes_on):
            return True
        at = page.find(spelling, at + 1)
    return False


def _best_stretch(stems: Sequence[str], page: str) -> set[int]:
    """Indices of the stems that begin within the stretch of the page that holds most of them."""
    if len(page) <= _STRETCH:
        return {index for index, stem in enumerate(stems) if _begins(stem, page)}
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
    best: set[int] = set()
    left = 0
    for at, index in places:
        inside[index] = inside.get(index, 0) + 1
        while places[left][0] < at - _STRETCH:
            gone = places[left][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            left += 1
        if len(inside) > len(best):
            best = set(inside)
    return best


def _begins(stem: str, page: str) -> bool:
    """Tell whether a word of the page begins with the stem."""
    at = page.find(stem)
    while at > 0 and stem.isascii() and page[at - 1].isalnum():
        at = page.find(stem, at + 1)
    return at >= 0
