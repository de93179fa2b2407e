import json
import sys
from datetime import date
from pathlib import Path

from benchmarks.nightly import benchmarks, page, run

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def test_every_benchmark_is_run_and_their_helpers_are_not() -> None:
    found = benchmarks(FOLDER)
    assert {"pipeline", "sdk", "signal"} <= set(found)
    assert not {"rows", "nightly", "measures"} & set(found)


def test_a_part_keeps_its_rows_and_its_exit_code(tmp_path: Path) -> None:
    rows = tmp_path / "rows.json"
    row = {"name": "cost", "value": 1.23456, "unit": "ratio", "goal": 2, "holds": True, "n": 7}
    rows.write_text(json.dumps([row]))
    part = run("one", [sys.executable, "-c", "print('said'); raise SystemExit(3)"], rows)
    assert (part.code, part.end, part.rows) == (3, "said", [row])
    text = page(date(2026, 1, 2), [part])
    assert "# Nightly, 2026-01-02" in text
    assert "| one | failed (exit code 3) |" in text
    assert "| cost | 1.235 | ratio | 2 | yes | 7 |" in text


def test_a_part_without_rows_is_shown_by_the_end_of_what_it_said() -> None:
    part = run("tests", [sys.executable, "-c", "print(*range(50), sep='\\n')"])
    text = page(date(2026, 1, 2), [part])
    assert "\n49\n```" in text
    assert "\n30\n" not in text
