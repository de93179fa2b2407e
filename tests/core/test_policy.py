"""Policy: data with a schema; a wrong key or value is named, a revision follows the values."""

from pathlib import Path
from typing import Any

import pytest

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.policy import ModelPrice, Policy, Regime, load_policy, parse_policy


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_overrides_what_it_names(tmp_path: Path) -> None:
    policy = load_policy(
        written(tmp_path, "diversity: {floor_factual: 3}\nfreshness: {rule: share}\n")
    )
    assert policy.diversity.floor_factual == 3
    assert policy.diversity.floor_synthesis == Policy().diversity.floor_synthesis
    assert policy.freshness.rule == "share"


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    assert load_policy(written(tmp_path, "")) == Policy()


def test_json_is_read_too(tmp_path: Path) -> None:
    policy = load_policy(
        written(tmp_path, '{"prices": {"models": {"m": {"input": 1, "output": 2}}}}')
    )
    assert policy.prices.models == {"m": ModelPrice(input=1, output=2)}


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"diversty": {}}, "policy.diversty"),
        ({"diversity": {"floor": 3}}, "policy.diversity.floor"),
        ({"diversity": {"floor_factual": 0}}, "policy.diversity.floor_factual"),
        ({"query": {"minimum_constraints": 1.5}}, "policy.query.minimum_constraints"),
        ({"query": {"minimum_constraints": float("nan")}}, "policy.query.minimum_constraints"),
        ({"freshness": {"floors": {"never": 1}}}, "policy.freshness.floors.never"),
        ({"schema": 99}, "policy.schema"),
    ],
)
def test_a_wrong_key_or_value_is_named(document: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_policy(document)
    assert caught.value.key.startswith(key)
    assert caught.value.fix


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "just words"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError):
        load_policy(written(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file"):
        load_policy(tmp_path / "none.yaml")


def test_the_revision_changes_when_a_value_does_and_only_then() -> None:
    assert Policy().revision == Policy().revision
    assert (
        parse_policy({"citation": {"redirectors": ["b.io", "a.io"]}}).revision
        == parse_policy({"citation": {"redirectors": ["a.io", "b.io"]}}).revision
    )
    assert parse_policy({"query": {"minimum_entities": 0.4}}).revision != Policy().revision


def test_writing_down_a_default_does_not_change_the_revision() -> None:
    assert parse_policy({"diversity": {"floor_factual": 2}}).revision == Policy().revision


def test_an_insensitive_regime_has_no_floor() -> None:
    assert Regime.INSENSITIVE not in Policy().freshness.floors


def test_a_policy_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Policy().query.minimum_constraints = 0.5
