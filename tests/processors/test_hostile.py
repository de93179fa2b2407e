"""Text and traces made to hurt: their cost grows with their size, what they show is harmless."""

import time
from collections.abc import Callable
from functools import partial

import pytest

from seekwatch.core import attributes as names
from seekwatch.core.redaction import Redactor
from seekwatch.core.scorecard import Scorecard
from seekwatch.core.testing import TraceBuilder, result, span, span_id, trace_id, traces_request
from seekwatch.processors.answers.citations import build_answer
from seekwatch.processors.questions.classes import class_of_question
from seekwatch.processors.questions.regimes import regime_of_question
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import extract_documents
from seekwatch.processors.testing import episode_of, score_trace
from seekwatch.processors.text.constraints import constraints
from seekwatch.processors.text.entities import entities
from seekwatch.processors.text.figures import without_held
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.numbers import numbers
from seekwatch.processors.text.phrases import has_caveat, is_refusal
from seekwatch.processors.text.statements import own_words
from seekwatch.processors.text.support import support_of

REDACTOR = Redactor()
PIECES = (
    "eyJ",
    "A",
    "a",
    "1",
    "1,",
    "1 ",
    "100 ",
    "1.",
    "百",
    "「",
    " ",
    "[",
    "[1] ",
    "[a](http://b.c) ",
    "http://a/(",
    "“a ",
    '"password":"',
    "A of the ",
    "what is ",
    "most a ",
    "kann ich ",
    "i could not ",
    "-----BEGIN ",
)


READERS: dict[str, tuple[Callable[[str], object], int]] = {
    "redaction": (REDACTOR.text, 20_000),
    "answer": (lambda text: build_answer(text, "1", None), 10_000),
    "documents": (lambda text: extract_documents(text, Cleaner(REDACTOR), 0), 10_000),
    "numbers": (lambda text: numbers(fold(text)), 10_000),
    "figures": (lambda text: without_held(numbers("12.5%"), "12.5%", [], text), 10_000),
    "own words": (own_words, 4_000),
    "support": (lambda text: support_of(text[:10_000], [fold(text)]), 5_000),
    "constraints": (constraints, 1_000),
    "names": (entities, 1_000),
    "refusal": (is_refusal, 2_000),
    "caveat": (has_caveat, 5_000),
    "regime": (lambda text: regime_of_question(text, 2026), 500),
    "class": (class_of_question, 500),
}


def cost(read: Callable[[str], object], text: str) -> float:
    """The least CPU time of three readings, of texts that no cache has seen."""
    return least_cpu_time(lambda turn: read(text + "x" * turn))


def least_cpu_time(do: Callable[[int], object]) -> float:
    """The CPU time of the fastest of three turns: what slows one down is the machine."""
    times: list[float] = []
    for turn in range(3):
        began = time.process_time()
        do(turn)
        times.append(time.process_time() - began)
    return min(times)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reader", READERS)
def test_reading_costs_no_more_than_the_text_is_long(reader: str, piece: str) -> None:
    """Four times the text may cost four times as much, not sixteen times."""
    read, size = READERS[reader]
    short, long = (piece * (length // len(piece)) for length in (size, 4 * size))
    assert cost(read, long) <= 9 * max(cost(read, short), 0.005)


def test_a_deep_nest_of_retrievers_costs_no_more_than_its_depth() -> None:
    def nest(depth: int) -> bytes:
        trace = trace_id("nest")
        root = span("0", {names.SPAN_KIND: "AGENT", names.QUESTION: "Why?"}, trace=trace)
        inner = [
            span(
                str(level),
                {names.SPAN_KIND: "RETRIEVER", names.SEARCH_QUERY: "q", names.SEARCH_PROVIDER: "x"},
                trace=trace,
                parent=span_id(str(level - 1)),
            )
            for level in range(1, depth)
        ]
        return traces_request([root, *inner])

    def read_again(request: bytes, _: int) -> None:
        episode_of(request)

    assert len(episode_of(nest(200)).searches) == 1, "one search, told by a nest of functions"
    times: dict[int, float] = {}
    for depth in (600, 2_400):
        times[depth] = least_cpu_time(partial(read_again, nest(depth)))
    assert times[2_400] <= 9 * times[600]


CONTROLS = {
    "terminal": "a\x1b[31mred\x1b]0;title\x07",
    "direction": "\u202egpj.exe\u202c \u2066x",
    "null": "a\x00b\x08c\x7f",
    "c1": "a\x9b31m",
}


def lines_of(card: Scorecard) -> list[str]:
    found = [card.outcome_evidence, card.question or ""]
    for axis in card.axes:
        found.append(axis.evidence)
        for check in axis.checks:
            found += [check.evidence, check.subject or ""]
    return found


@pytest.mark.parametrize("text", CONTROLS.values(), ids=CONTROLS)
def test_no_line_of_a_scorecard_holds_what_a_terminal_obeys(text: str) -> None:
    url = f"https://example.org/{text}"
    card = score_trace(
        TraceBuilder("finder")
        .agent(f"What does “{text} it” say in 2025?")
        .search(f"zzz {text}", [result(url, title=text, content=text)])
        .fetch(url, html=f"<title>{text}</title><p>{text}")
        .answer(f"It says “{text} and much more of it” [1].", [{"url": url, "quote": f"{text} it"}])
    )
    shown = "".join(lines_of(card))
    assert "\ufffd" in shown, "what was taken out is marked"
    assert not {
        mark
        for mark in shown
        if (
            ord(mark) < 32
            or 127 <= ord(mark) < 160
            or mark in "\u202a\u202b\u202c\u202d\u202e\u2066"
        )
    }
