"""How old a source was when the run used it, and how that is known."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from seekwatch.core.model import Adapter, CacheState, Fetch, PageDate, Validators
from seekwatch.processors.sources.run_view import Source
from seekwatch.processors.text.dates import iso_day

DAY: Final = 86_400.0
_NANOSECONDS: Final = 1e9
_TOLERANCE: Final = 1.5 * DAY
"""A date this little ahead of the run is a time zone, not a mistake."""
_EARLIEST: Final = 631_152_000 * 1_000_000_000
"""1990: no page on the web is older."""
_URL_CONFIDENCE: Final = 0.8
_URL_DATE: Final = re.compile(
    r"/(?P<year>19[9]\d|20[0-4]\d)[/-](?P<month>0[1-9]|1[0-2])(?:[/-](?P<day>0[1-9]|[12]\d|"
    r"3[01]))?(?=[/._-]|$)"
    r"|(?<!\d)(?P<y2>20[0-4]\d)(?P<m2>0[1-9]|1[0-2])(?P<d2>0[1-9]|[12]\d|3[01])(?!\d)"
)
_DIRECTIVE: Final = re.compile(r"(?i)(?:^|,)\s*(s-maxage|max-age)\s*=\s*\"?(\d{1,10})")


class SourceAge(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Age of one source.

    Attributes:
        seconds: at the moment that ages count from; never negative.
        date: what it was computed from.
    """

    source: Source
    seconds: float
    date: PageDate

    @property
    def days(self) -> float:
        """Age in days."""
        return self.seconds / DAY

    @property
    def line(self) -> str:
        """`https://… 2019-03-01 (json-ld)`, for evidence."""
        return f"{self.source.url} {iso_day(self.date.at)} ({self.date.method})"


def age_of(source: Source, as_of: int, minimum_confidence: float) -> SourceAge | None:
    """The age of a source, or None when no date is sure enough.

    The provider's date goes first, then what the page says of its publication, then of its last
    change, then the address. Dates in the future or before the web are no dates.
    """
    for date in _candidates(source):
        seconds = (as_of - date.at) / _NANOSECONDS
        if date.confidence >= minimum_confidence and date.at >= _EARLIEST and seconds > -_TOLERANCE:
            return SourceAge(source=source, seconds=max(0.0, seconds), date=date)
    return None


def _candidates(source: Source) -> list[PageDate]:
    dates = [result.published for _, result in source.results]
    page = source.fetch.page if source.fetch is not None else None
    if page is not None:
        dates += [page.published, page.modified]
    dates.append(date_in_url(source.url))
    return [date for date in dates if date is not None]


def date_in_url(url: str) -> PageDate | None:
    """Read a date that an address spells out (`/2026/03/14/`, `20260314`)."""
    match = _URL_DATE.search(url)
    if match is None:
        return None
    year, month = match["year"] or match["y2"], match["month"] or match["m2"]
    day = match["day"] or match["d2"]
    try:
        moment = datetime(int(year), int(month), int(day or 1), tzinfo=UTC)
    except ValueError:
        return None
    confidence = _URL_CONFIDENCE if day else _URL_CONFIDENCE - 0.2
    return PageDate(at=int(moment.timestamp()) * 10**9, method="url", confidence=confidence)


def stale_cache(fetch: Fetch) -> str | None:
    """Say why a page came from a cache past its freshness, or None when it did not.

    A revalidated entry (304, or the cache says so) is fresh whatever its age. Freshness is
    `max-age`, else `Expires` minus `Date` (RFC 9111, section 4.2); age is the `Age` header.
    """
    if fetch.status == 304 or fetch.cache_state is CacheState.REVALIDATED:
        return None
    if fetch.cache_state is CacheState.STALE:
        return "the cache says the entry is stale"
    cached = fetch.adapter is Adapter.CACHE or fetch.cache_state is CacheState.HIT
    validators = fetch.validators
    if validators is None or not (cached or validators.age):
        return None
    age = _seconds(validators.age)
    lifetime = _lifetime(validators)
    if age is None and cached:
        age = _since_date(validators, fetch.retrieved_at or fetch.end)
    if age is None or lifetime is None or age <= lifetime:
        return None
    return f"served at age {age:.0f} s, fresh for {lifetime:.0f} s, not revalidated"


def _lifetime(validators: Validators) -> float | None:
    found = {
        name.lower(): float(value)
        for name, value in _DIRECTIVE.findall(validators.cache_control or "")
    }
    if found:
        return found.get("s-maxage", found.get("max-age"))
    expires, date = _http_date(validators.expires), _http_date(validators.date)
    return None if expires is None or date is None else expires - date


def _since_date(validators: Validators, now: int) -> float | None:
    date = _http_date(validators.date)
    return None if date is None else now / _NANOSECONDS - date


def _seconds(value: str | None) -> float | None:
    return float(value) if value and value.strip().isdecimal() and len(value) < 12 else None


def _http_date(value: str | None) -> float | None:
    if not value:
        return None
    try:
        return parsedate_to_datetime(value).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
