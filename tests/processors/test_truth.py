"""The truth block: facts, their citations and their support, where a truth record exists."""

import pytest

from seekwatch.core.evidence import ExpectedFact, TruthRecord
from seekwatch.processors.runs.truth import states
from seekwatch.processors.testing import score_trace
from tests.services.runs import FIRST, answered, good_run, read, searched


@pytest.mark.parametrize(
    ("match", "values", "text", "found"),
    [
        ("text", ("Ada Lovelace",), "It was ada lovelace who did.", True),
        ("text", ("Ada", "Grace"), "Ada alone.", False),
        ("any", ("Ada", "Grace"), "Ada alone.", True),
        ("text", ("Ada",), "Adam did.", False),
        ("number", ("1500000",), "About 1.5 million people.", True),
        ("number", ("42",), "It was 420.", False),
        ("number", ("10 km",), "It is 10,000 m away.", True),
        ("regex", (r"\b4\.2(\.\d+)?\b",), "Version 4.2.1 is out.", True),
        ("regex", ("(",), "anything", False),
        ("text", ("北京",), "首都是北京。", True),
        ("text", (), "anything", False),
    ],
)
def test_each_way_of_matching(match: str, values: tuple[str, ...], text: str, found: bool) -> None:
    assert states(ExpectedFact(name="f", values=values, match=match), text) is found


def test_the_block_is_there_only_with_a_record() -> None:
    assert score_trace(good_run()).truth is None


def test_coverage_and_support() -> None:
    record = TruthRecord(
        case="c",
        facts=(
            ExpectedFact(name="version", values=("4.2",)),
            ExpectedFact(name="kernel", values=("6.1",)),
            ExpectedFact(name="licence", values=("Apache",)),
            ExpectedFact(name="colour", values=("blue",), required=False),
        ),
    )
    found = score_trace(good_run(), truth=record).truth
    assert found is not None
    assert found.fact_coverage == pytest.approx(2 / 3)
    assert found.citation_coverage == 1.0
    assert found.citation_support == 1.0
    assert (found.matched_facts, found.missing_facts) == (("version", "kernel"), ("licence",))


def test_nothing_to_divide_is_none() -> None:
    found = score_trace(
        answered(read(searched()), "It is so.", [FIRST]), truth=TruthRecord(case="c")
    ).truth
    assert found is not None
    assert (found.fact_coverage, found.citation_coverage) == (None, None)
