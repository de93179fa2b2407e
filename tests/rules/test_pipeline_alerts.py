"""Alerts on the monitor itself."""

from pathlib import Path

import pytest

from tests.rules import promtool
from tests.rules.pipeline_cases import CASES
from tests.rules.promtool import Case
from tests.services.prometheus_tools import PrometheusTools


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_pipeline_alert(case: Case, prometheus_tools: PrometheusTools, tmp_path: Path) -> None:
    promtool.run(case, prometheus_tools, tmp_path)
