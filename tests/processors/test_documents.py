import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.model import SearchResult
from seekwatch.core.redaction import Redactor
from seekwatch.core.testing import START
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import MAX_RESULTS, extract_documents

CLEANER = Cleaner(Redactor())
A, B = "https://a.example/x", "https://b.example/y"
DAY = 86_400 * 1_000_000_000


def _found(value: object) -> tuple[SearchResult, ...] | None:
    return extract_documents(value, CLEANER, START)


def _urls(value: object) -> list[str | None] | None:
    found = _found(value)
    return None if found is None else [result.url for result in found]


RESULTS = [{"url": A, "title": "T", "content": "c"}, {"url": B}]


@pytest.mark.parametrize(
    "value",
    [
        RESULTS,
        json.dumps(RESULTS),
        repr(RESULTS),
        {"results": RESULTS, "query": "q"},
        {"web": {"results": RESULTS}},
        {"organic_results": [{"link": A}, {"link": B}]},
        {"webPages": {"value": [{"name": "T", "url": A}, {"url": B}]}},
        {"data": {"content": json.dumps({"results": RESULTS})}},
        json.dumps({"data": {"content": json.dumps({"results": RESULTS})}}),
        {"lc": 1, "kwargs": {"content": json.dumps(RESULTS)}},
        {"content": [{"type": "text", "text": json.dumps(RESULTS)}]},
        [{"page_content": "c", "metadata": {"source": A}}, {"metadata": {"doc_uri": B}}],
        {"documents": [{"id": A, "score": 1}, {"id": B, "score": 0}]},
        f"1. [T]({A})\n  some words\n2. [U]({B})",
        {"raw_output": [{"metadata": {"url": A}}, {"metadata": {"url": B}}]},
    ],
    ids=range(15),
)
def test_results_are_found_in_any_wrapper(value: object) -> None:
    assert _urls(value) == [A, B]


@pytest.mark.parametrize("value", [[], {"results": []}, "[]", {"web": {"results": []}}])
def test_no_results_are_an_answer(value: object) -> None:
    assert _found(value) == ()


@pytest.mark.parametrize(
    "value",
    [None, 1, "", "no results", {"error": "x"}, {"id": "doc-1"}, ["a", "b"], {"results": "none"}],
)
def test_what_is_no_list_of_results_is_unknown(value: object) -> None:
    assert _found(value) is None


def test_every_field_is_read_where_providers_put_it() -> None:
    (result,) = _found(
        [
            {
                "link": A,
                "name": "T",
                "description": "words",
                "publishedDate": "2026-03-14T00:00:00.000Z",
                "relevance_score": "0.5",
                "position": 7,
                "authority": 0.9,
            }
        ]
    ) or (None,)
    assert result is not None
    assert (result.url, result.title, result.snippet) == (A, "T", "words")
    assert (result.score, result.rank, result.authority) == (0.5, 7, 0.9)
    assert result.published is not None
    assert result.published.method == "provider"


def test_a_documents_own_fields_win_over_its_metadata() -> None:
    found = _found([{"url": A, "metadata": {"url": B, "title": "M", "score": 0.2}}])
    assert found is not None
    assert (found[0].url, found[0].title, found[0].score) == (A, "M", 0.2)


@pytest.mark.parametrize(
    ("date", "age"),
    [
        ({"age": "3 days ago"}, 3 * DAY),
        ({"page_age": "an hour ago"}, DAY // 24),
        ({"published_date": "2031-01-01"}, None),
        ({"published_date": "1970-01-01"}, None),
        ({"date": "2021-05"}, None),
        ({"date": "soon"}, None),
        ({"age": None, "date": True}, None),
    ],
)
def test_dates_are_plausible_or_unknown(date: dict[str, object], age: int | None) -> None:
    found = _found([{"url": A, **date}])
    assert found is not None
    published = found[0].published
    assert (None if published is None else START - published.at) == age


def test_metadata_that_a_limit_cut_gives_its_whole_pairs_only() -> None:
    cut = '{"url": "https://a.example/x", "title": "T", "published_date": "2021-05'
    found = _found([{"page_content": "c", "metadata": cut}])
    assert found is not None
    assert (found[0].url, found[0].title, found[0].published) == (A, "T", None)


def test_scores_that_are_no_numbers_are_unknown() -> None:
    found = _found([{"url": A, "score": value} for value in (float("nan"), "x", True, None)])
    assert found is not None
    assert [result.score for result in found] == [None] * 4


def test_a_flood_of_results_is_capped() -> None:
    found = _found([{"url": A}] * 5_000)
    assert found is not None
    assert len(found) == MAX_RESULTS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just(A),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["url", "results", "metadata", "content", "id", "date", "score", "title"]
            ),
            children,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_value_is_read_or_unknown(value: object) -> None:
    for form in (value, repr(value), json.dumps(value)):
        for result in _found(form) or ():
            assert result.rank >= 1
            assert result.url is None or "://" in result.url
