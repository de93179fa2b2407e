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

_UNCACHED: Final = re.compile(r"(?i)(?:^|,)\s*no-(?:cache|store)\s*(?:,|$)")
_HEURISTIC: Final = 0.1


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
        """`2019-03-01 (json-ld) https://…`, for evidence."""
        return f"{iso_day(self.date.at)} ({self.date.method}) {self.source.url}"


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


class CacheFinding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a fetch says of the cache that its page came through.

    Attributes:
        stale: past its freshness and not revalidated; None where that cannot be told.
        line: why, for evidence.
    """

    stale: bool | None
    line: str


def cache_finding(fetch: Fetch) -> CacheFinding | None:
    """Tell a stale representation from a fresh or revalidated one; None where no cache shows.

    A revalidated entry (304, the same entity tag again, or the cache says so) is fresh whatever
    its age. Freshness is `max-age`, else `Expires` minus `Date`, else a tenth of the time since
    `Last-Modified` (RFC 9111, section 4.2); age is the `Age` header, else, in the agent's own
    cache, the time since `Date`.
    """
    confirmed = _revalidation(fetch)
    if confirmed is not None:
        return CacheFinding(stale=False, line=confirmed)
    if fetch.cache_state is CacheState.STALE:
        return CacheFinding(stale=True, line="the cache says the entry is stale")
    if fetch.cache_state is CacheState.MISS:
        return CacheFinding(stale=False, line="came from its origin")
    cached = fetch.adapter is Adapter.CACHE or fetch.cache_state is CacheState.HIT
    validators = fetch.validators
    if not cached and (validators is None or not validators.age):
        return None
    if validators is None:
        return CacheFinding(stale=None, line="out of a cache, of an age that it does not say")
    age, lifetime = _seconds(validators.age), _lifetime(validators)
    if age is None and cached:
        age = _since_date(validators, fetch.retrieved_at or fetch.end)
    if age is None or lifetime is None:
        missing = "its age" if age is None else "how long it is fresh"
        return CacheFinding(stale=None, line=f"out of a cache that does not say {missing}")
    line = f"served at age {age:.0f} s, fresh for {lifetime:.0f} s"
    stale = age > lifetime
    return CacheFinding(stale=stale, line=f"{line}, not revalidated" if stale else line)


def stale_cache(fetch: Fetch) -> str | None:
    """Say why a page came from a cache past its freshness, or None when it did not."""
    finding = cache_finding(fetch)
    return finding.line if finding is not None and finding.stale else None


def _revalidation(fetch: Fetch) -> str | None:
    """How the origin confirmed what the agent had; None when it did not."""
    validators = fetch.validators or Validators()
    if fetch.status == 304:
        if validators.if_none_match:
            return "revalidated: 304 for the entity tag it had"
        since = validators.if_modified_since
        return f"revalidated: 304, not modified since {since}" if since else "revalidated: 304"
    if fetch.cache_state is CacheState.REVALIDATED:
        return "revalidated by the cache"
    sent, got = validators.if_none_match, validators.etag
    if sent and got and _tag(sent) == _tag(got) and fetch.cache_state is None:
        return "revalidated: the entity tag it had is still the page's"
    return None


def _tag(value: str) -> str:
    """An entity tag for the weak comparison (RFC 9110, section 8.8.3.2)."""
    return value.strip().removeprefix("W/")


def _lifetime(validators: Validators) -> float | None:
    control = validators.cache_control or ""
    if _UNCACHED.search(control):
        return 0.0
    found = {name.lower(): float(value) for name, value in _DIRECTIVE.findall(control)}
    if found:
        return found.get("s-maxage", found.get("max-age"))
    expires, date = _http_date(validators.expires), _http_date(validators.date)
    if date is None:
        return None
    if expires is not None:
        return max(0.0, expires - date)
    modified = _http_date(validators.last_modified)
    return None if modified is None or modified > date else _HEURISTIC * (date - modified)


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
