"""Whether a constraint of the question is still there in the queries, and which part is not.

Queries are read by the same rules as the question and compared by value, so that a date in another
format, a number in words or a demonym for its country is no loss.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Final

from seekwatch.processors.text.constraints import (
    COMPARATOR_AFTER,
    COMPARATOR_BEFORE,
    MAX_CHARACTERS,
    RELATIVE,
    Constraint,
    Kind,
    comparator_of,
    constraints,
)
from seekwatch.processors.text.dates import CalendarDate, calendar_dates
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.numbers import Number, numbers
from seekwatch.processors.text.words import content_words

MAX_QUERIES: Final = 64
_MAX_NUMBERS: Final = 2_000
"""Numbers of all queries that a question's are compared with."""

_PUNCTUATION: Final = re.compile(r"[^\w\s]+|_")
_YEARS: Final = re.compile(r"(?<!\d)\d{4}(?!\d)")
_SHORT_RANGE: Final = re.compile(r"(?<!\d)(\d{4})\s?[-/]\s?(\d{2})(?!\d)")
_EXCLUSION: Final = re.compile(r"(?:^|\s)-[\w\"]")
_ALTERNATIVE_FIRST: Final = re.compile(r"\b(?:earliest|debut|original|inaugural|oldest)\b|首")


class Queries:
    """All queries of a run, read once and lazily, as one body of text.

    Args:
        queries: as they were sent; only the first `MAX_QUERIES` are read, and of each the first
            `MAX_CHARACTERS`.
        as_of: nanoseconds since the epoch, for turning "this year" into a year.
    """

    def __init__(self, queries: Sequence[str], as_of: int) -> None:
        self.texts = tuple(query[:MAX_CHARACTERS] for query in queries[:MAX_QUERIES])
        self._today = _day(as_of)
        self.folded = "\n".join(fold(text) for text in self.texts)

    @cached_property
    def plain(self) -> str:
        """Folded, punctuation as spaces, a space at both ends."""
        return f" {' '.join(_PUNCTUATION.sub(' ', self.folded).split())} "

    @cached_property
    def stems(self) -> frozenset[str]:
        """Content words of all queries; Han text is matched in `folded` instead."""
        return frozenset(stem for text in self.texts for stem in content_words(text))

    @cached_property
    def years(self) -> frozenset[int]:
        """Every year that is written out, ends of short ranges (2014-15) included."""
        found = {int(year) for year in _YEARS.findall(self.folded)}
        for first, last in _SHORT_RANGE.findall(self.folded):
            found.add(int(first) // 100 * 100 + int(last))
        return frozenset(found)

    @cached_property
    def dates(self) -> tuple[CalendarDate, ...]:
        """Dates in any of the known forms."""
        return tuple(calendar_dates(self.folded))

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Numbers in digits and words."""
        return tuple(numbers(self.folded)[:_MAX_NUMBERS])

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """What the queries constrain, read as the question is."""
        return tuple(found for text in self.texts for found in constraints(text))

    def has_key(self, kind: Kind, key: str) -> bool:
        """Tell whether a query carries a constraint of this kind and value."""
        return any(found.kind is kind and found.key == key for found in self.constraints)

    def has_phrase(self, phrase: str) -> bool:
        """Tell whether the words of a folded phrase stand in a query, in order."""
        needle = " ".join(_PUNCTUATION.sub(" ", phrase).split())
        return bool(needle) and (
            f" {needle} " in self.plain or (not needle.isascii() and needle in self.plain)
        )

    @property
    def today(self) -> date:
        """The day that relative times count from."""
        return self._today


def lost_part(constraint: Constraint, queries: Queries) -> str | None:
    """Return what of the constraint no query keeps, as the question spells it; None when kept."""
    return _RULES[constraint.kind](constraint, queries)


def _lost_site(constraint: Constraint, queries: Queries) -> str | None:
    return None if constraint.key in queries.folded else constraint.span


def _lost_phrase(constraint: Constraint, queries: Queries) -> str | None:
    phrase = fold(constraint.key)
    if queries.has_phrase(phrase):
        return None
    # Search engines find a title by its words; a missing quotation mark alone is no loss.
    stems = content_words(phrase)
    if stems and all(stem in queries.stems for stem in stems):
        return None
    return constraint.span


def _lost_date(constraint: Constraint, queries: Queries) -> str | None:
    wanted = constraint.date
    if wanted is None:
        return None
    day_kept = any(found.covers(wanted) for found in queries.dates)
    year_kept = wanted.year is None or wanted.year in queries.years
    if day_kept and year_kept:
        return None
    if wanted.year is not None and day_kept:
        offset = wanted.year_start - wanted.start
        return constraint.span[offset : offset + 4]
    if wanted.year is not None and year_kept:
        offset = wanted.year_start - wanted.start
        return (constraint.span[:offset] if offset else constraint.span[4:]).strip(" ,-/.年的")
    return constraint.span


def _lost_years(constraint: Constraint, queries: Queries) -> str | None:
    if all(year in queries.years for year in constraint.years):
        return None
    return constraint.span


def _lost_version(constraint: Constraint, queries: Queries) -> str | None:
    pattern = rf"(?<![\d.]){re.escape(constraint.key)}(?!\.?\d)"
    return None if re.search(pattern, queries.folded) else constraint.span


def _lost_number(constraint: Constraint, queries: Queries) -> str | None:
    wanted = constraint.number
    if wanted is None:
        return None
    for found in queries.numbers:
        if not found.equals(wanted):
            continue
        comparator = comparator_of(
            COMPARATOR_BEFORE.search(queries.folded[max(0, found.start - 24) : found.start]),
            COMPARATOR_AFTER.match(queries.folded[found.end : found.end + 12]),
        )
        # A search box rarely carries "under"; the opposite of it is another question.
        if not comparator or not constraint.comparator or comparator == constraint.comparator:
            return None
    return constraint.span


def _lost_ordinal(constraint: Constraint, queries: Queries) -> str | None:
    if queries.has_key(Kind.ORDINAL, constraint.key):
        return None
    if constraint.key == "1" and _ALTERNATIVE_FIRST.search(queries.folded):
        return None
    return None if f" {constraint.key} " in queries.plain else constraint.span


def _lost_relative_time(constraint: Constraint, queries: Queries) -> str | None:
    if any(form in queries.folded for form in RELATIVE[constraint.key]):
        return None
    today = queries.today
    year = today.year + {"last year": -1, "next year": 1}.get(constraint.key, 0)
    if year in queries.years:
        return None
    if constraint.key in ("yesterday", "tomorrow"):
        today += timedelta(days=-1 if constraint.key == "yesterday" else 1)
    if any(found.month == today.month for found in queries.dates):
        return None
    # Keyword queries drop "this" like any other function word.
    scope, _, unit = constraint.key.partition(" ")
    if scope == "this" and unit in queries.stems:
        return None
    recent = constraint.key == "newest" and re.search(
        r"\b(?:recent|current|new|now)\b", queries.folded
    )
    return None if recent else constraint.span


def _lost_name(constraint: Constraint, queries: Queries) -> str | None:
    return None if queries.has_key(constraint.kind, constraint.key) else constraint.span


def _lost_negation(constraint: Constraint, queries: Queries) -> str | None:
    if _EXCLUSION.search(queries.folded):
        return None
    return _lost_name(constraint, queries)


def _day(nanoseconds: int) -> date:
    """The UTC day; the epoch's for a moment that no calendar has."""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).date()
    except (OverflowError, ValueError, OSError):
        return date(1970, 1, 1)


_RULES: Final = {
    Kind.SITE: _lost_site,
    Kind.QUOTED: _lost_phrase,
    Kind.DATE: _lost_date,
    Kind.YEAR_RANGE: _lost_years,
    Kind.YEAR: _lost_years,
    Kind.VERSION: _lost_version,
    Kind.NUMBER: _lost_number,
    Kind.ORDINAL: _lost_ordinal,
    Kind.RELATIVE_TIME: _lost_relative_time,
    Kind.LANGUAGE: _lost_name,
    Kind.REGION: _lost_name,
    Kind.NEGATION: _lost_negation,
}
