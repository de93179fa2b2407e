"""The quality benchmark: how it is called, and that its measures are what they are called."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.measures import auc, f1, macro_f1, measure_row, precision, recall
from benchmarks.signal import set_names

ROOT = Path(__file__).resolve().parents[2]
CALLS = {"module": ["-m", "benchmarks.signal"], "file": ["benchmarks/signal.py"]}


def call(how: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *CALLS[how], *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("how", CALLS)
def test_it_runs_as_a_module_and_as_a_file_which_shares_a_standard_modules_name(how: str) -> None:
    answered = call(how, "--help")
    assert answered.returncode == 0, answered.stderr
    assert "quote_on_page" in answered.stdout


def test_a_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    answered = call("module", "--data", str(tmp_path), "--set", "psl_vectors")
    assert answered.returncode == 1
    assert "no folder psl_vectors" in answered.stderr


def test_every_set_writes_rows_that_carry_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "psl_vectors"
    folder.mkdir()
    vectors = [
        {"host": "www.example.co.uk", "registrable": "example.co.uk"},
        {"host": "co.uk", "registrable": None},
    ]
    (folder / "vectors.jsonl").write_text("\n".join(map(json.dumps, vectors)))
    rows = tmp_path / "rows.json"
    answered = call(
        "module", "--data", str(tmp_path), "--set", "psl_vectors", "--json", str(rows), "--check"
    )
    assert answered.returncode == 0, answered.stdout + answered.stderr
    names = [row["name"] for row in json.loads(rows.read_text())]
    assert names
    assert all(name.startswith("psl_vectors: ") for name in names)


def test_the_sets_modules_are_found_and_their_helpers_are_not() -> None:
    assert {"psl_vectors", "quote_on_page"} <= set(set_names())
    assert not {"reading", "pages", "__init__"} & set(set_names())


def test_measures_are_what_they_are_called() -> None:
    judged = [(True, True), (True, False), (False, True), (False, False), (True, True)]
    assert precision(judged) == pytest.approx(2 / 3)
    assert recall(judged) == pytest.approx(2 / 3)
    assert f1(judged) == pytest.approx(2 / 3)
    assert auc([(True, 0.9), (False, 0.1), (True, 0.4), (False, 0.5)]) == pytest.approx(3 / 4)
    assert macro_f1([("a", "a"), ("b", "a")]) == pytest.approx((2 / 3 + 0) / 2)
    assert auc([(True, 1.0)]) is None
    assert precision([(True, False)]) is None


def test_an_interval_over_groups_is_wider_than_one_over_their_copies() -> None:
    items = [(index, (index % 2 == 0, index % 3 == 0)) for index in range(30) for _ in range(10)]

    def share(sample: object) -> float | None:
        return precision([judged for _, judged in sample])  # type: ignore[attr-defined]

    alone = measure_row("alone", items, share)
    grouped = measure_row("grouped", items, share, group=lambda item: item[0])
    assert alone.ci_low is not None
    assert alone.ci_high is not None
    assert grouped.ci_low is not None
    assert grouped.ci_high is not None
    assert grouped.ci_high - grouped.ci_low > 1.5 * (alone.ci_high - alone.ci_low)
