"""Whether a page holds a number of a claim that it writes in another way than the claim does.

A claim and its source differ in notation (13.90 and 13,90, 729,437 and 729 437, 3.5 and 3-1/2), in
precision (75% of 75.3%, "about 729,000") and in what the claim works out itself (a sum of two
numbers that both are there). None of these is a number that the page does not hold.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

from seekwatch.processors.text.numbers import UNITS, Number, numbers

_GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:([ '.,])\d{3})(?:\1\d{3}){0,5}(?![\d]|[.,]\d)")
_DECIMAL_COMMA: Final = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:[. ']\d{3}){0,5}|\d{1,15}),(\d{1,6})(?!\d)"
)
_FRACTION: Final = re.compile(r"(?<![\d/.,])(?:(\d{1,6})[- ])?(\d)/(\d{1,2})(?![\d/])")
_FRACTION_SIGN: Final = re.compile(r"(?<![\d.,])(\d{0,6})(\d)\u2044(\d{1,2})(?!\d)")
"""What folding makes of ½ and its kin: of `3½` it makes `31⁄2`, where the 1 belongs to the sign."""
_SEPARATOR: Final = re.compile(r"[ '.,]")
_DIGITS: Final = re.compile(r"\d[\d,]*(?:\.(\d+))?")
_ABOUT: Final = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|over|more than|close to|"
    r"some|circa|ca\.?|etwa|rund|fast|environ|pres de|unos|cerca de|circa di|okolo|omkring)|"
    r"~|≈|около|примерно|(?:约|大约|近|超过|約|およそ)[有为是达]?)\s?[$€£¥]?$"
)
_MAX_COMBINED: Final = 8


@lru_cache(maxsize=64)
def numbers_on(page: str) -> tuple[Number, ...]:
    """Return the numbers of a folded page; many claims ask for the same few pages."""
    return tuple(numbers(page))


def without_held(
    wanted: Sequence[Number], claim: str, held: Sequence[Number], page: str
) -> list[Number]:
    """Return the numbers of a claim that a page holds in no notation and no precision.

    Args:
        wanted: numbers of the claim.
        claim: folded, as the positions of `wanted` count in it.
        held: numbers of the page.
        page: folded.
    """
    if not wanted:
        return []
    others = _other_notations(page)
    return [
        number
        for number in wanted
        if not any(_agrees(number, claim, item) for item in held)
        and not any(
            _near(value, number.value / number.scale, number, claim)
            or _near(value, number.value, number, claim)
            for value in others
        )
    ]


def is_worked_out(number: Number, claim: str, held: Iterable[Number]) -> bool:
    """Tell whether a number is the sum or the difference of two others of its claim.

    Args:
        number: of the claim.
        claim: folded.
        held: numbers of the same claim that its sources hold.
    """
    parts = [item.value for item in held if item.value != 0][:_MAX_COMBINED]
    results = (value for a, b in combinations(parts, 2) for value in (a + b, abs(a - b)))
    return any(_near(value, number.value, number, claim) for value in results)


def _agrees(number: Number, claim: str, held: Number) -> bool:
    if number.unit and held.unit and UNITS[number.unit] != UNITS[held.unit]:
        return number.equals(held)
    return _near(held.value, number.value, number, claim)


def _near(value: float, claimed: float, number: Number, claim: str) -> bool:
    """Tell whether `value` gives `claimed` when rounded to as many places as the claim writes."""
    step = _step(number, claim)
    if claimed != number.value:
        step /= number.scale
    return abs(value - claimed) <= step / 2 + 1e-9 * abs(claimed)


def _step(number: Number, claim: str) -> float:
    """What the last place that the claim means is worth; 0 for a number that nobody rounds.

    A bare one (a version, a year, a count) is exact unless a word says otherwise, and so are the
    zeros at the end of a whole one.
    """
    written = _DIGITS.search(claim, number.start, number.end)
    if written is None:
        return 0.0
    rounded = _ABOUT.search(claim[max(0, written.start() - 24) : written.start()]) is not None
    if not (rounded or number.unit or number.scale > 1):
        return 0.0
    if written[1]:
        return float(10.0 ** -len(written[1]) * number.scale)
    whole = written[0].replace(",", "")
    if rounded:
        return float(10.0 ** (len(whole) - len(whole.rstrip("0"))) * number.scale)
    return float(number.scale) if len(whole) > 1 or number.scale > 1 else 0.0


@lru_cache(maxsize=64)
def _other_notations(page: str) -> tuple[float, ...]:
    """Values of what stands on a page with other separators than English ones, and of fractions."""
    found = {float(_SEPARATOR.sub("", match[0])) for match in _GROUPED.finditer(page)}
    for match in _DECIMAL_COMMA.finditer(page):
        found.add(float(f"{_SEPARATOR.sub('', match[1])}.{match[2]}"))
    for match in (*_FRACTION.finditer(page), *_FRACTION_SIGN.finditer(page)):
        whole, top, bottom = int(match[1] or 0), int(match[2]), int(match[3])
        if 0 < top < bottom:
            found.add(whole + top / bottom)
    return tuple(sorted(found))
