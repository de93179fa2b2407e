"""The algebra of verdicts: three values, and numbers that are numbers."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seekwatch.core.verdicts import Check, Reason, Verdict, conjunction, decided, is_score, ratio

VERDICTS = st.lists(st.sampled_from(Verdict), max_size=8)
NUMBERS = st.one_of(st.floats(), st.integers(), st.just(0.0), st.just(10**400))


@given(VERDICTS)
def test_one_bad_makes_both_joins_bad(verdicts: list[Verdict]) -> None:
    assert conjunction([*verdicts, Verdict.BAD]) is Verdict.BAD
    assert decided([*verdicts, Verdict.BAD]) is Verdict.BAD


@given(VERDICTS)
def test_order_and_repetition_do_not_matter(verdicts: list[Verdict]) -> None:
    for join in (conjunction, decided):
        assert (
            join(verdicts[::-1]) is join(sorted(verdicts)) is join(verdicts * 2) is join(verdicts)
        )


@given(VERDICTS, VERDICTS)
def test_joining_may_be_done_in_parts(first: list[Verdict], second: list[Verdict]) -> None:
    if first and second:
        parts = [conjunction(first), conjunction(second)]
        assert conjunction(parts) is conjunction([*first, *second])


@given(VERDICTS)
def test_good_needs_a_good_one(verdicts: list[Verdict]) -> None:
    for join in (conjunction, decided):
        if join(verdicts) is Verdict.GOOD:
            assert Verdict.GOOD in verdicts


def test_unscorable_keeps_a_conjunction_open_and_leaves_a_decision_alone() -> None:
    mixed = [Verdict.GOOD, Verdict.UNSCORABLE]
    assert conjunction(mixed) is Verdict.UNSCORABLE
    assert decided(mixed) is Verdict.GOOD


def test_nothing_is_unscorable() -> None:
    assert conjunction([]) is Verdict.UNSCORABLE
    assert decided([]) is Verdict.UNSCORABLE


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, -0.1, 1.7, "0.8", None, True, [0.5]]
)
def test_what_is_no_finite_number_from_0_to_1_is_no_score(value: object) -> None:
    assert not is_score(value)


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.5, 1.0, -0.0])
def test_both_ends_are_scores(value: object) -> None:
    assert is_score(value)


@pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 1.7])
def test_a_check_with_such_a_score_is_unscorable(score: float) -> None:
    for make in (Check.good, Check.bad):
        check = make("floor", "2 of 3", score=score, subject="a", spans=["1"])
        assert (check.verdict, check.reason) == (Verdict.UNSCORABLE, Reason.INVALID_SCORE)
        assert (check.score, check.subject, check.spans) == (None, "a", ("1",))


@given(st.floats())
def test_no_check_ever_encodes_a_nan(score: float) -> None:
    line = msgspec.json.encode(Check.good("floor", "line", score=score))
    assert b"null" not in line
    assert msgspec.json.decode(line, type=Check) == Check.good("floor", "line", score=score)


@given(NUMBERS, NUMBERS)
def test_a_ratio_is_finite_or_none(numerator: float, denominator: float) -> None:
    quotient = ratio(numerator, denominator)
    assert quotient is None or math.isfinite(quotient)


def test_nothing_divided_by_nothing_is_none() -> None:
    assert ratio(0, 0) is None
    assert ratio(1, 0) is None
    assert ratio(1, 4) == 0.25


def test_reasons_are_fit_for_a_label() -> None:
    words: list[Any] = [reason.value for reason in Reason]
    assert all(word == word.lower() and " " not in word for word in words)
    assert len(set(words)) == len(words)


def test_a_check_names_each_of_its_spans_once() -> None:
    check = Check.good("seen", "twice in one span", spans=["b" * 16, "a" * 16, "b" * 16])
    assert check.spans == ("b" * 16, "a" * 16)
