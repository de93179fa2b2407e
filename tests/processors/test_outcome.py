"""One test a row of the outcome table, named after it; and the table is the documented one."""

import re
from pathlib import Path

import pytest

from seekwatch.core.evidence import ExpectedFact, TruthRecord
from seekwatch.core.model import Answer, Completeness, Fetch, Generation, Limits, Search, StopReason
from seekwatch.core.scorecard import Axis, Outcome
from seekwatch.core.testing import START
from seekwatch.core.verdicts import Reason, Verdict
from seekwatch.processors.runs.outcome import HARD_CHECKS, TABLE
from seekwatch.processors.score import CHECK_NAMES
from seekwatch.processors.testing import assert_outcome, score_trace
from tests.services.pages import LOGIN
from tests.services.runs import FIRST, SECOND, answered, episode, good_run, read, searched

DOCUMENT = Path(__file__).parents[2] / "docs" / "outcomes.md"
ROW = re.compile(r"^\| (\d+) \| `([\w-]+)` \| `(\w+)` \|", re.MULTILINE)
SAYS_NO = "I'm sorry, but I can't help with that."


def outcome_row(trace: object, **options: object) -> tuple[Outcome, str]:
    """The label, and the name of the row that gave it."""
    card = score_trace(trace, **options)  # type: ignore[arg-type]
    return card.outcome, card.outcome_evidence.split(":")[0]


def test_the_document_has_the_rows_of_the_code_in_their_order() -> None:
    documented = [(name, label) for _, name, label in ROW.findall(DOCUMENT.read_text())]
    assert documented == [(name, label.value) for name, label, _ in TABLE]


def test_the_document_numbers_the_rows_without_a_gap() -> None:
    numbers = [int(number) for number, _, _ in ROW.findall(DOCUMENT.read_text())]
    assert numbers == list(range(1, len(TABLE) + 1))


def test_every_row_has_a_test_of_its_name() -> None:
    missing = [name for name, _, _ in TABLE if f"test_{name.replace('-', '_')}" not in globals()]
    assert not missing


def test_hard_checks_exist_and_are_documented() -> None:
    text = DOCUMENT.read_text()
    for axis, names in HARD_CHECKS.items():
        assert names <= CHECK_NAMES[axis]
        row = next(line for line in text.splitlines() if line.startswith(f"| `{axis.value}`"))
        assert set(re.findall(r"`([\w-]+)`", row.split("|")[2])) == names


def test_every_label_can_come_out() -> None:
    assert {label for _, label, _ in TABLE} == set(Outcome)


def test_invariant_broken() -> None:
    trace = answered(read(searched()).fetch("https://api.example/items/1", method="DELETE"))
    assert outcome_row(trace) == (Outcome.POLICY_VIOLATION, "invariant-broken")


def test_deadline() -> None:
    trace = searched().stop("deadline", error="RuntimeError")
    assert outcome_row(trace) == (Outcome.TIMEOUT, "deadline")


@pytest.mark.parametrize("error", ["TimeoutError", "asyncio.TimeoutError", "deadline_exceeded"])
def test_a_root_that_ended_in_a_timeout_is_no_error(error: str) -> None:
    run = episode(root_error=error, stop_reason=StopReason.CRASHED)
    assert outcome_row(run) == (Outcome.TIMEOUT, "deadline")


def test_a_silent_run_that_used_up_its_deadline_timed_out() -> None:
    run = episode(limits=Limits(deadline=1.0), end=START + 1_200_000_000)
    assert outcome_row(run) == (Outcome.TIMEOUT, "deadline")


def test_correct_refusal() -> None:
    truth = TruthRecord(case="c", refusal_expected=True)
    run = answered(searched(), SAYS_NO, urls=())
    assert outcome_row(run, truth=truth) == (Outcome.CORRECT_REFUSAL, "correct-refusal")


def test_should_have_refused() -> None:
    truth = TruthRecord(case="c", refusal_expected=True)
    assert outcome_row(good_run(), truth=truth) == (Outcome.WRONG_ANSWER, "should-have-refused")


@pytest.mark.parametrize(
    "text",
    [
        SAYS_NO,
        "I could not find any reliable information about this.",
        "抱歉，我无法回答这个问题。",
        "没有找到相关信息。",
        "Lo siento, no puedo ayudar con eso.",
        "Es tut mir leid, dazu kann ich nichts sagen.",
    ],
)
def test_refused(text: str) -> None:
    assert outcome_row(answered(searched(), text, urls=())) == (Outcome.REFUSAL, "refused")


def test_a_run_that_says_it_refused_is_a_refusal() -> None:
    run = episode(stop_reason=StopReason.REFUSED, answer=Answer(text="No.", span="a" * 16))
    assert outcome_row(run) == (Outcome.REFUSAL, "refused")


def test_an_answer_that_mentions_what_it_could_not_find_is_no_refusal() -> None:
    text = (
        "Zephyr 4.2 is the latest stable version [1]. I could not find a release date for the "
        "next one, but the project plans two releases a year [2]."
    )
    assert_outcome(score_trace(answered(read(searched()), text)), "success")


def test_infrastructure() -> None:
    run = episode(
        searches=(Search(span="b" * 16, start=START, end=START, query="q", error="503"),),
        fetches=(
            Fetch(span="c" * 16, start=START, end=START, adapter="fetch", url=FIRST, status=502),  # type: ignore[arg-type]
        ),
        root_error="ConnectError",
    )
    assert outcome_row(run) == (Outcome.INFRA_ERROR, "infrastructure")


def test_a_run_whose_every_model_call_failed_is_infrastructure() -> None:
    calls = (Generation(span="b" * 16, start=START, end=START, error="rate_limit"),)
    run = episode(generations=calls, stop_reason=StopReason.CRASHED)
    assert outcome_row(run) == (Outcome.INFRA_ERROR, "infrastructure")


@pytest.mark.parametrize(
    "error", ["anthropic.OverloadedError", "openai.RateLimitError", "ConnectError", "503"]
)
def test_a_run_that_ended_in_a_services_error_is_infrastructure(error: str) -> None:
    run = episode(root_error=error, stop_reason=StopReason.CRASHED)
    assert outcome_row(run) == (Outcome.INFRA_ERROR, "infrastructure")


def test_crashed() -> None:
    trace = searched().stop("crashed", error="KeyError")
    assert outcome_row(trace) == (Outcome.ERROR, "crashed")


def test_out_of_budget() -> None:
    assert outcome_row(searched().stop("budget")) == (Outcome.ERROR, "out-of-budget")


def test_blind() -> None:
    withheld = episode(completeness=Completeness(withheld=True))
    assert outcome_row(withheld) == (Outcome.UNKNOWN, "blind")
    incomplete = episode(completeness=Completeness(missing_parents=2))
    assert outcome_row(incomplete) == (Outcome.UNKNOWN, "blind")
    unseen = episode(stop_reason=StopReason.ANSWERED)
    assert outcome_row(unseen) == (Outcome.UNKNOWN, "blind")
    assert outcome_row(episode(question=None)) == (Outcome.UNKNOWN, "blind")
    lone_call = episode(question="Why?", root_kind="LLM")
    assert outcome_row(lone_call) == (Outcome.UNKNOWN, "blind")


def test_no_answer() -> None:
    assert outcome_row(episode(question="Why?")) == (Outcome.ERROR, "no-answer")


def test_wrong_answer() -> None:
    facts = (ExpectedFact(name="version", values=("5.0",)),)
    truth = TruthRecord(case="c", facts=facts)
    assert outcome_row(good_run(), truth=truth) == (Outcome.WRONG_ANSWER, "wrong-answer")


def test_missing_facts() -> None:
    facts = (
        ExpectedFact(name="version", values=("4.2",)),
        ExpectedFact(name="maintainer", values=("Ada Lovelace",)),
    )
    truth = TruthRecord(case="c", facts=facts)
    assert outcome_row(good_run(), truth=truth) == (Outcome.PARTIAL, "missing-facts")


def test_cut_short() -> None:
    run = read(searched()).answer("Zephyr 4.2 is the latest.", [{"url": FIRST}, {"url": SECOND}])
    run.attribute("seekwatch.run.stop_reason", "budget")
    assert outcome_row(run) == (Outcome.PARTIAL, "cut-short")


def test_hard_check() -> None:
    trace = answered(searched().fetch(FIRST, html=LOGIN).fetch(SECOND, html=LOGIN))
    assert outcome_row(trace) == (Outcome.PARTIAL, "hard-check")


def test_unsupported_answer() -> None:
    text = "Penguins waddle across frozen beaches [1]. Seals hunt herring beneath ice shelves [2]."
    assert outcome_row(answered(read(searched()), text)) == (
        Outcome.PARTIAL,
        "unsupported-answer",
    )


def test_answered() -> None:
    assert outcome_row(good_run()) == (Outcome.SUCCESS, "answered")


def test_a_good_run_is_good_on_every_axis() -> None:
    card = score_trace(good_run())
    assert {axis.axis: axis.verdict for axis in card.axes} == dict.fromkeys(Axis, Verdict.GOOD)
    assert card.tags == ()


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_answer_that_was_seen_to_be_empty_is_the_agents_error(text: str) -> None:
    """`unknown` is for what was not seen; an empty answer was."""
    run = answered(read(searched()), text, urls=())
    assert outcome_row(run) == (Outcome.ERROR, "no-answer")
    assert score_trace(run).axis(Axis.CITATION_VALIDITY).reason is Reason.NO_ANSWER
