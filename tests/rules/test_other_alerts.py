"""Alerts on runs that spend no budget: no success, cost, silence, broken invariants."""

from pathlib import Path

import pytest

from tests.rules import promtool
from tests.rules.other_cases import CASES
from tests.rules.promtool import Case
from tests.services.prometheus_tools import PrometheusTools


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_other_alert(case: Case, prometheus_tools: PrometheusTools, tmp_path: Path) -> None:
    promtool.run(case, prometheus_tools, tmp_path)
