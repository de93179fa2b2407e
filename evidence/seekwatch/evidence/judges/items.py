"""What of an episode a model gets to read: cut to what the rubric is about, and to a size.

The texts are those of the episode, which were redacted before they came here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from seekwatch.core.evidence import NO_EVIDENCE
from seekwatch.core.model import Answer, Episode
from seekwatch.core.policy import Policy
from seekwatch.processors.sources.run_view import RunView, Source
from seekwatch.processors.text.fold import shortened
from seekwatch.processors.text.statements import own_words, states_something

from .passages import best_passages
from .rubrics import About

MAX_CLAIMS: Final = 5
MAX_SOURCES: Final = 5
"""Claims and sources of one run that are judged one by one: the first ones of the answer."""
_QUESTION: Final = 2_000
_ANSWER: Final = 6_000
_TEXT: Final = 2_500
_CONTEXT_SOURCES: Final = 8


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to judge.

    Attributes:
        subject: names it among others of the run: a claim, a URL; empty for the run as a whole.
        content: what the model reads.
        spans: that it comes from.
    """

    subject: str
    content: dict[str, Any]
    spans: tuple[str, ...]


def items_of(about: About, episode: Episode) -> list[Item]:
    """Return what there is to judge in an episode; nothing where what is needed was not seen."""
    run = RunView(episode, NO_EVIDENCE, Policy())
    if run.unanswered is not None and about is not About.QUERIES:
        return []
    return list(_MAKERS[about](run))


def _queries(run: RunView) -> Iterator[Item]:
    queries = [search.query for search in run.episode.searches if search.query]
    if not run.episode.question or not queries:
        return
    content = {
        "question": run.episode.question[:_QUESTION],
        "queries": [query[:_QUESTION] for query in dict.fromkeys(queries)][:20],
    }
    yield Item("", content, tuple(search.span for search in run.episode.searches)[:20])


def _freshness(run: RunView) -> Iterator[Item]:
    answer = run.episode.answer
    if answer is None or not run.basis[1]:
        return
    sources = [_described(source) for source in run.basis[1][:_CONTEXT_SOURCES]]
    content = {**_asked(run, answer), "asked_on": _day(run.episode.as_of), "sources": sources}
    yield Item("", content, run.answer_spans)


def _sources(run: RunView) -> Iterator[Item]:
    for source in run.cited[:MAX_SOURCES]:
        text = source.text or source.snippet
        if not text or not run.episode.question:
            continue
        content = {
            "question": run.episode.question[:_QUESTION],
            "source": {**_described(source), "text": shortened(text, _TEXT)},
        }
        yield Item(source.url, content, source.spans)


def _claims(run: RunView) -> Iterator[Item]:
    answer = run.episode.answer
    if answer is None:
        return
    cited = [claim for claim in answer.claims if claim.citations and states_something(claim.text)]
    for claim in cited[:MAX_CLAIMS]:
        urls = (run.citations[i].url for i in claim.citations if i < len(run.citations))
        sources = {source.key: source for source in map(run.source_of, urls)}.values()
        words = own_words(claim.text)
        passages = [
            {"url": source.url, "text": text}
            for source in sources
            if (text := best_passages(words, source.text or source.snippet or "", _TEXT))
        ]
        if passages:
            spans = (*run.answer_spans, *(span for source in sources for span in source.spans))
            content = {"claim": words[:_QUESTION], "passages": passages[:MAX_SOURCES]}
            yield Item(words, content, tuple(dict.fromkeys(spans)))


def _answer(run: RunView) -> Iterator[Item]:
    answer = run.episode.answer
    if answer is None:
        return
    texts = [
        {"url": source.url, "text": text}
        for source in run.basis[1][:_CONTEXT_SOURCES]
        if (text := best_passages(answer.text, source.text or source.snippet or "", _TEXT))
    ]
    if texts:
        yield Item("", {**_asked(run, answer), "texts": texts}, run.answer_spans)


_MAKERS: Final[dict[About, Callable[[RunView], Iterator[Item]]]] = {
    About.QUERIES: _queries,
    About.FRESHNESS: _freshness,
    About.SOURCE: _sources,
    About.CLAIM: _claims,
    About.ANSWER: _answer,
}


def _asked(run: RunView, answer: Answer) -> dict[str, Any]:
    return {
        "question": (run.episode.question or "")[:_QUESTION],
        "answer": answer.text[:_ANSWER],
    }


def _described(source: Source) -> dict[str, Any]:
    page = source.fetch.page if source.fetch is not None else None
    found: Sequence[Any] = [result for _, result in source.results]
    dates = [result.published for result in found]
    dates += [] if page is None else [page.published, page.modified]
    date = next((each for each in dates if each is not None), None)
    titles = [page.title if page is not None else None, *(result.title for result in found)]
    return {
        "url": source.url,
        "title": next((title for title in titles if title), None),
        "date": None if date is None else _day(date.at),
    }


def _day(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).date().isoformat()
