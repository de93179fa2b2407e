"""The declarations agree with the scorers, with the documentation and with Prometheus' habits."""

import re
from pathlib import Path

import pytest

from seekwatch.exporters.metric_names import (
    CHECKS,
    DECLARATIONS,
    METRIC_NAMES,
    SAMPLE_NAMES,
    Declaration,
    MetricType,
    Scope,
)
from seekwatch.exporters.metrics_document import document
from seekwatch.exporters.series import declared_series
from seekwatch.processors.score import CHECK_NAMES


def test_the_documentation_is_written_from_the_declarations(repository: Path) -> None:
    written = (repository / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert written == document(), "python -m seekwatch.exporters.metrics_document > docs/metrics.md"


def test_every_check_of_a_scorer_has_a_label_value() -> None:
    assert {axis: frozenset(names) for axis, names in CHECKS.items()} == CHECK_NAMES


def test_names_are_there_once() -> None:
    assert len(METRIC_NAMES) == len(DECLARATIONS)
    assert "seekwatch_run_duration_seconds_bucket" in SAMPLE_NAMES
    assert "seekwatch_run_duration_seconds" not in SAMPLE_NAMES


@pytest.mark.parametrize("item", DECLARATIONS, ids=lambda item: item.name)
def test_a_declaration_follows_the_conventions(item: Declaration) -> None:
    assert re.fullmatch(r"seekwatch_[a-z_]+[a-z]", item.name)
    assert item.name.endswith("_total") == (item.type is MetricType.COUNTER)
    assert item.help.endswith(".")
    assert bool(item.buckets) == (item.type is MetricType.HISTOGRAM)
    assert list(item.buckets) == sorted(set(item.buckets))
    if item.unit:
        assert item.name.removesuffix("_total").endswith(item.unit)
    for label in item.labels:
        assert bool(label.values) != bool(label.bound), label.name
        assert len(set(label.values)) == len(label.values)


@pytest.mark.parametrize("item", DECLARATIONS, ids=lambda item: item.name)
def test_run_metrics_carry_the_lane_and_hold_to_a_few_hundred_series(item: Declaration) -> None:
    if item.scope is Scope.AGENT_AND_LANE:
        assert item.label_names[:2] == ("agent", "lane")
        assert len(list(declared_series(item, ("a", "live")))) * 21 < 400
    elif item.scope is Scope.LANE:
        assert item.label_names[0] == "lane"
        assert "agent" not in item.label_names
