"""Calendar dates in questions and queries: month names, ISO and Chinese forms, years and ranges."""

import re
from datetime import UTC, datetime
from typing import Final

import msgspec

_MONTH_NAMES: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTHS: Final = {
    **{name: number for number, name in enumerate(_MONTH_NAMES, 1)},
    **{name[:3]: number for number, name in enumerate(_MONTH_NAMES, 1)},
    "sept": 9,
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY: Final = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>1[0-9]\d\d|20\d\d)"

_FORMS: Final = (
    re.compile(rf"\b(?P<month>{_MONTH})\.?\s+{_DAY}(?!\d)(?:\s*,?\s+{_YEAR}(?!\d))?"),
    re.compile(rf"\b{_DAY}(?:\s+of)?\s+(?P<month>{_MONTH})\b\.?(?:\s*,?\s+{_YEAR}(?!\d))?"),
    re.compile(rf"\b(?P<month>{_MONTH})\.?\s*,?\s+(?:of\s+)?{_YEAR}(?!\d)"),
    re.compile(rf"(?<!\d){_YEAR}[-/.](?P<month>0?[1-9]|1[0-2])[-/.]{_DAY}(?!\d)"),
    re.compile(
        r"(?:(?P<year>\d{4})年)?(?P<month>1[0-2]|0?[1-9])月(?:(?P<day>3[01]|[12]\d|0?[1-9])[日号])?"
    ),
)

YEAR_RANGE: Final = re.compile(
    r"(?<![\d.])(?P<first>1[0-9]\d\d|20\d\d)\s?(?:-|/|to|until|through|至|到)\s?"
    r"(?P<last>(?:1[0-9]|20)?\d\d)(?![\d.])"
)
YEAR: Final = re.compile(
    r"(?<![\d.,$€£¥-])(?P<year>1[0-9]\d\d|20\d\d)(?P<decade>s)?(?![\d%]|[.,]\d|s\w)"
)


class CalendarDate(msgspec.Struct, frozen=True, gc=False):
    """A date of which parts may be missing; positions are in the folded text."""

    year: int | None
    month: int
    day: int | None
    start: int
    end: int
    year_start: int = -1

    def covers(self, other: "CalendarDate") -> bool:
        """Tell whether month and day of `other` are said here; years are compared apart."""
        return self.month == other.month and (other.day is None or self.day == other.day)


def calendar_dates(folded: str) -> list[CalendarDate]:
    """Dates with at least a month and one part more, in order, none overlapping."""
    found: list[CalendarDate] = []
    for form in _FORMS:
        for match in form.finditer(folded):
            if any(match.start() < date.end and date.start < match.end() for date in found):
                continue
            groups = match.groupdict()
            year, day = groups.get("year"), groups.get("day")
            if year is None and day is None and "月" not in match[0]:
                continue
            month = groups["month"] or ""
            found.append(
                CalendarDate(
                    int(year) if year else None,
                    _MONTHS[month] if month in _MONTHS else int(month),
                    int(day) if day else None,
                    match.start(),
                    match.end(),
                    match.start("year") if year else -1,
                )
            )
    return sorted(found, key=lambda date: date.start)


def iso_day(nanoseconds: int) -> str:
    """The UTC day of a moment since the epoch, or `?` where no calendar has it."""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):
        return "?"


def full_range(match: "re.Match[str]") -> tuple[int, int] | None:
    """Both years of a range match (2014-15 is 2014 and 2015), or None when it is none."""
    first, last = int(match["first"]), match["last"]
    end = int(last) if len(last) == 4 else first // 100 * 100 + int(last)
    if end < first and len(last) == 2:
        end += 100
    return (first, end) if first < end <= first + 400 else None
