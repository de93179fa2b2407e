"""How far a judge can be believed: agreement with people and scorers, and what is missing."""

from pathlib import Path

import pytest

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.scorecard import Axis, JudgeVerdict, Scorecard
from seekwatch.core.verdicts import Check, Verdict
from seekwatch.evidence.judges.calibration import ENOUGH, agreement, calibrate
from seekwatch.evidence.labels import Label, append_label, read_labels
from tests.services.scorecards import axis_verdict, scorecard

GOOD, BAD, UNSEEN = Verdict.GOOD, Verdict.BAD, Verdict.UNSCORABLE


def judged(
    number: int,
    verdict: Verdict,
    *,
    rubric: str = "query-rewriting",
    revision: str = "r1",
    scorer: Verdict = GOOD,
    subject: str = "",
) -> Scorecard:
    said = JudgeVerdict(
        rubric=rubric, revision=revision, model="m", verdict=verdict, evidence="", subject=subject
    )
    return scorecard(number, verdicts={Axis.QUERY_QUALITY: scorer}, judgements=(said,))


def label(card: Scorecard, verdict: Verdict, **fields: str) -> Label:
    given = {"about": "query-rewriting", "revision": "r1", "by": "ada"} | fields
    return Label(trace=card.trace, verdict=verdict, **given)  # type: ignore[arg-type]


def test_agreement_by_chance_is_taken_off() -> None:
    # Cohen's own kind of table: 20 both good, 15 both bad, 5 and 10 apart.
    pairs = [(GOOD, GOOD)] * 20 + [(GOOD, BAD)] * 5 + [(BAD, GOOD)] * 10 + [(BAD, BAD)] * 15
    found = agreement(pairs)
    assert (found.pairs, found.share) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)
    assert (found.missed, found.alarms) == (10, 5)
    assert found.low is not None
    assert found.high is not None
    assert found.low == pytest.approx(0.5625, abs=1e-3)
    assert found.high == pytest.approx(0.8090, abs=1e-3)


def test_one_that_always_says_the_same_has_no_kappa() -> None:
    assert agreement([(GOOD, GOOD)] * 5).kappa is None
    assert agreement([]).share is None


def test_a_judge_is_compared_with_people_and_with_its_axis() -> None:
    cards = [judged(n, GOOD if n % 2 else BAD, scorer=GOOD) for n in range(10)]
    labels = [label(card, GOOD) for card in cards[:4]]
    (found,) = calibrate(cards, labels)
    assert (found.judged, found.people.pairs, found.people.share) == (10, 4, 0.5)
    assert found.scorer is not None
    assert (found.scorer.pairs, found.scorer.share, found.scorer.alarms) == (10, 0.5, 5)
    assert found.wanted == ENOUGH - 4
    assert set(found.unlabelled) <= {card.trace for card in cards[4:]}


def test_labels_of_an_earlier_revision_do_not_count_for_the_present_one() -> None:
    before, after = judged(1, GOOD, revision="r1"), judged(2, GOOD, revision="r2")
    found = calibrate([before, after], [label(before, GOOD), label(after, GOOD)])
    assert [(one.revision, one.people.pairs, one.wanted) for one in found] == [
        ("r1", 1, ENOUGH - 1),
        ("r2", 0, ENOUGH),
    ]


def test_verdicts_that_are_none_are_left_out_and_counted() -> None:
    cards = [judged(1, UNSEEN), judged(2, GOOD, scorer=UNSEEN), judged(3, GOOD)]
    (found,) = calibrate(cards, [label(cards[0], GOOD), label(cards[2], UNSEEN)])
    assert (found.judged, found.unscorable, found.people.pairs) == (2, 1, 0)
    assert found.scorer is not None
    assert found.scorer.pairs == 1


def test_a_claim_is_compared_with_the_check_of_that_claim() -> None:
    checks = (
        Check.good("support", "held", subject="The first claim. [1]"),
        Check.bad("support", "lacks 3", subject="The second claim. [2]"),
    )
    axes = tuple(
        axis_verdict(axis, checks=checks if axis is Axis.CITATION_VALIDITY else ()) for axis in Axis
    )
    verdicts = tuple(
        JudgeVerdict(
            rubric="claim-support", revision="r", model="m", verdict=BAD, evidence="", subject=claim
        )
        for claim in ("The first claim.", "The second claim.", "A third one.")
    )
    (found,) = calibrate([scorecard(1, axes=axes, judgements=verdicts)], [])
    assert found.scorer is not None
    assert (found.scorer.pairs, found.scorer.alarms) == (2, 1)


def test_the_traces_to_label_next_are_bad_and_good_in_turns() -> None:
    cards = [judged(n, GOOD) for n in range(20)] + [judged(n, BAD) for n in range(20, 22)]
    (found,) = calibrate(cards, [])
    assert {cards[20].trace, cards[21].trace} <= set(found.unlabelled)
    assert len(found.unlabelled) == 6


def test_a_labels_file_keeps_the_last_word_of_each_person(tmp_path: Path) -> None:
    path, card = tmp_path / "kept" / "labels.jsonl", scorecard(1)
    for verdict, by in ((GOOD, "ada"), (BAD, "ada"), (GOOD, "bob")):
        append_label(path, label(card, verdict, by=by))
    assert [(one.by, one.verdict) for one in read_labels(path)] == [("ada", BAD), ("bob", GOOD)]


@pytest.mark.parametrize("line", ["{", '{"trace": 1}', '{"schema": 9, "trace": "a"}', "[]"])
def test_a_line_that_is_no_label_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    append_label(path, label(scorecard(1), GOOD))
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ConfigurationError, match="line 2"):
        read_labels(path)


def test_a_label_of_another_release_is_refused_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"schema": 2, "trace": "a", "about": "b", "verdict": "good"}\n')
    with pytest.raises(ConfigurationError, match="schema 2"):
        read_labels(path)
