"""The demo as people run it: its own processes, a real Prometheus, an environment full of traps."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demo.programs import ROOT
from demo.web import MODEL_HOST, Answered, LocalWeb, WebServer
from tests.services.prometheus_tools import PrometheusTools
from tests.services.waiting import eventually

# Longer than a run takes on a loaded machine; a run ends when it has shown what it promises.
LONG = "240"
AXES = {"query_quality", "source_freshness", "source_diversity", "citation_validity"}
ALERT = "CitationValidityBurnFast"

pytestmark = pytest.mark.timeout(420)

TRAPS = {
    "SEEKWATCH_LOG": "kafka",
    "SEEKWATCH_CLOSING__QUIET": "500",
    "SEEKWATCH_NO_SUCH_SETTING": "1",
    "OTEL_SDK_DISABLED": "true",
    "OTEL_TRACES_SAMPLER": "always_off",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    "OTEL_SERVICE_NAME": "somebody-else",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "",
}
"""What a user's shell may hold; each of these would stop or bend the demo if it got through."""


@dataclass(frozen=True)
class Shown:
    """What a run of the demo printed and reported."""

    code: int
    output: str
    report: dict[str, Any]


def environment(folder: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    # Every process of a run has its folder in the environment: that is how they are found.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return {**kept, "TMPDIR": str(folder), **(extra or {})}


def show(folder: Path, *options: str, extra: Mapping[str, str] | None = None) -> Shown:
    file = folder / "demo.json"
    result = subprocess.run(
        [sys.executable, "-m", "demo", "--json", file, *options],
        cwd=ROOT,
        env=environment(folder, extra),
        capture_output=True,
        text=True,
        check=False,
    )
    assert processes_of(folder) == []
    report = json.loads(file.read_text()) if file.exists() else {}
    return Shown(result.returncode, result.stdout + result.stderr, report)


def processes_of(folder: Path) -> list[str]:
    """Command lines of the processes whose temporary files go to `folder`."""
    mark = f"TMPDIR={folder}".encode()
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def on_the_path(prometheus_tools: PrometheusTools) -> dict[str, str]:
    folder = prometheus_tools.prometheus.parent
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def degraded(tmp_path_factory: pytest.TempPathFactory, on_the_path: dict[str, str]) -> Shown:
    folder = tmp_path_factory.mktemp("degraded")
    return show(folder, "--seconds", LONG, "--svg", str(folder / "demo.svg"), extra=on_the_path)


class ModelOfItsOwn(LocalWeb):
    """The local web's model alone, asked directly, as an OpenAI-shaped server is."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []

    def answer(self, method: str, url: str, body: bytes) -> Answered:
        self.asked.append(json.loads(body))
        return super().answer(method, f"http://{MODEL_HOST}{url}", body)


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[ModelOfItsOwn, str]]:
    web = ModelOfItsOwn()
    server = WebServer(web)
    yield web, f"{server.proxy}/v1"
    server.close()


@pytest.fixture(scope="module")
def without_prometheus(
    tmp_path_factory: pytest.TempPathFactory, model: tuple[ModelOfItsOwn, str]
) -> Shown:
    """A run with a user's own model, no Prometheus, and every trap set."""
    own = {"OPENAI_API_KEY": "a-key", "OPENAI_BASE_URL": model[1], "OPENAI_MODEL": "my-model"}
    folder = tmp_path_factory.mktemp("alone")
    return show(folder, "--no-prometheus", "--seconds", LONG, extra={**TRAPS, **own})


def test_a_degraded_run_ends_with_the_alert_for_the_right_agent_and_axis(degraded: Shown) -> None:
    assert degraded.code == 0, degraded.output
    alert = degraded.report["alert"]
    assert alert["labels"]["alertname"] == ALERT
    assert alert["labels"]["agent"] == "demo-agent"
    assert alert["labels"]["axis"] == "citation_validity"
    assert alert["state"] == "firing"
    assert ALERT in degraded.output


def test_the_alert_leads_to_a_runbook_that_exists(degraded: Shown) -> None:
    runbook = degraded.report["alert"]["annotations"]["runbook_url"]
    assert runbook in degraded.output
    assert (ROOT / runbook).is_file()


def test_the_three_worst_traces_are_shown_with_their_evidence(degraded: Shown) -> None:
    worst = degraded.report["worst_traces"]
    assert len({trace["trace"] for trace in worst}) == 3
    for trace in worst:
        assert trace["trace"] in degraded.output
        assert 0 <= trace["score"] < 0.5
        assert "404" in trace["evidence"] or "log" in trace["evidence"]


def test_each_step_shows_on_its_axis(degraded: Shown) -> None:
    steps = degraded.report["steps"]
    assert [step["tag"] for step in steps] == [
        "constraint-drop",
        "stale-source",
        "dead-link",
        "login-wall",
    ]
    for step in steps:
        assert step["what"] in degraded.output
        assert step["seen_at"] > step["at"]
        assert step["bad_share_after"] > 0.5
    assert [step["bad_share_before"] for step in steps[:3]] == [0, 0, 0]


def test_the_axis_that_nothing_was_done_to_stays_good(degraded: Shown) -> None:
    diversity = degraded.report["last_window"]["axes"]["source_diversity"]
    assert diversity["good"] > 0
    assert diversity["bad"] == 0


def test_the_json_has_what_the_readme_documents(degraded: Shown) -> None:
    readme = (ROOT / "demo" / "README.md").read_text(encoding="utf-8")
    for key in degraded.report:
        assert f"| `{key}` |" in readme
    assert set(degraded.report["last_window"]["axes"]) == AXES
    assert degraded.report["as_promised"] is True


def test_a_healthy_run_ends_quiet_whatever_the_user_s_shell_holds(
    tmp_path: Path, on_the_path: dict[str, str]
) -> None:
    shown = show(tmp_path, "--healthy", "--seconds", "45", extra={**TRAPS, **on_the_path})
    assert shown.code == 0, shown.output
    assert shown.report["alert"] is None
    assert shown.report["other_alerts"] == []
    assert shown.report["steps"] == []
    window = shown.report["last_window"]
    assert window["runs"] > 0
    assert all(axis["bad"] == 0 for axis in window["axes"].values()), window
    assert window["cost_per_success_usd"] > 0
    assert "nothing fired" in shown.output


def test_without_prometheus_it_says_which_alert_would_fire(without_prometheus: Shown) -> None:
    assert without_prometheus.code == 0, without_prometheus.output
    assert without_prometheus.report["prometheus"] == "none"
    assert without_prometheus.report["alert"]["state"] == "would fire"
    assert f"{ALERT} would fire" in without_prometheus.output
    assert "no rule was evaluated" in without_prometheus.output
    assert len(without_prometheus.report["worst_traces"]) == 3


def test_a_user_s_own_model_answers_where_there_is_a_key(
    without_prometheus: Shown, model: tuple[ModelOfItsOwn, str]
) -> None:
    web, url = model
    assert without_prometheus.report["model"] == f"my-model at {url}"
    assert web.asked
    assert {request["model"] for request in web.asked} == {"my-model"}
    assert "a-key" not in without_prometheus.output


def test_an_interrupt_stops_every_process(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "demo", "--no-prometheus"],
        cwd=ROOT,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    said = ""
    while "The agent answers well" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    eventually(
        lambda: len(processes_of(tmp_path)) >= 3 or None,
        what="the demo, the monitor and an agent that answers",
    )
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "has been stopped" in rest
    assert "Traceback" not in rest
    eventually(lambda: not processes_of(tmp_path), what="every process of the demo is gone")


def test_a_program_that_dies_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    broken = folder / "prometheus"
    broken.write_text(
        "#!/bin/sh\n"
        'case "$1" in --version) echo "prometheus, version 2.53.0" ;;\n'
        '*) echo "opening storage: [disk] is full"; exit 3 ;; esac\n'
    )
    broken.chmod(0o755)
    extra = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    shown = show(tmp_path, extra=extra)
    assert shown.code == 1
    assert "prometheus ended with exit code 3" in shown.output
    assert "opening storage: [disk] is full" in shown.output
    assert "Traceback" not in shown.output


def test_kept_data_are_not_mixed_with_those_of_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "log.db").touch()
    shown = show(tmp_path, "--no-prometheus", "--keep", str(tmp_path))
    assert shown.code == 1
    assert "name another folder" in shown.output
