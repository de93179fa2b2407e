"""What the monitor makes of the spans that came, and what it has to make of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from seekwatch.core.evidence import NO_EVIDENCE
from seekwatch.core.model import Episode
from seekwatch.core.otlp.requests import RawItem, raw_items, span_head
from seekwatch.core.policy import LanePolicy, Policy
from seekwatch.core.records import Signal
from seekwatch.core.redaction import Redactor
from seekwatch.core.scorecard import Scorecard
from seekwatch.processors.normalise import normalise
from seekwatch.processors.score import score
from tests.packages.world import World
from tests.services.library import TOPICS, Topic, topic_searched
from tests.services.otlp_sink import HttpSink
from tests.services.span_zoo import cut_of


@dataclass(frozen=True)
class Run:
    """One run as it was scored."""

    episode: Episode
    scorecard: Scorecard


def scored(sink: HttpSink) -> list[Run]:
    """Score every trace that came, as the worker does; a foreign trace makes no run."""
    traces: dict[str, list[RawItem]] = {}
    for request in sink.requests:
        for item in raw_items(request, Signal.TRACES):
            traces.setdefault(span_head(item.raw).trace.hex(), []).append(item)
    runs: list[Run] = []
    for trace, items in traces.items():
        episode = normalise(cut_of(trace, items), Redactor(), LanePolicy())
        if episode is not None:
            runs.append(Run(episode, score(episode, NO_EVIDENCE, Policy())))
    return runs


def check_runs(world: World, topics: Sequence[Topic] = TOPICS) -> None:
    """Assert one scorecard for each question, with all of its run in it and nothing twice."""
    runs = scored(world.sink)
    questions = sorted(str(run.episode.question) for run in runs)
    assert questions == sorted(topic.question for topic in topics), "one scorecard for each run"
    for topic in topics:
        [run] = [run for run in runs if run.episode.question == topic.question]
        _check_sources(world, run, topic)
        _check_answer(run, topic)
        _check_tokens(world, run, topic)
        assert run.episode.completeness.complete


def _check_sources(world: World, run: Run, topic: Topic) -> None:
    searches = run.episode.searches
    sent = [query for _, query in world.search.queries if topic_searched(query) is topic]
    hosted = [turn for turn in world.model.model.asked_about(topic.question) if turn.searched]
    sent += [turn.searched for turn in hosted if turn.searched]
    assert len(sent) == 1, "the agent itself searched once"
    assert [search.query for search in searches] == sent, "each search once"
    [search] = searches
    if hosted and search.results is None:
        # A provider that searches itself may tell the query and the citations alone.
        assert search.unread_reason == "not-told"
        return
    assert search.results is not None, search.unread_reason
    assert [each.url for each in search.results] == [each.url for each in topic.documents]
    if not hosted:
        assert [each.title for each in search.results] == [each.title for each in topic.documents]
        assert all(each.published for each in search.results), "each source has its date"


def _check_answer(run: Run, topic: Topic) -> None:
    answer = run.episode.answer
    assert answer is not None, "the answer is known"
    for document in topic.documents:
        assert document.sentence.removesuffix(".") in answer.text
    cited = {citation.url for citation in answer.citations}
    assert cited == {document.url for document in topic.documents}
    assert run.scorecard.question == topic.question


def _check_tokens(world: World, run: Run, topic: Topic) -> None:
    turns = world.model.model.asked_about(topic.question)
    assert len(run.episode.generations) == len(turns), "each call to the model once"
    told = all(turn.usage_told for turn in turns)
    work = run.scorecard.work
    counted = (work.input_tokens, work.output_tokens) if told else (None, None)
    given = (
        sum(turn.input_tokens for turn in turns),
        sum(turn.output_tokens for turn in turns),
    )
    assert counted == (given if told else (None, None))
