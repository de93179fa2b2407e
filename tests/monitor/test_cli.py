"""The command line as a person meets it: help, errors in two lines, exit codes.

Most of it is called in this process, since each start of one costs a second.
"""

import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from seekwatch.collector.embedded import EmbeddedLog
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.records import NewRecord, Signal
from seekwatch.core.testing import TraceBuilder
from seekwatch.exporters.archive_reader import read_archive
from seekwatch.monitor import cli
from tests.services.monitor_process import MonitorProcess, PatientSender, seekwatch
from tests.services.traffic import expected_scorecards, runs
from tests.services.waiting import eventually

VERBS = ("up", "receive", "worker", "export", "score", "tail", "doctor")
SENT = runs(6, open_every=99)


class Answer(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Call]:
    """`seekwatch` in this process, in the test's own directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    root = logging.getLogger()
    before = root.handlers[:], root.level

    def called(*words: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["seekwatch", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        out, err = capfd.readouterr()
        return Answer(int(end.value.code or 0), out, err)

    yield called
    root.handlers[:], root.level = before


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MonitorProcess]:
    """One `seekwatch up` that was sent some runs and has archived them."""
    directory = tmp_path_factory.mktemp("up")
    settings = ("closing.quiet=0.2", "worker.commit_interval=0.1", "archive.directory=archive")
    with MonitorProcess("up", directory, settings) as monitor:
        sender = PatientSender(monitor.otlp)
        for run in SENT:
            for request in run.requests:
                sender.send(request)
        sender.close()
        eventually(
            lambda: len(list(read_archive(directory / "archive"))) == len(SENT),
            what="every run is archived",
            forgive=(ConfigurationError,),
        )
        yield monitor


@pytest.fixture
def data(up: MonitorProcess) -> tuple[str, str]:
    """Words that name the log of `up`."""
    return ("--data", str(up.service.log.parent / "seekwatch.db"))


def test_a_process_of_its_own_prints_its_version() -> None:
    answer = subprocess.run(
        seekwatch("--version"), capture_output=True, text=True, check=True, timeout=60
    )
    assert answer.stdout.strip() == f"seekwatch {version('seekwatch')}"


def _help(*words: str) -> str:
    answer = CliRunner().invoke(cli.app, [*words, "--help"], env={"COLUMNS": "80"})
    assert answer.exit_code == 0
    return answer.output


def test_help_names_every_verb() -> None:
    text = _help()
    for verb in VERBS:
        assert any(line.strip(" │").startswith(f"{verb} ") for line in text.splitlines())


@pytest.mark.parametrize("words", [(), *((verb,) for verb in VERBS)])
def test_help_shows_no_type_where_an_option_takes_no_value(words: tuple[str, ...]) -> None:
    text = _help(*words)
    assert "<bool>" not in text
    assert "Show this message and exit" in text


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_shows_examples_each_in_one_line(verb: str) -> None:
    examples = [line.strip() for line in _help(verb).split("Examples")[1].splitlines()]
    assert all(line.startswith(f"seekwatch {verb}") for line in examples if line)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_breaks_its_lines_where_the_terminal_ends(verb: str) -> None:
    about = _help(verb).split("╭")[0].splitlines()[3:]
    short = [line for line in about if line.strip() and len(line.rstrip()) < 60]
    ends = [line for line in short if line.rstrip().endswith((".", "?"))]
    assert short == ends


@pytest.mark.parametrize("verb", ["up", "doctor"])
def test_a_wrong_setting_stops_the_start_with_key_value_and_fix(
    verb: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKWATCH_CLOSING__QUIET", "soon")
    answer = call(verb)
    assert answer.code == 2
    key, fix = answer.err.splitlines()
    assert "SEEKWATCH_CLOSING__QUIET = 'soon'" in key
    assert fix.startswith("fix")


def test_a_wrong_policy_stops_the_start_too(call: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("freshness: {rule: newest}")
    answer = call("up", "--policy", str(policy))
    assert answer.code == 2
    assert "policy.freshness.rule = 'newest'" in answer.err
    assert not (tmp_path / "seekwatch.db").exists()


def test_an_address_that_is_taken_stops_the_start(call: Call, up: MonitorProcess) -> None:
    answer = call("up", "--metrics-port", up.metrics.rsplit(":", 1)[1])
    assert answer.code == 2
    assert "metrics.port" in answer.err


def test_a_second_worker_on_one_file_is_refused(call: Call, data: tuple[str, str]) -> None:
    ports = ("--metrics-port", "0", "--grpc-port", "0", "--http-port", "0")
    answer = call("up", *data, *ports)
    assert answer.code == 2
    assert "embedded.path" in answer.err


def test_export_without_an_exporter_says_what_to_set(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        # A port that is taken: had anything been started before the check, this would be the error.
        answer = call("export", "--set", f"metrics.port={taken.getsockname()[1]}")
    assert answer.code == 2
    assert "archive.directory or evaluation.endpoint is not set" in answer.err
    assert "--set archive.directory=FOLDER" in answer.err


def test_tail_and_doctor_without_a_log_say_how_to_get_one(call: Call, tmp_path: Path) -> None:
    answer = call("tail")
    assert answer.code == 2
    assert "seekwatch up" in answer.err
    answer = call("doctor")
    assert answer.code == 1
    assert "seekwatch up" in answer.out
    assert not list(tmp_path.iterdir())


def test_score_prints_readable_and_json(call: Call, tmp_path: Path) -> None:
    run = runs(2, open_every=99)[1]
    file = tmp_path / "run.binpb"
    file.write_bytes(b"".join(len(r).to_bytes(4, "big") + r for r in run.requests))
    text = call("score", str(file)).out
    assert "agent-1  success" in text
    assert "When did the bridge number 1 open?" in text
    for title in ("query", "freshness", "diversity", "citations"):
        assert title in text
    lines = call("score", "--json", str(file)).out.encode().splitlines()
    assert lines == list(expected_scorecards([run]).values())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\x0a\xff not otlp", "holds no OTLP"),
        (b"{broken", "holds no OTLP"),
        (b'{"traces": 1}', "holds no resourceSpans"),
        (b'{"resourceSpans": [', "holds no OTLP"),
        (b"\x28\xb5\x2f\xfd damaged", "cannot be read"),
    ],
)
def test_score_of_something_else_says_so(
    call: Call, tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    answer = call("score", str(file))
    assert answer.code == 2
    assert words in answer.err


FILE_OPTIONS = {
    ("score",): "FILE",
    ("doctor", "--config"): "--config",
    ("tail", "--config"): "--config",
    ("up", "--policy"): "policy",
    ("worker", "--policy"): "policy",
    ("score", "other", "--truth"): "truth",
    ("tail", "--data"): "embedded.path",
}
MAKES_ITS_FILE = {("up", "--data"): "embedded.path", ("receive", "--data"): "embedded.path"}
UNUSABLE = {
    "missing": ("no such file",),
    "folder": ("is a directory", "is a folder"),
    "bytes": ("is no text", "holds no OTLP", "is not a database"),
}


@pytest.mark.parametrize(
    ("words", "key", "name"),
    [
        (*option, name)
        for option in (FILE_OPTIONS | MAKES_ITS_FILE).items()
        for name in UNUSABLE
        if option[0] in FILE_OPTIONS or name != "missing"
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(
    call: Call, tmp_path: Path, words: tuple[str, ...], key: str, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").write_bytes(b"\xff\xfe" * 60)
    answer = call(*words, name)
    assert answer.code == 2
    error, fix = [line for line in answer.err.splitlines() if line.startswith(("error", "fix"))]
    assert error == f"error  {key} = '{name}'"
    assert any(reason in fix for reason in UNUSABLE[name]), fix
    assert "Traceback" not in answer.err


def test_an_empty_file_is_no_log_to_look_at(call: Call, tmp_path: Path) -> None:
    (tmp_path / "seekwatch.db").touch()
    answer = call("tail", "--no-follow")
    assert answer.code == 2
    assert f"is empty in {tmp_path}" in answer.err
    assert not (tmp_path / "seekwatch.db").stat().st_size


def test_a_damaged_archive_is_named(call: Call, tmp_path: Path, up: MonitorProcess) -> None:
    archive = up.service.log.parent / "archive"
    lines = [line for path in archive.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    (tmp_path / "damaged.jsonl").write_bytes(lines[0] + b"\n{broken}\n")
    answer = call("score", "damaged.jsonl")
    assert answer.code == 2
    assert "is a damaged archive (damaged.jsonl, line 2" in answer.err


def test_score_without_an_agent_run_is_an_error_of_its_own(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "empty.json"
    file.write_text('{"resourceSpans": []}')
    answer = call("score", str(file))
    assert answer.code == 1
    assert "no agent run" in answer.err


def test_tail_shows_every_run_as_it_is_published(call: Call, data: tuple[str, str]) -> None:
    lines = call("tail", *data, "--no-follow", "--json").out.splitlines()
    assert len(lines) == len(SENT)
    assert {json.loads(line)["scorecard"]["trace"] for line in lines} == {r.trace for r in SENT}


def test_tail_shows_the_last_runs_below_their_titles(call: Call, data: tuple[str, str]) -> None:
    text = call("tail", *data, "--no-follow", "-n", "3").out
    assert text.splitlines()[0].split()[:3] == ["time", "agent", "outcome"]
    assert text.count("agent-") == 3


@pytest.mark.parametrize(
    ("option", "value", "field"),
    [("--agent", "agent-0", "agent"), ("--outcome", "partial", "outcome")],
)
def test_tail_shows_only_the_runs_asked_for(
    call: Call, data: tuple[str, str], option: str, value: str, field: str
) -> None:
    lines = call("tail", *data, "--no-follow", "--json", option, value).out.splitlines()
    assert {json.loads(line)["scorecard"][field] for line in lines} == {value}
    assert 0 < len(lines) < len(SENT)


@pytest.mark.parametrize("axis", ["citation_validity", "citations"])
def test_tail_shows_the_worst_runs_of_an_axis(call: Call, data: tuple[str, str], axis: str) -> None:
    words = ("--worst", "1", "--axis", axis, "--json")
    (line,) = call("tail", *data, *words).out.splitlines()
    axes = {axis["axis"]: axis for axis in json.loads(line)["scorecard"]["axes"]}
    assert axes["citation_validity"]["verdict"] == "bad"


def test_an_axis_that_does_not_exist_is_answered_with_those_that_do(call: Call) -> None:
    answer = call("tail", "--axis", "cites")
    assert answer.code == 2
    assert "citation_validity (or citations)" in " ".join(answer.err.replace("│", "").split())


def test_tail_counts_what_has_come_and_is_not_scored(call: Call, tmp_path: Path) -> None:
    log = EmbeddedLog(tmp_path / "seekwatch.db")
    log.appender().append([NewRecord(signal=Signal.TRACES, key=b"a" * 32, value=b"")])
    log.close()
    text = call("tail", "--no-follow").out
    assert "no run so far" in text
    assert "1 trace has just come" in text


def test_doctor_beside_a_monitor_of_another_folder_says_that_it_is_another(
    call: Call, up: MonitorProcess
) -> None:
    answer = call("doctor", "--set", f"metrics.port={up.metrics.rsplit(':', 1)[1]}")
    assert answer.code == 1
    text = " ".join(answer.out.split())
    assert "is not the log of the monitor that runs here" in text
    assert "the folder that `seekwatch up` was started in" in text


def test_an_archive_is_scored_to_the_same_scorecards(call: Call, up: MonitorProcess) -> None:
    archived = call("score", "--json", str(up.service.log.parent / "archive")).out.encode()
    assert set(archived.splitlines()) == set(expected_scorecards(SENT).values())


def test_a_signal_ends_it_in_order_and_the_next_start_scores_what_was_taken(
    tmp_path: Path, call: Call
) -> None:
    (run,) = runs(1, open_every=99)
    monitor = MonitorProcess("up", tmp_path, ("closing.quiet=2", "logging.format=json"))
    monitor.start()
    sender = PatientSender(monitor.otlp)
    for request in run.requests:
        sender.send(request)
    sender.close()
    monitor.service.signal(signal.SIGINT)
    eventually(lambda: not monitor.service.alive, what="up has ended")
    assert monitor.service.exit_code == 0
    monitor.start()
    eventually(
        lambda: run.trace in call("tail", "--no-follow", "--json").out, what="the run is scored"
    )
    monitor.stop()
    assert monitor.service.exit_code == 0
    log = monitor.service.tail()
    assert "Seekwatch is up" in log
    objects = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert any("stopping" in line["message"] for line in objects)
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in objects)
    assert "Traceback" not in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_long_start_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    nowhere = ("kafka.bootstrap_servers=127.0.0.1:1", "kafka.options.bootstrap_timeout_ms=200")
    monitor = MonitorProcess("worker", tmp_path, nowhere)
    monitor.service.start()
    eventually(lambda: "trying again" in monitor.service.tail(), what="it waits for a broker")
    monitor.service.signal(number)
    eventually(lambda: not monitor.service.alive, what="it has ended")
    assert monitor.service.exit_code == 130
    assert "Traceback" not in monitor.service.tail()


def test_text_of_a_span_cannot_steer_the_terminal(call: Call, tmp_path: Path) -> None:
    builder = TraceBuilder("evil\x1b[2J[bold]agent").agent("\x1b]0;owned\x07 [red]question")
    file = tmp_path / "run.binpb"
    file.write_bytes(
        builder.answer("x", citations=[{"url": "https://e\x1b[31m.example"}]).request()
    )
    text = call("score", str(file)).out
    assert "\x1b" not in text
    assert "[bold]agent" in text
