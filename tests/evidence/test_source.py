"""Sources answer without waiting."""

import pytest

from seekwatch.core.evidence import Evidence, TruthRecord
from seekwatch.core.model import Episode, RunContext
from seekwatch.evidence.source import EvidenceSource, TraceEvidence, TruthSource


def episode(case: str | None) -> Episode:
    context = RunContext(agent="finder", case=case)
    return Episode(trace="0" * 32, root="1" * 16, start=0, end=1, context=context)


def test_a_trace_that_speaks_for_itself_needs_no_look_up() -> None:
    source: EvidenceSource = TraceEvidence()
    assert source.look_up(episode("known"), 1.0) is None
    source.close()


def test_the_truth_of_a_known_case_is_there_at_once() -> None:
    record = TruthRecord(case="known")
    source: EvidenceSource = TruthSource({"known": record})
    answer = source.look_up(episode("known"), 1.0)
    assert answer is not None
    assert answer.result(timeout=0) == Evidence(truth=record)
    source.close()


@pytest.mark.parametrize("case", [None, "unknown"])
def test_a_run_without_a_known_case_needs_no_look_up(case: str | None) -> None:
    assert TruthSource({"known": TruthRecord(case="known")}).look_up(episode(case), 1.0) is None
