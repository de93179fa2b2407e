"""Judges all the way: settings, a monitor that runs, its archive, labels, calibration."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from seekwatch.core.archive import ArchiveEntry
from seekwatch.core.errors import ConfigurationError
from seekwatch.core.testing import TraceBuilder, result
from seekwatch.core.verdicts import Verdict
from seekwatch.exporters.archive_reader import read_archive
from seekwatch.monitor import cli
from seekwatch.monitor.settings.reading import load_settings, parse_assignments
from tests.services.monitor_process import MonitorProcess, PatientSender
from tests.services.waiting import eventually
from tests.services.web import Answer, LocalWeb, Received

PAGE = "<title>Tower</title><p>The tower in Paris is 330 metres tall, antenna included.</p>"
CLAIM = "The tower in Paris is 330 metres tall."
URL = "https://tower.example/height"


def run_about(seed: str) -> TraceBuilder:
    return (
        TraceBuilder("guide", seed=seed)
        .agent("How tall is the tower in Paris?")
        .search("tower Paris height", [result(URL, title="Tower")])
        .fetch(URL, html=PAGE)
        .answer(f"{CLAIM} [1]", [{"url": URL, "start": 0, "end": len(CLAIM)}])
    )


def judge(_: Received) -> Answer:
    said = {"quote": "330 metres tall", "rationale": "It says so.", "verdict": "supported"}
    message = {"role": "assistant", "content": json.dumps(said)}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "judge-2",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }
    return Answer(200, json.dumps(body).encode(), "application/json")


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of a monitor that had one run judged, and its metrics page."""
    directory = tmp_path_factory.mktemp("judged")
    with LocalWeb() as web:
        web.pages["/v1/chat/completions"] = judge
        settings = (
            *("closing.quiet=0.2", "worker.commit_interval=0.1", "archive.directory=archive"),
            *(f"judges.endpoint={web.url}/v1", "judges.model=judge", "judges.share=1"),
            *("judges.input_price=1", "judges.output_price=10", "judges.dollars_per_hour=1"),
        )
        with MonitorProcess("up", directory, settings) as monitor:
            sender = PatientSender(monitor.otlp)
            sender.send(run_about("judged").request())
            sender.close()
            eventually(
                lambda: len(_entries(directory)) == 1,
                what="the run is archived",
                forgive=(ConfigurationError,),
            )
            eventually(
                lambda: (
                    'seekwatch_judgements_total{lane="live",rubric="claim-support"'
                    in monitor.page()
                ),
                what="the judgement is counted",
            )
            yield directory, monitor.page()


def _entries(directory: Path) -> list[ArchiveEntry]:
    return list(read_archive(directory / "archive"))


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A command sets the log of its process up, which here is the tests' own."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before


def call(*words: str) -> tuple[int, str]:
    answered = CliRunner().invoke(cli.app, words, env={"COLUMNS": "160"}, catch_exceptions=True)
    if answered.exception is not None and not isinstance(answered.exception, SystemExit):
        raise answered.exception
    return answered.exit_code, answered.output


def test_a_monitor_with_a_judge_publishes_its_verdict_beside_the_axes(
    archived: tuple[Path, str],
) -> None:
    directory, page = archived
    (entry,) = _entries(directory)
    (verdict,) = entry.scorecard.judgements
    assert (verdict.rubric, verdict.verdict) == ("claim-support", Verdict.GOOD)
    (judgement,) = entry.evidence.judgements
    assert judgement.quote == "330 metres tall"
    assert CLAIM in judgement.judged
    assert 'seekwatch_judge_calls_total{result="answered"} 1.0' in page
    assert "seekwatch_judge_cost_usd_total 0.002" in page


def test_what_was_judged_is_scored_again_without_asking_again(archived: tuple[Path, str]) -> None:
    directory, _ = archived
    code, text = call("score", "--json", str(directory / "archive"))
    (entry,) = _entries(directory)
    assert code == 0
    assert json.loads(text)["judgements"][0]["revision"] == entry.scorecard.judgements[0].revision


def test_people_label_and_the_judge_is_calibrated(
    archived: tuple[Path, str], tmp_path: Path
) -> None:
    directory, _ = archived
    (entry,) = _entries(directory)
    labels = ("--labels", str(tmp_path / "labels.jsonl"))
    revision = ("--revision", entry.scorecard.judgements[0].revision)
    trace = entry.scorecard.trace
    code, text = call("judge", "calibrate", str(directory / "archive"), *labels)
    assert code == 0
    assert f"seekwatch label {trace} claim-support" in text
    code, text = call("label", trace, "claim-support", "bad", *revision, *labels, "--by", "ada")
    assert code == 0
    assert "kept in" in text
    code, text = call("judge", "calibrate", "--json", str(directory / "archive"), *labels)
    found = json.loads(text)
    assert (code, found["people"]["pairs"], found["people"]["share"]) == (0, 1, 0.0)
    assert (found["scorer"]["pairs"], found["scorer"]["share"]) == (1, 1.0)
    assert found["people"]["missed"] == 1


def test_an_archive_without_judgements_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "run.binpb"
    file.write_bytes(run_about("unjudged").request())
    code, text = call("judge", "calibrate", str(file))
    assert code == 1
    assert "judges.endpoint" in text


def test_the_rubrics_are_shown() -> None:
    code, text = call("judge", "rubrics")
    assert code == 0
    assert "claim-support" in text
    assert "query-rewriting" in text


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("label", "123", "claim-support", "good"), "TRACE"),
        (("label", "0" * 32, "claims", "good"), "ABOUT"),
    ],
)
def test_a_label_that_cannot_be_is_refused_with_the_fix(words: tuple[str, ...], key: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        call(*words)
    assert raised.value.key == key


@pytest.mark.parametrize(
    ("assignments", "key"),
    [
        (("judges.endpoint=http://127.0.0.1:1/v1",), "judges.model"),
        (("judges.dollars_per_hour=1",), "judges.input_price"),
    ],
)
def test_settings_that_need_each_other_name_the_one_that_is_missing(
    assignments: tuple[str, ...], key: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load_settings(None, parse_assignments(assignments))
    assert key in f"{raised.value.key} {raised.value.fix}"


def test_a_rubric_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    settings = ("judges.endpoint=http://127.0.0.1:1/v1", "judges.model=m", "judges.rubrics=claims")
    monitor = MonitorProcess("up", tmp_path, settings)
    monitor.service.start()
    eventually(lambda: not monitor.service.alive, what="it has ended")
    assert monitor.service.exit_code == 2
    assert "no such rubric" in monitor.service.tail()
