"""When a page was published and modified, with how that is known.

Structured metadata goes before the URL, the URL before the text. A wrong date is worse than none:
a date later than the fetch or older than the web is dropped, a bare year (a copyright line) is
never read, and what stands in running text counts only beside a word that says what it is.
Confidences order the methods by how directly each says it; they are judgement, not measurement.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from seekwatch.core.model import PageDate
from seekwatch.processors.pages.parsing import ParsedPage, fold
from seekwatch.processors.spans.moments import DAY, EARLIEST, calendar_day, dates_in, parse_moment
from seekwatch.processors.spans.values import MAX_DEPTH, as_list, as_mapping, as_text, open_json


class Candidate(NamedTuple):
    """A date that a page offers, before anyone knows when the page was seen."""

    at: int
    method: str
    confidence: float
    modified: bool


_PUBLISHED_METAS: Final = (
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "datepublished",
    "parsely-pub-date",
    "sailthru.date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "article.published",
    "cxenseparse:recs:publishtime",
    "cxenseparse:publishtime",
    "rnews:datepublished",
    "dc.date.issued",
    "dcterms.issued",
    "dcterms.created",
    "dc.date.created",
    "dcterms.date",
    "dc.date",
    "citation_publication_date",
    "citation_online_date",
    "article_date_original",
    "original-publish-date",
    "bt:pubdate",
    "date",
)
_MODIFIED_METAS: Final = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "last-modified",
    "lastmod",
)
_PAGE_TYPES: Final = re.compile(
    r"(?i)article|posting|report|webpage|creativework|recipe|howto|dataset|videoobject|podcast|"
    r"product|event"
)
_PUBLISHED_CLASS: Final = (
    'time[itemprop="datePublished"], time[pubdate], time[class*="publish"], '
    'time[class*="entry-date"], [itemprop="datePublished"][datetime], '
    '[itemprop="datePublished"][content]'
)
_MODIFIED_CLASS: Final = 'time[itemprop="dateModified"], time[class*="updated"]'
_URL_DAY: Final = re.compile(
    r"(?:^|[/_.-])((?:19|20)\d\d)([/_.-]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?=$|[/_.-]|\D)"
)
_PUBLISHED_WORD: Final = re.compile(
    r"(?i)(?:published|posted|first published|released|written|date|veröffentlicht|erstellt|stand|"
    r"publié|publicado|pubblicato|gepubliceerd|опубликовано|发布|發佈|发表|公開|投稿)"
    r"[^\d\n]{0,25}$"
)
_MODIFIED_WORD: Final = re.compile(
    r"(?i)(?:updated|modified|edited|revised|reviewed|aktualisiert|geändert|mis à jour|modifié|"
    r"actualizado|aggiornato|更新|修订|修訂)[^\d\n]{0,25}$"
)
_COPYRIGHT: Final = re.compile(r"(?i)(?:©|\(c\)|copyright)[^\n]{0,25}$")
_TEXT_WINDOW: Final = 6_000
_MAX_CANDIDATES: Final = 40
_SITE_NAME: Final = re.compile(r"\s[|–—·:-]\s")
_SHORTEST_HEADING: Final = 12
"""Characters; shorter ones stand anywhere on a page."""
_HEADING_BEGINNING: Final = 40
_BYLINE: Final = 100
"""Characters below a heading in which an author, a place and a date stand."""


def collect_dates(page: ParsedPage) -> tuple[Candidate, ...]:
    """Collect what the page itself says, before its scripts are stripped, best method first."""
    candidates = [*_json_ld(page), *_metas(page), *_elements(page)]
    return tuple(candidates[:_MAX_CANDIDATES])


def headings(page: ParsedPage) -> tuple[str, ...]:
    """Return what the page is headed with: its first `h1`, and its title up to the site's name."""
    first = page.tree.css_first("h1")
    named = ["" if first is None else fold(first.text()), _SITE_NAME.split(page.title or "")[0]]
    return tuple(dict.fromkeys(name for name in named if len(name) >= _SHORTEST_HEADING))


def text_dates(text: str, headed: Iterable[str] = ()) -> tuple[Candidate, ...]:
    """Collect dates of the visible text whose place says what they are.

    Args:
        text: of the page.
        headed: its `headings`; the first date right below one is the least sure of all.

    Returns:
        Those beside a word that says what they are, then the one below a heading.
    """
    window = text[:_TEXT_WINDOW]
    found: list[Candidate] = []
    for date in dates_in(window, limit=12):
        before = window[max(0, date.start - 40) : date.start]
        if _COPYRIGHT.search(before):
            continue
        if _MODIFIED_WORD.search(before):
            found.append(Candidate(date.at, "text", 0.6, modified=True))
        elif _PUBLISHED_WORD.search(before):
            found.append(Candidate(date.at, "text", 0.6, modified=False))
    below = next(filter(None, (_below(heading, text) for heading in headed)), None)
    return (*found, *(() if below is None else (below,)))


def _below(heading: str, text: str) -> Candidate | None:
    start = text.find(heading[:_HEADING_BEGINNING], 0, 2 * _TEXT_WINDOW)
    if start < 0:
        return None
    line = text[start : start + len(heading) + _BYLINE]
    date = next(dates_in(line, limit=1), None)
    if date is None:
        return None
    before = line[: date.start]
    if _COPYRIGHT.search(before) or _MODIFIED_WORD.search(before):
        return None
    return Candidate(date.at, "text-below-heading", 0.5, modified=False)


def url_date(url: str | None) -> Candidate | None:
    """Read a full date out of a URL's path (`/2026/03/14/`, `2026-03-14`, `20260314`)."""
    if url is None:
        return None
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    match = _URL_DAY.search(path)
    if match is None:
        return None
    at = calendar_day(int(match[1]), int(match[3]), int(match[4]))
    return None if at is None else Candidate(at, "url", 0.85, modified=False)


def choose(candidates: Iterable[Candidate], seen_at: int, *, modified: bool) -> PageDate | None:
    """Take the first plausible candidate of one kind.

    Args:
        candidates: best method first.
        seen_at: nanoseconds since the epoch; a later date (beyond a day of time zones) is unknown.
        modified: choose among modification dates.
    """
    for candidate in candidates:
        if candidate.modified is modified and EARLIEST <= candidate.at <= seen_at + DAY:
            return PageDate(
                at=candidate.at, method=candidate.method, confidence=candidate.confidence
            )
    return None


def _json_ld(page: ParsedPage) -> Iterator[Candidate]:
    for node in page.tree.css('script[type="application/ld+json"]')[:20]:
        text = node.text()
        data = open_json(text) if text else None
        for fields in _typed_objects(data, 0):
            for key, modified in (("datePublished", False), ("dateModified", True)):
                at = parse_moment(fields.get(key))
                if at is not None:
                    yield Candidate(at, "json-ld", 0.95, modified)
            at = parse_moment(fields.get("dateCreated") or fields.get("uploadDate"))
            if at is not None and "datePublished" not in fields:
                yield Candidate(at, "json-ld", 0.8, modified=False)


def _typed_objects(data: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Walk JSON-LD for objects that are pages; comments, people and reviews keep their dates."""
    if depth > MAX_DEPTH:
        return
    if isinstance(data, list):
        for item in as_list(data)[:50]:
            yield from _typed_objects(item, depth + 1)
        return
    fields = as_mapping(data)
    kinds = fields.get("@type")
    names = [kinds] if isinstance(kinds, str) else as_list(kinds)
    if any(isinstance(name, str) and _PAGE_TYPES.search(name) for name in names):
        yield fields
    for key in ("@graph", "mainEntity", "mainEntityOfPage"):
        if key in fields:
            yield from _typed_objects(fields[key], depth + 1)


def json_ld_says_paid(page: ParsedPage) -> bool:
    """Tell whether the page declares itself not accessible for free (schema.org)."""
    at = page.source.find("isAccessibleForFree")
    if at < 0:
        return False
    return "false" in page.source[at : at + 40].lower()


def _metas(page: ParsedPage) -> Iterator[Candidate]:
    for names, modified in ((_PUBLISHED_METAS, False), (_MODIFIED_METAS, True)):
        for name in names:
            value = page.metas.get(name)
            at = None if value is None else parse_moment(value)
            if at is not None:
                yield Candidate(at, "meta", 0.95 if ":" in name else 0.9, modified)


def _elements(page: ParsedPage) -> Iterator[Candidate]:
    for selector, modified in ((_PUBLISHED_CLASS, False), (_MODIFIED_CLASS, True)):
        node = page.tree.css_first(selector)
        if node is not None:
            attributes = node.attributes
            value = attributes.get("datetime") or attributes.get("content") or node.text()
            at = parse_moment(as_text(value.strip() if value else None))
            if at is not None:
                yield Candidate(at, "time-element", 0.85, modified)
    times = page.tree.css("time[datetime]")
    if len(times) == 1:
        # A page with many is a list of teasers, each with a date of its own.
        at = parse_moment((times[0].attributes.get("datetime") or "").strip())
        if at is not None:
            yield Candidate(at, "time-element", 0.7, modified=False)
