"""Numbers as values: digits, words, scales and units, so that `5m`, `5 million` and 五百万 compare.

Values, not spellings, are what a query must keep and what a cited page must hold.
"""

import re
from typing import Final

import msgspec

from seekwatch.processors.text.fold import fold

_WORDS: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
}
_CJK_DIGITS: Final = {
    **{digit: value for value, digit in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_CJK_MAGNITUDES: Final = {"十": 10, "百": 100, "千": 1_000}
_SCALES: Final = {
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "m": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "b": 1e9,
    "trillion": 1e12,
    "tn": 1e12,
    "千": 1e3,
    "万": 1e4,
    "萬": 1e4,
    "百万": 1e6,
    "亿": 1e8,
    "億": 1e8,
}

UNITS: Final[dict[str, tuple[str, float]]] = {}
"""Spelling of a unit to its dimension and its size in that dimension's base unit."""

for _dimension, _size, _spellings in (
    ("length", 1.0, "m meter meters metre metres 米 公尺"),
    ("length", 1000.0, "km kms kilometer kilometers kilometre kilometres 公里 千米"),
    ("length", 0.01, "cm centimeter centimeters centimetre centimetres 厘米"),
    ("length", 0.001, "mm millimeter millimeters millimetre millimetres 毫米"),
    ("length", 1609.344, "mi mile miles 英里"),
    ("length", 0.3048, "ft foot feet 英尺"),
    ("length", 0.0254, "inch inches in. 英寸"),
    ("length", 0.9144, "yard yards yd"),
    ("mass", 1.0, "kg kgs kilogram kilograms kilo kilos 公斤 千克"),
    ("mass", 0.001, "g gram grams 克"),
    ("mass", 0.45359237, "lb lbs pound pounds 磅"),
    ("mass", 1000.0, "tonne tonnes ton tons 吨"),
    ("time", 1.0, "s sec secs second seconds 秒"),
    ("time", 60.0, "min mins minute minutes 分钟"),
    ("time", 3600.0, "h hr hrs hour hours 小时"),
    ("time", 86400.0, "day days 天 日"),
    ("time", 604800.0, "week weeks 周 星期"),
    ("time", 2629746.0, "month months 个月"),
    ("time", 31556952.0, "year years yr yrs 年"),
    ("time", 315569520.0, "decade decades"),
    ("money", 1.0, "$ usd dollar dollars us$ bucks 美元"),
    ("money-eur", 1.0, "€ eur euro euros 欧元"),
    ("money-gbp", 1.0, "£ gbp 英镑"),
    ("money-cny", 1.0, "¥ cny rmb yuan 元 人民币"),
    ("money-jpy", 1.0, "jpy yen 日元"),
    ("money-inr", 1.0, "₹ inr rupee rupees"),
    ("share", 1.0, "% percent per-cent pct 百分"),
    ("temperature", 1.0, "°c celsius 摄氏度 °f fahrenheit degrees degree °"),
    ("data", 1.0, "gb gigabyte gigabytes"),
    ("data", 0.001, "mb megabyte megabytes"),
    ("data", 1000.0, "tb terabyte terabytes"),
    ("area", 1.0, "acre acres hectare hectares"),
    ("speed", 1.0, "mph km/h kph knots"),
    ("energy", 1.0, "kwh mwh watt watts kw mw gw kcal calorie calories"),
    ("frequency", 1.0, "hz mhz ghz"),
    ("people", 1.0, "people persons 人"),
):
    for _spelling in _spellings.split():
        UNITS[_spelling] = (_dimension, _size)

_WORDY_UNITS: Final = "|".join(
    re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True) if unit[-1].isascii()
)
_CJK_UNITS: Final = "|".join(
    re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True) if not unit[-1].isascii()
)
_NUMBER: Final = re.compile(
    r"(?P<currency>us\$|[$€£¥₹])?\s?(?<![0-9a-z_.])(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|"
    r"\d+(?:\.\d+)?)"
    r"(?![\d.]*\d)"
    r"(?:[\s-]?(?P<scale>hundred|thousand|million|billion|trillion|百万|[万萬亿億千]"
    r"|(?:k|mn|m|bn|b|tn)(?![a-z0-9]))(?![a-z]))?"
    rf"(?:[\s-]?(?P<unit>(?:{_WORDY_UNITS})(?![a-z0-9])|{_CJK_UNITS}|°|%))?(?![a-z_]|-[a-z]*\d)"
)
_WORD_NUMBER: Final = re.compile(
    rf"(?<![\w-])(?P<word>{'|'.join(_WORDS)})"
    rf"(?:[\s-](?P<scale>hundred|thousand|million|billion))?"
    rf"(?:[\s-](?P<unit>(?:{_WORDY_UNITS})))?(?![\w])"
)
_CJK_NUMBER: Final = re.compile(
    r"(?<![零〇一二两兩三四五六七八九十百千])(?P<han>[零〇一二两兩三四五六七八九十百千]+)"
    rf"(?P<scale>[万萬亿億])?(?P<unit>{_CJK_UNITS})"
)


class Number(msgspec.Struct, frozen=True, gc=False):
    """A number in a text.

    Attributes:
        value: with its scale multiplied in.
        unit: as spelled, or empty.
        start, end: where it stands in the folded text.
        worded: written as a word.
        scale: the factor that was multiplied in.
    """

    value: float
    unit: str
    start: int
    end: int
    worded: bool = False
    scale: float = 1.0

    def equals(self, other: "Number") -> bool:
        """Tell whether both name one quantity; a missing unit fits any."""
        if self.unit and other.unit:
            mine, theirs = UNITS[self.unit], UNITS[other.unit]
            if mine[0] == theirs[0] and mine[1] != theirs[1]:
                return _close(self.value * mine[1], other.value * theirs[1], 0.01)
            if mine[0] != theirs[0]:
                return False
        return _close(self.value, other.value, 1e-9)


def numbers(folded: str) -> list[Number]:
    """Every number in a folded text, in order; number words only from two upwards."""
    found = [_from_digits(match) for match in _NUMBER.finditer(folded)]
    found.extend(_from_word(match) for match in _WORD_NUMBER.finditer(folded))
    if not folded.isascii():
        found.extend(_from_han(match) for match in _CJK_NUMBER.finditer(folded))
    found.sort(key=lambda number: (number.start, number.end))
    return found


def numbers_of(text: str) -> list[Number]:
    """`numbers` of a text that is not folded yet."""
    return numbers(fold(text))


def _from_digits(match: "re.Match[str]") -> Number:
    scale = _SCALES.get(match["scale"] or "", 1.0)
    unit = match["unit"] or match["currency"] or ""
    # `$5 m` is five million dollars, `5 m` five metres: a bare letter scales money only.
    if match["scale"] == "m" and not match["currency"]:
        scale, unit = 1.0, unit or "m"
    return Number(
        float(match["digits"].replace(",", "")) * scale,
        unit,
        match.start() + (len(match[0]) - len(match[0].lstrip())),
        match.end(),
        scale=scale,
    )


def _from_word(match: "re.Match[str]") -> Number:
    scale = _SCALES.get(match["scale"] or "", 1.0)
    return Number(
        _WORDS[match["word"]] * scale,
        match["unit"] or "",
        match.start(),
        match.end(),
        worded=True,
        scale=scale,
    )


def _from_han(match: "re.Match[str]") -> Number:
    scale = _SCALES.get(match["scale"] or "", 1.0)
    return Number(
        han_value(match["han"]) * scale,
        match["unit"],
        match.start(),
        match.end(),
        worded=True,
        scale=scale,
    )


def han_value(text: str) -> int:
    """The value of a number below ten thousand in Han digits (十二 is 12)."""
    total, digit = 0, 0
    for character in text:
        if character in _CJK_MAGNITUDES:
            total += (digit or 1) * _CJK_MAGNITUDES[character]
            digit = 0
        else:
            digit = _CJK_DIGITS.get(character, 0)
    return total + digit


def _close(first: float, second: float, tolerance: float) -> bool:
    return abs(first - second) <= tolerance * max(abs(first), abs(second), 1e-12)
