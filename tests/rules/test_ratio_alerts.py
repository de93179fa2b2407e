"""Every alert that compares a share of runs with an objective."""

from pathlib import Path

import pytest

from tests.rules import promtool
from tests.rules.promtool import Case
from tests.rules.ratio_cases import CASES
from tests.services.prometheus_tools import PrometheusTools


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_ratio_alert(case: Case, prometheus_tools: PrometheusTools, tmp_path: Path) -> None:
    promtool.run(case, prometheus_tools, tmp_path)
