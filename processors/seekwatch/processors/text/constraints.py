"""Constraints of a question: what a query may not lose without asking something else.

Rules over the folded text, each with the span it came from, so that a verdict can name what was
dropped. The kinds are those that people notice when they go missing: numbers, dates, versions,
regions, negations, quoted phrases, `site:`.
"""

import re
from enum import StrEnum
from typing import Final

import msgspec

from seekwatch.processors.text.dates import (
    YEAR,
    YEAR_RANGE,
    CalendarDate,
    calendar_dates,
    full_range,
)
from seekwatch.processors.text.fold import typographic
from seekwatch.processors.text.numbers import UNITS, Number, han_value, numbers
from seekwatch.processors.text.regions import LANGUAGES, REGIONS

MAX_CHARACTERS: Final = 4_000
MAX_CONSTRAINTS: Final = 64
"""A question with more is hostile or no question; the first ones are judged."""


class Kind(StrEnum):
    """What sort of constraint it is."""

    SITE = "site"
    QUOTED = "quoted"
    DATE = "date"
    YEAR_RANGE = "year-range"
    YEAR = "year"
    VERSION = "version"
    NUMBER = "number"
    ORDINAL = "ordinal"
    RELATIVE_TIME = "relative-time"
    LANGUAGE = "language"
    REGION = "region"
    NEGATION = "negation"


class Constraint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One constraint.

    Attributes:
        span: as the text spells it.
        start, end: half-open, in the text.
        key: normalised value (a year, a region's name, a phrase …).
        number: of a NUMBER constraint.
        date: of a DATE constraint.
        years: of YEAR and YEAR_RANGE.
        comparator: `<`, `>` or empty.
    """

    kind: Kind
    span: str
    start: int
    end: int
    key: str = ""
    number: Number | None = None
    date: CalendarDate | None = None
    years: tuple[int, ...] = ()
    comparator: str = ""


_SITE: Final = re.compile(r"\bsite:\s?(?P<host>[\w.-]+(?:/\S*)?)")
_QUOTED: Final = re.compile(
    r"\"(?P<plain>[^\"\n]{2,200})\"|(?<![\w])'(?P<single>[^'\n]{2,}(?:'[^'\s][^'\n]*)*)'(?![\w])"
    r"|[「『《〈](?P<cjk>[^」』》〉\n]{1,100})[」』》〉]"
)
_VERSION: Final = re.compile(
    r"\b(?:v\.?|version|release|ver\.?)\s?(?P<named>\d+(?:\.\d+)*(?:[a-z]\d*)?)\b"
    r"|(?<![\d.,$€£])(?P<dotted>\d+\.\d+\.\d+(?:[.-][\w]+)*)"
)
_PRODUCT: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Z][\w+#]*|i[A-Z]\w+|macOS)\s(?P<number>\d{1,3}(?:\.\d+)?)(?![%.,]?\d)(?![A-Za-z0-9%_])"
)
_MORE: Final = (
    "more than|over|above|at least|greater than|exceeding|exceeds?|older than|longer than|"
    "higher than|bigger than|larger than|a minimum of|minimum|no less than|beyond|upwards of|"
    "超过|大于|高于|多于|至少|不少于|不低于|以上"
)
_LESS: Final = (
    "less than|under|below|at most|fewer than|up to|no more than|within|cheaper than|younger than|"
    "shorter than|lower than|smaller than|a maximum of|maximum|not more than|"
    "低于|小于|少于|不到|不超过|最多|以下|以内|之内"
)
COMPARATOR_BEFORE: Final = re.compile(
    rf"(?:(?P<more>{_MORE})|(?P<less>{_LESS}))\s?(?:a |an |the )?$"
)
COMPARATOR_AFTER: Final = re.compile(
    r"^\s?(?:(?P<more>or more|or older|or above|and above|以上)"
    r"|(?P<less>or less|or fewer|or under|or younger|以下|以内|之内))"
)
_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        [
            "first",
            "second",
            "third",
            "fourth",
            "fifth",
            "sixth",
            "seventh",
            "eighth",
            "ninth",
            "tenth",
            "eleventh",
            "twelfth",
            "thirteenth",
            "fourteenth",
            "fifteenth",
            "sixteenth",
            "seventeenth",
            "eighteenth",
            "nineteenth",
            "twentieth",
        ],
        1,
    )
}
_ORDINAL: Final = re.compile(
    rf"(?<!at )\b(?P<word>{'|'.join(_ORDINALS)})\b(?!\s+(?:name|of all|hand|time\b(?!\s+\w+ed)))"
    r"|(?<![\w.])(?P<digits>\d{1,3})(?:st|nd|rd|th)\b"
    r"|第(?P<han>[零〇一二两三四五六七八九十百]+|\d+)"
)
_COMPARED_FIRST: Final = re.compile(r"^\s*[,?]|^\s*$|^,?\s[^?]{0,120}\bor\b")

RELATIVE: Final[dict[str, tuple[str, ...]]] = {
    "newest": (
        "latest", "newest", "most recent", "most recently", "up-to-date", "up to date", "最新",
    ),
    "today": ("today", "today's", "tonight", "今天", "今日", "今晚"),
    "yesterday": ("yesterday", "yesterday's", "昨天", "昨日"),
    "tomorrow": ("tomorrow", "tomorrow's", "明天", "明日"),
    "this week": ("this week", "this week's", "本周", "这周", "这个星期"),
    "last week": ("last week", "last week's", "past week", "previous week", "上周", "上星期"),
    "next week": ("next week", "next week's", "coming week", "下周", "下星期"),
    "this month": ("this month", "this month's", "本月", "这个月"),
    "last month": ("last month", "last month's", "past month", "previous month", "上月", "上个月"),
    "next month": ("next month", "next month's", "coming month", "下月", "下个月"),
    "this year": ("this year", "this year's", "今年"),
    "last year": ("last year", "last year's", "past year", "previous year", "去年"),
    "next year": ("next year", "next year's", "coming year", "明年"),
}  # fmt: skip
"""Names of relative times to their spellings. "Current" is not here: a search engine answers with
the present unless told otherwise, so leaving it out loses nothing."""

_RELATIVE_KEYS: Final = {spelling: key for key, forms in RELATIVE.items() for spelling in forms}


def _relative_forms(*, ascii_only: bool) -> str:
    forms = sorted(_RELATIVE_KEYS, key=len, reverse=True)
    return "|".join(re.escape(form) for form in forms if form.isascii() is ascii_only)


# One look behind for all forms: a pattern that asks it of each is ten times slower.
_RELATIVE: Final = re.compile(
    rf"(?<![\w])(?:{_relative_forms(ascii_only=True)})(?![\w])|{_relative_forms(ascii_only=False)}"
)


def _names(table: dict[str, str]) -> "re.Pattern[str]":
    forms = sorted(table, key=len, reverse=True)
    latin = "|".join(re.escape(form) for form in forms if form.isascii())
    han = "|".join(re.escape(form) for form in forms if not form.isascii())
    return re.compile(rf"(?<![\w.])(?:{latin})(?![\w])\.?|{han}")


_REGION: Final = _names(REGIONS)
_LANGUAGE: Final = _names(LANGUAGES)
_SHORT_REGION: Final = frozenset({"us", "eu", "uk"})
_US: Final = re.compile(r"(?<![\w.])US(?![\w])")

_NEGATION: Final = re.compile(
    r"(?<![\w])(?:other than|apart from|aside from|asides from|except(?: for)?|excluding|exclude|"
    r"excludes|besides|without|rather than|not including|never|nor|neither|not|cannot|no longer|"
    r"(?:do|does|did|is|are|was|were|have|has|had|ca|could|wo|would|should)n't|"
    r"no(?=\s+[a-z]+)(?!\s+(?:i|we|one|idea|more than|less than|problem|doubt)\b))(?![\w])"
    r"|(?<![\w])non-(?=[a-z])|(?<!\S)-(?=[a-z])"
    r"|除了|除外|不包括|不含|没有|沒有|并非|不是|不要|不需要|无需|非(?=[^常洲])|未(?=[^来來])"
)
EXCLUSION: Final = re.compile(r"than|from|except|exclu|besides|without|including|除|不含|不包括")
"""Negations that take a part out; the others deny. One does not stand in for the other."""

_IDLE_NEGATION: Final = re.compile(
    r"\b(?:i|we)\s+(?:really\s+|also\s+)?(?:do|did|ca|could|would|wo)n't\s+"
    r"(?:know|think|understand|remember|care|mind|believe)|\bwhy not\b|"
    r"\bif not\b|\bor not\b|不仅|不但|是不是|能不能|要不要|有没有|会不会"
)


def constraints(text: str) -> tuple[Constraint, ...]:
    """Find the constraints of a question or query, in the order of the text."""
    return _Finder(text[:MAX_CHARACTERS]).run()


class _Finder:
    """Runs the rules in order; a span that one rule took is not read again by a later one."""

    def __init__(self, text: str) -> None:
        self._text = text
        # One character for one character, so that spans of the folded text are spans of the text.
        plain = typographic(text)
        self._plain = plain if len(plain) == len(text) else text
        lower = self._plain.lower()
        self._lower = lower if len(lower) == len(text) else self._plain
        self._taken: list[tuple[int, int]] = []
        self._found: list[Constraint] = []

    def run(self) -> tuple[Constraint, ...]:
        self._sites()
        self._quoted()
        self._dates()
        self._years()
        self._versions()
        self._numbers()
        self._ordinals()
        self._relative_times()
        self._table(_LANGUAGE, LANGUAGES, Kind.LANGUAGE)
        self._table(_REGION, REGIONS, Kind.REGION)
        self._negations()
        self._found.sort(key=lambda constraint: (constraint.start, constraint.end))
        return tuple(self._found[:MAX_CONSTRAINTS])

    def _free(self, start: int, end: int) -> bool:
        """Tell whether no rule has taken any of a span; nothing is free once enough was found."""
        if len(self._found) >= 2 * MAX_CONSTRAINTS:
            return False
        return not any(start < taken[1] and taken[0] < end for taken in self._taken)

    def _add(self, kind: Kind, start: int, end: int, constraint: Constraint | None = None) -> None:
        self._taken.append((start, end))
        self._found.append(constraint or self._make(kind, start, end))

    def _make(self, kind: Kind, start: int, end: int, key: str = "") -> Constraint:
        return Constraint(
            kind=kind,
            span=self._text[start:end],
            start=start,
            end=end,
            key=key or self._lower[start:end],
        )

    def _sites(self) -> None:
        for match in _SITE.finditer(self._lower):
            made = self._make(Kind.SITE, match.start(), match.end(), match["host"].rstrip("."))
            self._add(Kind.SITE, match.start(), match.end(), made)

    def _quoted(self) -> None:
        for match in _QUOTED.finditer(self._plain):
            phrase = (match["plain"] or match["single"] or match["cjk"] or "").strip()
            # In single quotes one word is as often an apostrophe as a title.
            if not phrase or (match["single"] and " " not in phrase and len(phrase) < 4):
                continue
            if self._free(match.start(), match.end()):
                made = self._make(Kind.QUOTED, match.start(), match.end(), phrase.lower())
                self._add(Kind.QUOTED, match.start(), match.end(), made)

    def _dates(self) -> None:
        for date in calendar_dates(self._lower):
            if self._free(date.start, date.end):
                made = msgspec.structs.replace(
                    self._make(Kind.DATE, date.start, date.end), date=date
                )
                self._add(Kind.DATE, date.start, date.end, made)

    def _years(self) -> None:
        for match in YEAR_RANGE.finditer(self._lower):
            years = full_range(match)
            if years and self._free(match.start(), match.end()):
                made = msgspec.structs.replace(
                    self._make(Kind.YEAR_RANGE, match.start(), match.end()), years=years
                )
                self._add(Kind.YEAR_RANGE, match.start(), match.end(), made)
        for match in YEAR.finditer(self._lower):
            if self._free(match.start(), match.end()) and not self._is_quantity(match.end()):
                made = msgspec.structs.replace(
                    self._make(Kind.YEAR, match.start(), match.end()), years=(int(match["year"]),)
                )
                self._add(Kind.YEAR, match.start(), match.end(), made)

    def _is_quantity(self, end: int) -> bool:
        """Tell whether a unit follows, so that 2000 in "2000 calories" is no year."""
        rest = self._lower[end : end + 14]
        word = re.match(r"[\s-]?([a-z%°]+|[^\W\d_a-z])", rest)
        unit = word[1] if word else ""
        return unit in UNITS and unit not in {"in", "年"}

    def _versions(self) -> None:
        for match in _VERSION.finditer(self._lower):
            key = match["named"] or match["dotted"]
            if self._free(match.start(), match.end()):
                made = self._make(Kind.VERSION, match.start(), match.end(), key)
                self._add(Kind.VERSION, match.start(), match.end(), made)
        for match in _PRODUCT.finditer(self._plain):
            start, end = match.span("number")
            if self._free(start, end) and not self._is_quantity(end):
                made = self._make(Kind.VERSION, start, end, match["number"])
                self._add(Kind.VERSION, start, end, made)

    def _numbers(self) -> None:
        for number in numbers(self._lower):
            if not self._free(number.start, number.end):
                continue
            before = COMPARATOR_BEFORE.search(self._lower[max(0, number.start - 24) : number.start])
            after = COMPARATOR_AFTER.match(self._lower[number.end : number.end + 12])
            if number.worded and not (number.unit or before or after or number.scale > 1):
                continue
            comparator = comparator_of(before, after)
            start = number.start - (len(before[0]) if before else 0)
            end = number.end + (after.end() if after else 0)
            made = msgspec.structs.replace(
                self._make(Kind.NUMBER, start, end), number=number, comparator=comparator
            )
            self._add(Kind.NUMBER, start, end, made)

    def _ordinals(self) -> None:
        for match in _ORDINAL.finditer(self._lower):
            if not self._free(match.start(), match.end()):
                continue
            value = ordinal_value(match)
            rest = self._lower[match.end() :]
            # "Who was born first, A or B" compares; it does not ask for the first of anything.
            if (
                value == 1
                and match["word"]
                and " or " in self._lower
                and _COMPARED_FIRST.match(rest)
            ):
                continue
            made = self._make(Kind.ORDINAL, match.start(), match.end(), str(value))
            self._add(Kind.ORDINAL, match.start(), match.end(), made)

    def _relative_times(self) -> None:
        for match in _RELATIVE.finditer(self._lower):
            if self._free(match.start(), match.end()):
                key = _RELATIVE_KEYS[match[0]]
                made = self._make(Kind.RELATIVE_TIME, match.start(), match.end(), key)
                self._add(Kind.RELATIVE_TIME, match.start(), match.end(), made)

    def _table(self, pattern: "re.Pattern[str]", table: dict[str, str], kind: Kind) -> None:
        for match in pattern.finditer(self._lower):
            name = table.get(match[0]) or table.get(match[0].rstrip("."))
            if name and self._free(match.start(), match.end()):
                self._add(kind, *match.span(), self._make(kind, *match.span(), name))
        if kind is Kind.REGION:
            for match in _US.finditer(self._plain):
                if self._free(*match.span()):
                    made = self._make(kind, *match.span(), "united states")
                    self._add(kind, *match.span(), made)

    def _negations(self) -> None:
        idle = [match.span() for match in _IDLE_NEGATION.finditer(self._lower)]
        for match in _NEGATION.finditer(self._lower):
            start, end = match.span()
            if self._free(start, end) and not any(s <= start < e for s, e in idle):
                following = re.match(r"\s*[\w'-]+", self._text[end : end + 40])
                reach = end + (following.end() if following else 0)
                key = "exclude" if EXCLUSION.search(match[0]) else "not"
                made = self._make(Kind.NEGATION, start, reach, key)
                # The following word is named, but other rules may still read it.
                self._add(Kind.NEGATION, start, end, made)


def comparator_of(before: "re.Match[str] | None", after: "re.Match[str] | None") -> str:
    """`<`, `>` or empty, from the words around a number."""
    for match in (before, after):
        if match:
            return ">" if match["more"] else "<"
    return ""


def ordinal_value(match: "re.Match[str]") -> int:
    """The number that an ordinal stands for."""
    if match["word"]:
        return _ORDINALS[match["word"]]
    if match["digits"]:
        return int(match["digits"])
    han = match["han"]
    return int(han) if han.isdigit() else han_value(han)
