"""Dates and times as pages, providers and spans write them, as nanoseconds since the epoch.

A wrong date is worse than none: what is ambiguous (03/04/2026) is not read, and a bound check is
left to the caller, who knows when the source was seen.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

NANOSECONDS: Final = 1_000_000_000
DAY: Final = 86_400 * NANOSECONDS

EARLIEST: Final = 788_918_400 * NANOSECONDS
"""1995-01-01: no web page is older, so an earlier date is a mistake."""

_MONTHS: Final = {
    name: number
    for number, spellings in enumerate(
        (
            "january jan januar janvier enero gennaio janeiro",
            "february feb februar février febrero febbraio fevereiro",
            "march mar märz mars marzo março",
            "april apr avril abril aprile",
            "may mai mayo maggio maio",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet julio luglio julho",
            "august aug août agosto",
            "september sep sept septembre septiembre settembre setembro",
            "october oct oktober okt octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre diciembre dicembre dezembro",
        ),
        start=1,
    )
    for name in spellings.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR: Final = r"(?:19|20)\d\d"

_YEAR_IN_TEXT: Final = re.compile(rf"(?<!\d){_YEAR}(?!\d)")
_ISO_DATE: Final = re.compile(rf"({_YEAR})[-/.](0?[1-9]|1[0-2])[-/.](0?[1-9]|[12]\d|3[01])(?!\d)")
_COMPACT: Final = re.compile(rf"({_YEAR})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_TEXT_DATE: Final = re.compile(
    rf"(?<![\w.])(?:"
    rf"(?P<m1>{_MONTH})\.?\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y1>{_YEAR})|"
    rf"(?P<d2>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:de\s+)?(?P<m2>{_MONTH})\.?,?\s+(?:de\s+)?"
    rf"(?P<y2>{_YEAR})|"
    rf"(?P<y3>{_YEAR})-(?P<m3>0[1-9]|1[0-2])-(?P<d3>0[1-9]|[12]\d|3[01])|"
    rf"(?P<y5>{_YEAR})[/.](?P<m5>0?[1-9]|1[0-2])[/.](?P<d5>0?[1-9]|[12]\d|3[01])|"
    # Dots are written where the day goes first; with slashes a day above 12 must tell.
    rf"(?P<d6>0?[1-9]|[12]\d|3[01])\.\s?(?P<m6>0?[1-9]|1[0-2])\.\s?(?P<y6>{_YEAR})|"
    rf"(?P<d7>1[3-9]|2\d|3[01])/(?P<m7>0?[1-9]|1[0-2])/(?P<y7>{_YEAR})|"
    rf"(?P<m8>0?[1-9]|1[0-2])/(?P<d8>1[3-9]|2\d|3[01])/(?P<y8>{_YEAR})"
    rf")(?!\d)|(?P<y4>{_YEAR})\s?[年년]\s?(?P<m4>\d{{1,2}})\s?[月월]\s?(?P<d4>\d{{1,2}})\s?[日일]",
    re.IGNORECASE,
)
_AGO: Final = re.compile(
    r"(?i)^\s*(?:about\s+)?(\d{1,4}|an?|one)\s+(minute|hour|day|week|month|year)s?\s+ago\s*$"
)
_UNIT_DAYS: Final = {
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": 30.44,
    "year": 365.25,
}


class FoundDate(NamedTuple):
    """A date in running text with where it stands."""

    at: int
    start: int
    end: int


def parse_moment(value: object, seen_at: int | None = None) -> int | None:
    """Read a date or time.

    Args:
        value: RFC 3339, RFC 2822, a bare ISO date, a date in words, an epoch number (seconds,
            milliseconds or nanoseconds), or, with `seen_at`, an age in words ("3 days ago").
        seen_at: nanoseconds since the epoch at which the value was true.

    Returns:
        Nanoseconds since the epoch (midnight UTC for a bare date), or None.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _epoch(float(value)) if abs(value) < 1e20 else None
    if not isinstance(value, str) or not 4 <= len(value) <= 80:
        return None
    text = value.strip()
    return _parse_iso(text) or _parse_words(text, seen_at)


def dates_in(text: str, limit: int = 8) -> Iterator[FoundDate]:
    """Find full dates (day, month and year) in running text, in order, at most `limit`."""
    done = 0
    for year in _YEAR_IN_TEXT.finditer(text):
        if limit <= 0:
            return
        # A date stands around its year: looking there alone is ten times faster.
        match = _TEXT_DATE.search(text, max(done, year.start() - 24), year.end() + 12)
        if match is None or match.end() <= year.start():
            continue
        done = match.end()
        at = _match_date(match)
        if at is not None:
            limit -= 1
            yield FoundDate(at, match.start(), match.end())


def calendar_day(year: int, month: int, day: int) -> int | None:
    """Return midnight UTC of a day, or None when there is no such day."""
    try:
        return _nanoseconds(datetime(year, month, day, tzinfo=UTC))
    except ValueError:
        return None


def _parse_iso(text: str) -> int | None:
    if not text[:4].isdigit():
        return None
    try:
        return _nanoseconds(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        pass
    if text.isdigit() and len(text) in (10, 13, 16, 19):
        return _epoch(float(text))
    match = _ISO_DATE.match(text) or _COMPACT.match(text)
    if match is None:
        return None
    return calendar_day(int(match[1]), int(match[2]), int(match[3]))


def _parse_words(text: str, seen_at: int | None) -> int | None:
    ago = _AGO.match(text)
    if ago is not None:
        return _ago(ago, seen_at)
    if "," in text or "GMT" in text:
        try:
            return _nanoseconds(parsedate_to_datetime(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            pass
    found = next(dates_in(text), None)
    return None if found is None else found.at


def _ago(match: re.Match[str], seen_at: int | None) -> int | None:
    if seen_at is None:
        return None
    count = int(match[1]) if match[1].isdigit() else 1
    return seen_at - round(timedelta(days=count * _UNIT_DAYS[match[2].lower()]).total_seconds()) * (
        NANOSECONDS
    )


def _epoch(number: float) -> int | None:
    """Tell seconds, milliseconds, microseconds and nanoseconds apart by size."""
    for factor in (1, 1_000, 1_000_000, NANOSECONDS):
        seconds = number / factor
        if 7.8e8 <= seconds < 1e10:
            return round(seconds * NANOSECONDS)
    return None


def _match_date(match: re.Match[str]) -> int | None:
    for index in "12345678":
        year = match[f"y{index}"]
        if year is not None:
            month = match[f"m{index}"]
            number = int(month) if month.isdigit() else _MONTHS[month.lower().rstrip(".")]
            return calendar_day(int(year), number, int(match[f"d{index}"]))
    return None


def _nanoseconds(moment: datetime) -> int | None:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        seconds = moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return round(seconds * 1_000) * 1_000_000
