"""The command line as a person meets it: help, errors in two lines, exit codes."""

import json
import os
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seekwatch.core.scorecard import Axis
from seekwatch.core.testing import TraceBuilder
from seekwatch.monitor.cli import app
from tests.services.monitor_process import MonitorProcess, PatientSender, seekwatch
from tests.services.traffic import expected_scorecards, runs
from tests.services.waiting import eventually

VERBS = ("up", "receive", "worker", "export", "score", "tail", "doctor")
FAST = ("closing.quiet=0.2", "worker.commit_interval=0.1")


def _run(
    *words: str, directory: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        seekwatch(*words),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=directory,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def test_version() -> None:
    assert _run("--version").stdout.strip() == f"seekwatch {version('seekwatch')}"


def _help(*words: str) -> str:
    """Return a help page, in this process: only the start of one is slow."""
    answer = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "100"})
    assert answer.exit_code == 0
    return answer.output


def test_help_names_every_verb_in_one_line() -> None:
    text = _help()
    for verb in VERBS:
        assert any(line.strip(" │").startswith(f"{verb} ") for line in text.splitlines())


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_shows_examples(verb: str) -> None:
    assert f"seekwatch {verb}" in _help(verb).split("Examples")[1]


@pytest.mark.parametrize("verb", ["up", "doctor"])
def test_a_wrong_setting_stops_the_start_with_key_value_and_fix(verb: str) -> None:
    answer = _run(verb, SEEKWATCH_CLOSING__QUIET="soon")
    assert answer.returncode == 2
    assert "SEEKWATCH_CLOSING__QUIET = 'soon'" in answer.stderr
    assert answer.stderr.splitlines()[1].startswith("fix")
    assert "Traceback" not in answer.stderr


def test_a_wrong_policy_stops_the_start_too(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("freshness: {rule: newest}")
    answer = _run("up", "--policy", str(policy), directory=tmp_path)
    assert answer.returncode == 2
    assert "policy.freshness.rule = 'newest'" in answer.stderr
    assert not (tmp_path / "seekwatch.db").exists()


def test_an_address_that_is_taken_stops_the_start(tmp_path: Path) -> None:
    first = MonitorProcess("up", tmp_path)
    first.start()
    port = first.metrics.rsplit(":", 1)[1]
    answer = _run("up", "--data", "other.db", "--metrics-port", port, directory=tmp_path)
    assert answer.returncode == 2
    assert "metrics.port" in answer.stderr
    assert "Traceback" not in answer.stderr
    first.stop()


def test_a_second_worker_on_one_file_is_refused(tmp_path: Path) -> None:
    first = MonitorProcess("up", tmp_path)
    first.start()
    words = [w for s in ("receiver.grpc_port=", "receiver.http_port=0") for w in ("--set", s)]
    answer = _run("up", "--metrics-port", "0", *words, directory=tmp_path)
    assert answer.returncode == 2
    assert "embedded.path" in answer.stderr
    first.stop()


def test_export_without_an_exporter_says_what_to_set(tmp_path: Path) -> None:
    answer = _run("export", "--set", "metrics.port=0", directory=tmp_path)
    assert answer.returncode == 2
    assert "archive.directory, evaluation.endpoint" in answer.stderr


def test_tail_and_doctor_without_a_log_say_how_to_get_one(tmp_path: Path) -> None:
    answer = _run("tail", directory=tmp_path)
    assert answer.returncode == 2
    assert "seekwatch up" in answer.stderr
    answer = _run("doctor", directory=tmp_path)
    assert answer.returncode == 1
    assert "seekwatch up" in answer.stdout
    assert not list(tmp_path.iterdir())


def test_score_prints_readable_and_json(tmp_path: Path) -> None:
    run = runs(2, open_every=99)[1]
    file = tmp_path / "run.binpb"
    file.write_bytes(b"".join(len(r).to_bytes(4, "big") + r for r in run.requests))
    text = _run("score", str(file)).stdout
    assert "agent-1  success" in text
    assert "When did the bridge number 1 open?" in text
    for title in ("query", "freshness", "diversity", "citations"):
        assert title in text
    lines = _run("score", "--json", str(file)).stdout.encode().splitlines()
    assert lines == list(expected_scorecards([run]).values())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\x0a\xff not otlp", "holds no OTLP"),
        (b"{broken", "holds no OTLP"),
    ],
)
def test_score_of_something_else_says_so(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    answer = _run("score", str(file))
    assert answer.returncode == 2
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr


def test_score_without_an_agent_run_is_an_error_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"resourceSpans": []}')
    answer = _run("score", str(file))
    assert answer.returncode == 1
    assert "no agent run" in answer.stderr


def test_up_serves_tails_and_ends_in_order_on_ctrl_c(tmp_path: Path) -> None:
    sent = runs(6, open_every=99)
    monitor = MonitorProcess("up", tmp_path, (*FAST, f"archive.directory={tmp_path / 'archive'}"))
    monitor.start()
    sender = PatientSender(monitor.otlp)
    for run in sent:
        for request in run.requests:
            sender.send(request)
    sender.close()

    def lines() -> list[str]:
        answer = _run("tail", "--no-follow", "--json", directory=tmp_path)
        return answer.stdout.splitlines()

    eventually(lambda: len(lines()) == len(sent), what="every run is shown")
    assert {json.loads(line)["scorecard"]["trace"] for line in lines()} == {r.trace for r in sent}
    text = _run("tail", "--no-follow", "-n", "3", directory=tmp_path).stdout
    assert text.splitlines()[0].split()[:3] == ["time", "agent", "outcome"]
    assert text.count("agent-") == 3

    answer = _run("tail", "--worst", "2", "--axis", str(Axis.CITATION_VALIDITY), directory=tmp_path)
    assert answer.returncode == 0
    answer = _run("tail", "--no-follow", "--json", "--agent", "agent-0", directory=tmp_path)
    agents = {json.loads(line)["scorecard"]["agent"] for line in answer.stdout.splitlines()}
    assert agents == {"agent-0"}

    monitor.service.signal(signal.SIGINT)
    eventually(lambda: not monitor.service.alive, what="up has ended")
    log = monitor.service.tail()
    assert "Seekwatch is up" in log
    assert "Traceback" not in log
    archived = _run("score", "--json", str(tmp_path / "archive"))
    assert set(archived.stdout.encode().splitlines()) == set(expected_scorecards(sent).values())


def test_what_was_taken_before_sigterm_is_scored_after_the_next_start(tmp_path: Path) -> None:
    run = runs(1, open_every=99)[0]
    monitor = MonitorProcess("up", tmp_path, FAST)
    monitor.start()
    sender = PatientSender(monitor.otlp)
    for request in run.requests:
        sender.send(request)
    monitor.stop()
    monitor.start()
    sender.close()
    eventually(
        lambda: run.trace in _run("tail", "--no-follow", "--json", directory=tmp_path).stdout,
        what="the run is scored",
    )
    monitor.stop()


def test_the_log_is_json_when_asked(tmp_path: Path) -> None:
    monitor = MonitorProcess("up", tmp_path, ("logging.format=json",))
    monitor.start()
    monitor.stop()
    parsed = [json.loads(line) for line in monitor.service.tail().splitlines() if line[0] == "{"]
    assert parsed
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in parsed)


def test_text_of_a_span_cannot_steer_the_terminal(tmp_path: Path) -> None:
    builder = TraceBuilder("evil\x1b[2J[bold]agent").agent("\x1b]0;owned\x07 [red]question")
    file = tmp_path / "run.binpb"
    file.write_bytes(
        builder.answer("x", citations=[{"url": "https://e\x1b[31m.example"}]).request()
    )
    text = _run("score", str(file)).stdout
    assert "\x1b" not in text
    assert "[bold]agent" in text
