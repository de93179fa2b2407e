from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.sdk._search.dates import parse_published, recency_days

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T09:00:00", datetime(2026, 11, 20, 9, tzinfo=UTC)),
        ("2026-11-20T09:00:00.000Z", datetime(2026, 11, 20, 9, tzinfo=UTC)),
        ("2026-11-20T09:00:00.0000000Z", datetime(2026, 11, 20, 9, tzinfo=UTC)),
        ("2026-11-20T09:00:00+02:00", datetime(2026, 11, 20, 7, tzinfo=UTC)),
        ("Nov 20, 2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("November 20, 2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("20 Nov 2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("11/20/2026", datetime(2026, 11, 20, tzinfo=UTC)),
        ("Fri, 20 Nov 2026 09:00:00 GMT", datetime(2026, 11, 20, 9, tzinfo=UTC)),
        ("3 days ago", NOW - timedelta(days=3)),
        ("1 hour ago", NOW - timedelta(hours=1)),
        ("a week ago", NOW - timedelta(weeks=1)),
        ("yesterday", NOW - timedelta(days=1)),
    ],
)
def test_the_forms_that_search_apis_write_are_read(text: str, moment: datetime) -> None:
    assert parse_published(text, NOW) == moment


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-13-45", "in 3 days", "9" * 100, "1234567890", "0001-01-01T00:00:00+05:00"],
)
def test_anything_else_is_no_date(text: str) -> None:
    assert parse_published(text, NOW) is None


def test_recency_counts_days_at_call_time() -> None:
    assert recency_days(NOW - timedelta(days=1, hours=12), NOW) == 1.5
    assert recency_days(NOW + timedelta(days=1), NOW) == -1


@given(st.text(max_size=70))
def test_no_text_raises(text: str) -> None:
    parse_published(text, NOW)
