"""Every alert fires when it should and is silent when it should be, under the real promtool."""

import pytest

from tests.rules import other_cases, pipeline_cases, ratio_cases
from tests.rules.conftest import Finding
from tests.rules.promtool import Case

CASES = [*ratio_cases.CASES, *other_cases.CASES, *pipeline_cases.CASES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_alert(case: Case, finding: Finding) -> None:
    difference = finding(case)
    assert not difference, difference
