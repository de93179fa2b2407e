"""What people write into objectives.yaml, right and wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rules import generate
from rules.objectives import DEFAULT_PATH, DURATION_BUCKETS, Objectives, load
from rules.profiles import apply_profile
from seekwatch.core.errors import ConfigurationError
from seekwatch.exporters.metric_names import RUN_SECONDS

Document = dict[str, Any]
Change = Callable[[Document], object]


def written(folder: Path, change: Change) -> Path:
    """The project's own objectives with one change."""
    document: Document = yaml.safe_load(DEFAULT_PATH.read_text("utf-8"))
    change(document)
    path = folder / "objectives.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


def refusal(folder: Path, change: Change) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        load(written(folder, change))
    return caught.value


def profiles() -> list[Objectives]:
    objectives = load()
    return [objectives, *(apply_profile(objectives, name) for name in objectives.profiles)]


@pytest.mark.parametrize("objectives", profiles(), ids=["default", *load().profiles])
def test_every_threshold_can_be_exceeded_by_a_share(objectives: Objectives) -> None:
    for key, objective in objectives.ratios().items():
        for agent in (None, *objective.agents):
            for tier in objective.tiers:
                threshold = objectives.threshold(tier, objective.for_agent(agent))
                assert 0 < threshold < 1, (key, tier, agent)


def test_the_buckets_are_those_of_the_metric() -> None:
    assert tuple(DURATION_BUCKETS) == tuple(RUN_SECONDS)


def test_a_threshold_above_the_ceiling_is_lowered_to_it(tmp_path: Path) -> None:
    path = written(
        tmp_path, lambda document: document["axes"]["citation_validity"].update(factors={"fast": 9})
    )
    objectives = load(path)
    assert objectives.threshold("fast", objectives.axes["citation_validity"]) == 0.8


def test_a_threshold_that_nothing_exceeds_is_refused_with_the_largest_factor(
    tmp_path: Path,
) -> None:
    error = refusal(
        tmp_path,
        lambda document: document["axes"]["citation_validity"].update(factors={"fast": 14.4}),
    )
    assert error.key == "axes.citation_validity.factors.fast"
    assert error.value == 14.4
    assert "could never fire" in error.fix
    assert "below 10" in error.fix


def test_a_threshold_of_one_agent_that_nothing_exceeds_is_refused(tmp_path: Path) -> None:
    error = refusal(
        tmp_path,
        lambda document: document["success"].update(agents={"shop": {"objective": 0.5}}),
    )
    assert error.key == "success.agents.shop.factors.fast"


@pytest.mark.parametrize(
    ("change", "key", "value", "fix"),
    [
        pytest.param(
            lambda document: document["success"].update(objective=95),
            "success.objective",
            95,
            "less than 1",
            id="a share written in per cent",
        ),
        pytest.param(
            lambda document: document["success"].update(objectiv=0.9),
            "success.objectiv",
            0.9,
            "no such key",
            id="a misspelt key",
        ),
        pytest.param(
            lambda document: document["tiers"]["fast"].update(long="60 minutes"),
            "tiers.fast.long",
            "60 minutes",
            "such as 5m",
            id="a duration in words",
        ),
        pytest.param(
            lambda document: document["tiers"]["fast"].update({"for": 0}),
            "tiers.fast.for",
            0,
            "string",
            id="a duration without a unit",
        ),
        pytest.param(
            lambda document: document["tiers"]["fast"].update(minimum_samples=0),
            "tiers.fast.minimum_samples",
            0,
            "greater than or equal to 1",
            id="no minimum of samples",
        ),
        pytest.param(
            lambda document: document["tiers"]["fast"].update(short="2h"),
            "tiers.fast.short",
            "2h",
            "shorter than 1h",
            id="windows the wrong way round",
        ),
        pytest.param(
            lambda document: document["tiers"]["trend"].update({"for": "2h"}),
            "tiers.trend.for",
            "2h",
            "share `for`",
            id="tiers of one alert that differ in patience",
        ),
        pytest.param(
            lambda document: document["success"].update(tiers=["quick"]),
            "success.tiers",
            "quick",
            "no such tier",
            id="an unknown tier",
        ),
        pytest.param(
            lambda document: document["success"].update(severity={"fast": "critical"}),
            "success.severity.fast",
            "critical",
            "'page' or 'ticket'",
            id="an unknown severity",
        ),
        pytest.param(
            lambda document: document["success"].update(good=["succeeded"]),
            "success.good.0",
            "succeeded",
            "'success'",
            id="an unknown outcome",
        ),
        pytest.param(
            lambda document: document["latency"].update(threshold_seconds=45),
            "latency.threshold_seconds",
            45.0,
            "30, 60",
            id="a latency bound between two buckets",
        ),
        pytest.param(
            lambda document: document["axes"].pop("query_quality"),
            "axes",
            ["citation_validity", "source_diversity", "source_freshness"],
            "add query_quality",
            id="a missing axis",
        ),
        pytest.param(
            lambda document: document.pop("cost"),
            "cost",
            "nothing",
            "add it",
            id="a missing section",
        ),
        pytest.param(
            lambda document: document["teams"].update(default="My Team"),
            "teams.default",
            "My Team",
            "pattern",
            id="a team that cannot be a label",
        ),
    ],
)
def test_a_bad_value_is_refused_with_key_value_and_fix(
    change: Change, key: str, value: object, fix: str, tmp_path: Path
) -> None:
    error = refusal(tmp_path, change)
    assert error.key == key
    assert error.value == value
    assert fix in error.fix


def test_the_command_says_what_is_wrong_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, lambda document: document["success"].update(objective=2))
    output = tmp_path / "rules"
    assert generate.main(["--objectives", str(path), "--output", str(output)]) == 2
    assert "success.objective = 2" in capsys.readouterr().err
    assert not output.exists()


class TestProfiles:
    def test_a_profile_keeps_the_alerts_and_changes_the_clock(self) -> None:
        plain, demo = load(), apply_profile(load(), "demo")
        assert demo.tiers["fast"].long == "20s"
        assert demo.tiers["fast"].minimum_samples == 10
        assert demo.axes == plain.axes
        assert demo.latency.threshold_seconds == plain.latency.threshold_seconds

    def test_an_unknown_profile_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="known profiles: demo"):
            apply_profile(load(), "dmeo")

    def test_a_duration_that_a_profile_leaves_out_is_refused(self, tmp_path: Path) -> None:
        path = written(
            tmp_path, lambda document: document["profiles"]["demo"]["durations"].pop("3d")
        )
        with pytest.raises(ConfigurationError, match=r"durations = '3d': add what 3d becomes"):
            apply_profile(load(path), "demo")

    def test_a_profile_that_changes_the_order_of_windows_is_refused(self, tmp_path: Path) -> None:
        path = written(
            tmp_path,
            lambda document: document["profiles"]["demo"]["durations"].update({"3d": "1s"}),
        )
        with pytest.raises(ConfigurationError, match="at least 60s"):
            apply_profile(load(path), "demo")

    def test_an_exception_for_no_duration_is_refused(self, tmp_path: Path) -> None:
        path = written(
            tmp_path,
            lambda document: document["profiles"]["demo"].update(
                exceptions={"monitor.donw_for": "1s"}
            ),
        )
        with pytest.raises(ConfigurationError, match="no such duration"):
            apply_profile(load(path), "demo")
