"""Truth files are read as people write them, and what is wrong in them is named."""

import json
from pathlib import Path

import pytest

from seekwatch.core.errors import ConfigurationError
from seekwatch.core.evidence import ExpectedFact, TruthRecord
from seekwatch.evidence.truth import load_truth

BRIDGE = TruthRecord(
    case="bridge",
    facts=(
        ExpectedFact(name="year", values=("1932",), match="number"),
        ExpectedFact(name="engineer", values=("Bradfield", "J. Bradfield"), required=False),
    ),
    allowed_sources=("example.org",),
)
SECRET = TruthRecord(case="secret", refusal_expected=True)

BY_CASE = """\
# what is known
bridge:
  facts:
    - {name: year, values: 1932, match: number}
    - name: engineer
      values: [Bradfield, J. Bradfield]
      required: false
  allowed_sources: [example.org]
secret:
  refusal_expected: true
"""


def written(tmp_path: Path, text: str, name: str = "truth.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_by_case_id(tmp_path: Path) -> None:
    assert load_truth(written(tmp_path, BY_CASE)) == {"bridge": BRIDGE, "secret": SECRET}


def test_a_yaml_list_of_records(tmp_path: Path) -> None:
    text = "- case: secret\n  refusal_expected: true\n"
    assert load_truth(written(tmp_path, text)) == {"secret": SECRET}


def test_json_lines_with_blank_ones(tmp_path: Path) -> None:
    rows = [
        {
            "case": "bridge",
            "facts": [
                {"name": "year", "values": ["1932"], "match": "number"},
                {
                    "name": "engineer",
                    "values": ["Bradfield", "J. Bradfield"],
                    "required": False,
                },
            ],
            "allowed_sources": ["example.org"],
        },
        {"case": "secret", "refusal_expected": True},
    ]
    text = "\n\n".join(json.dumps(row) for row in rows)
    assert load_truth(written(tmp_path, text, "truth.jsonl")) == {
        "bridge": BRIDGE,
        "secret": SECRET,
    }


def test_an_empty_file_knows_nothing(tmp_path: Path) -> None:
    assert load_truth(written(tmp_path, "")) == {}
    assert load_truth(written(tmp_path, "\n", "truth.jsonl")) == {}


def test_dates_and_booleans_stand_for_their_text(tmp_path: Path) -> None:
    text = "a:\n  facts:\n    - {name: f, values: [2024-05-01, true, 1.50]}\n"
    (fact,) = load_truth(written(tmp_path, text))["a"].facts
    assert fact.values == ("2024-05-01", "true", "1.5")


@pytest.mark.parametrize(
    ("text", "line", "key", "fix"),
    [
        ("a:\n  facts: []\n  fact: 1\n", 3, "fact", "no such key"),
        ("a:\n  facts:\n    - values: x\n", 3, "facts.0.name", "Field required"),
        ("a:\n  facts:\n    - name: n\n      values: []\n", 4, "facts.0.values", "at least 1"),
        ("a:\n  facts:\n    - {name: n, values: [' ']}\n", 3, "facts.0", "empty value"),
        (
            "a:\n  facts:\n    - name: n\n      values: '('\n      match: regex\n",
            3,
            "facts.0",
            "no regular expression",
        ),
        ("a:\n  facts:\n  - {name: n, values: x, match: fuzzy}\n", 3, "match", "'text'"),
        ("a:\n  refusal_expected: perhaps\n", 2, "refusal_expected", "valid boolean"),
        ("a:\n  case: b\n", 1, "case", "leave the key out"),
        ("a: {}\n\na: {}\n", 3, "case", "line 1 has it already"),
        ("- case: a\n- case: a\n", 2, "case", "line 1 has it already"),
        ("- facts: []\n", 1, "case", "Field required"),
        ("a: 5\n", 1, "a", "write a record"),
        ("just text\n", 1, "", "mapping from case id"),
        ("a:\n  - b\n c: d\n", 3, "", "no YAML"),
    ],
)
def test_an_error_names_file_line_key_and_fix(
    tmp_path: Path, text: str, line: int, key: str, fix: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigurationError) as caught:
        load_truth(path)
    assert caught.value.key.startswith(f"{path}:{line}")
    assert caught.value.key.endswith(key)
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("text", "line"),
    [('{"case": "a"}\n{"case": }\n', 2), ('\n{"case": "a", "x": 1}', 2), ("[1]\n", 1)],
)
def test_an_error_in_json_lines_names_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = written(tmp_path, text, "truth.jsonl")
    with pytest.raises(ConfigurationError) as caught:
        load_truth(path)
    assert caught.value.key.startswith(f"{path}:{line}")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.yaml", tmp_path, binary):
        with pytest.raises(ConfigurationError, match=r"no such file|is a directory|is no text"):
            load_truth(path)
