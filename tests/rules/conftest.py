"""promtool runs once for all cases of a session."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.rules import promtool
from tests.rules.promtool import Case
from tests.services.prometheus_tools import PrometheusTools

Finding = Callable[[Case], str]


@pytest.fixture(scope="session")
def finding(
    request: pytest.FixtureRequest,
    prometheus_tools: PrometheusTools,
    tmp_path_factory: pytest.TempPathFactory,
) -> Finding:
    """Tells what promtool says against a case that was selected for this session."""
    parameters: list[dict[str, Any]] = [
        item.callspec.params for item in request.session.items if hasattr(item, "callspec")
    ]
    cases = [case for each in parameters if isinstance(case := each.get("case"), Case)]
    said = promtool.findings(cases, prometheus_tools, tmp_path_factory.mktemp("promtool"))
    # By identity: a case holds mappings, so it cannot be a key.
    by_case = dict(zip(map(id, cases), said, strict=True))
    return lambda case: by_case[id(case)]
