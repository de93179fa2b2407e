"""Tool calls that stand only in messages, checked on captures whose tool spans are taken away."""

import pytest

from seekwatch.core.model import Adapter, Episode
from seekwatch.core.policy import LanePolicy
from seekwatch.core.redaction import Redactor
from seekwatch.processors.cuts import Cut
from seekwatch.processors.dialects.base import Role
from seekwatch.processors.dialects.registry import read_span
from seekwatch.processors.normalise import decode_spans, normalise
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.urls import url_key
from tests.services.span_zoo import Case, cases, cut_of

REDACTOR = Redactor()
WITH_MESSAGES = [
    case
    for case in cases()
    if case.id
    in (
        "oi-openai/tools-stream",
        "oi-openai/otlp-json-exporter",
        "genai-openai/content-in-span",
        "genai-openai/stream",
        "genai-openai-v2/latest-experimental-span",
        "genai-anthropic/content-in-span",
    )
]


def _without_tools(cut: Cut) -> Cut:
    """Take away every tool and retriever span, and the HTTP spans below them."""
    cleaner = Cleaner(REDACTOR)
    kept = []
    for item in cut.spans:
        (span,), _ = decode_spans((item,))
        if read_span(span, [], cleaner).role not in (Role.TOOL, Role.RETRIEVER, Role.HTTP):
            kept.append(item)
    return cut_of(cut.trace, kept, list(cut.logs))


def _episode(cut: Cut) -> Episode:
    episode = normalise(cut, REDACTOR, LanePolicy())
    assert episode is not None
    return episode


def _told(episode: Episode) -> tuple[list[str], list[str | None], list[str]]:
    return (
        sorted(search.query or "" for search in episode.searches),
        [result.url for search in episode.searches for result in search.results or ()],
        sorted(
            url_key(fetch.url) or ""
            for fetch in episode.fetches
            if fetch.adapter is not Adapter.SEARCH
        ),
    )


@pytest.mark.parametrize("case", WITH_MESSAGES, ids=lambda case: case.id)
def test_messages_tell_what_missing_tool_spans_would_have(case: Case) -> None:
    (cut,) = case.cuts()
    whole, bare = _episode(cut), _episode(_without_tools(cut))
    assert _told(bare) == _told(whole)
    assert all(fetch.page is not None for fetch in bare.fetches)
    assert all(search.start <= search.end for search in bare.searches)
    assert bare.answer == whole.answer


def test_the_captures_hold_what_this_file_is_about() -> None:
    assert len(WITH_MESSAGES) == 6
