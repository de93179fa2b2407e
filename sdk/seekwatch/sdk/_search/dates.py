"""Reads the published dates that search APIs write, to say how old a result was at call time.

Only the fields of a search answer are read here. Dates inside pages are the monitor's business.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

_SECONDS_PER_DAY: Final = 86_400.0
_RELATIVE: Final = re.compile(
    r"(?P<count>\d+|an?)\s*(?P<unit>second|sec|minute|min|hour|hr|day|week|month|year)s?\s+ago",
    re.IGNORECASE,
)
# Mean lengths of the Gregorian calendar: a search engine's "2 months ago" is no more exact.
_UNIT_DAYS: Final = {
    "second": 1 / _SECONDS_PER_DAY,
    "sec": 1 / _SECONDS_PER_DAY,
    "minute": 60 / _SECONDS_PER_DAY,
    "min": 60 / _SECONDS_PER_DAY,
    "hour": 1 / 24,
    "hr": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": 30.436875,
    "year": 365.2425,
}
_FORMATS: Final = (
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%d %B %Y",
    "%m/%d/%Y",
    "%m/%d/%Y, %I:%M %p, %z UTC",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
)


def parse_published(text: str, now: datetime) -> datetime | None:
    """Return the moment that a published date names, in UTC, or None when it names none.

    A date without a time is midnight UTC; a date without a zone is taken as UTC.
    """
    text = text.strip()
    if not text or len(text) > 64:
        return None
    moment = _iso(text) or _relative(text, now) or _written(text) or _rfc_2822(text)
    if moment is None:
        return None
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # The first or the last day of the calendar, in another zone.
        return None


def recency_days(published: datetime, now: datetime) -> float:
    """Return the age in days; a date in the future has a negative one and is not hidden."""
    return round((now - published).total_seconds() / _SECONDS_PER_DAY, 4)


def _iso(text: str) -> datetime | None:
    if not text[:4].isdigit():
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _relative(text: str, now: datetime) -> datetime | None:
    lowered = text.lower()
    if lowered == "yesterday":
        return now - timedelta(days=1)
    if lowered in {"today", "just now"}:
        return now
    match = _RELATIVE.fullmatch(text)
    if match is None:
        return None
    count = 1 if match["count"].lower() in {"a", "an"} else int(match["count"])
    try:
        return now - timedelta(days=count * _UNIT_DAYS[match["unit"].lower()])
    except OverflowError:
        return None


def _written(text: str) -> datetime | None:
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007 - the caller sets the zone
        except ValueError:
            continue
    return None


def _rfc_2822(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
