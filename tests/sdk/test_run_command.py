import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.web import LocalWeb

AGENT = """
import sys
import httpx
from seekwatch.sdk import current_run
def answer(question):
    httpx.get(sys.argv[1] + "/page")
    return "done"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "library.py").write_text(AGENT)
    (tmp_path / "agent.py").write_text("import library\nprint(library.answer('why?'))\n")
    return tmp_path


def run(
    *arguments: str,
    folder: Path,
    verb: tuple[str, ...] = ("-m", "seekwatch.sdk", "run"),
    environment: dict[str, str] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *verb, *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def the_fetch(sink: HttpSink) -> SunkSpan:
    sink.wait_for_spans(2)
    return sink.one("TOOL")


@pytest.mark.parametrize(
    "command",
    [
        ("python", "agent.py"),
        ("python", "-m", "agent"),
        (sys.executable, "agent.py"),
        ("sh", "-c", 'exec python agent.py "$0"'),
        ("./script",),
    ],
)
def test_a_command_is_watched_without_a_line_changed_in_it(
    folder: Path, sink: HttpSink, web: LocalWeb, command: tuple[str, ...]
) -> None:
    script = folder / "script"
    script.write_text(f"#!{sys.executable}\nimport library\nprint(library.answer('why?'))\n")
    script.chmod(0o755)
    bin_folder = str(Path(sys.executable).parent)
    done = run(
        *("--agent", "unchanged", "--endpoint", sink.url, "--", *command, web.url),
        folder=folder,
        environment={
            "PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        },
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert the_fetch(sink).resource["service.name"] == "unchanged"


def test_every_option_reaches_the_agent(folder: Path, sink: HttpSink, web: LocalWeb) -> None:
    done = run(
        *("--agent", "told", "--endpoint", sink.url, "--environment", "production"),
        *("--release", "7", "--no-content", "--entrypoint", "library:answer"),
        *("--", "python", "agent.py", web.url),
        folder=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    sink.wait_for_spans(3)
    root = sink.one("AGENT")
    assert root.resource["deployment.environment.name"] == "production"
    assert root.resource["service.version"] == "7"
    assert "seekwatch.run.question" not in root.attributes
    assert "why?" not in str(sink.spans)


def test_variables_stand_for_options(folder: Path, sink: HttpSink, web: LocalWeb) -> None:
    done = run(
        *("--", "python", "agent.py", web.url),
        folder=folder,
        environment={"OTEL_SERVICE_NAME": "by-variable", "SEEKWATCH_ENDPOINT": sink.url},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert the_fetch(sink).attributes["gen_ai.agent.name"] == "by-variable"


def test_a_python_that_the_command_starts_is_watched_too(
    folder: Path, sink: HttpSink, web: LocalWeb
) -> None:
    (folder / "parent.py").write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, 'agent.py', *sys.argv[1:]], check=True)\n"
    )
    done = run(
        *("--agent", "child", "--endpoint", sink.url, "--", "python", "parent.py", web.url),
        folder=folder,
    )
    assert (done.returncode, done.stdout) == (0, "done\n")
    the_fetch(sink)


def test_the_exit_code_and_the_streams_are_the_commands_own(folder: Path) -> None:
    (folder / "ends.py").write_text("import sys\nprint(input())\nsys.exit(7)\n")
    done = run("--agent", "a", "--", "python", "ends.py", folder=folder, stdin="typed\n")
    assert (done.returncode, done.stdout) == (7, "typed\n")


def test_signals_reach_the_command_itself(folder: Path) -> None:
    (folder / "waits.py").write_text(
        "import signal, sys\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    command = [sys.executable, *("-m", "seekwatch.sdk", "run", "--agent", "a", "--")]
    with subprocess.Popen(
        [*command, "python", "waits.py"], cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 3


def test_a_sitecustomize_that_is_there_still_runs(folder: Path) -> None:
    theirs = folder / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import sys\nsys.theirs = __name__\n")
    code = "import sys, sitecustomize; print(sys.theirs, sitecustomize.__file__)"
    done = run(
        *("--agent", "a", "--", "python", "-c", code),
        folder=folder,
        environment={"PYTHONPATH": str(theirs)},
    )
    assert done.stdout == f"sitecustomize {theirs / 'sitecustomize.py'}\n"


def test_a_python_without_seekwatch_says_so_and_runs(folder: Path) -> None:
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    code = "import subprocess, sys; print(subprocess.run([sys.executable, '-c', '0']).returncode)"
    done = run(
        *("--agent", "a", "--", str(python), "-c", code),
        folder=folder,
        environment={"PYTHONPATH": ""},
    )
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert done.stderr.count("cannot import seekwatch") == 1
    assert "install seekwatch there" in done.stderr


HINT = "/path/to/agent/bin/python -m seekwatch.sdk run"


def test_an_agent_whose_environment_is_another_is_told_how_to_run_it_there(folder: Path) -> None:
    (folder / "agent.py").write_text("import agents_own_library\n")
    done = run("--agent", "a", "--", "python", "agent.py", folder=folder)
    assert done.returncode == 1
    told, _, hint = done.stderr.partition("seekwatch: ")
    assert told.rstrip().endswith("No module named 'agents_own_library'")
    assert HINT in hint
    assert sys.executable in hint


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ((sys.executable, "agent.py"), "import agents_own_library"),
        (("sh", "-c", "exec python3 agent.py || exit 1"), "import agents_own_library"),
        (("python", "agent.py"), "raise ValueError('theirs')"),
        (
            ("python", "agent.py"),
            "import httpx, os; assert 'SEEKWATCH_RUN_PYTHON' not in os.environ",
        ),
    ],
)
def test_nothing_is_said_of_environments_where_there_is_no_doubt(
    folder: Path, command: tuple[str, ...], code: str
) -> None:
    (folder / "agent.py").write_text(code + "\n")
    done = run("--agent", "a", "--", *command, folder=folder)
    assert "agent/bin/python" not in done.stderr
    assert "AssertionError" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--agent", "a"), 2, ["no command", "-- python agent.py"]),
        (("--agent", "a", "--"), 2, ["no command", "-- python agent.py"]),
        (("--", "python", "agent.py"), 2, ["no name", "--agent my-agent"]),
        (("--agent", "a", "--", "agent.py"), 127, ["agent.py is no command", "python agent.py"]),
        (("--agent", "a", "--", "nowhere"), 127, ["nowhere is no command", "install it"]),
        (
            ("--agent", "a", "--endpoint", "collector:4318", "--", "python", "agent.py"),
            2,
            ["endpoint 'collector:4318'", "http://host:4318"],
        ),
        (
            ("--agent", "a", "--capture-pages", "many", "--", "python", "agent.py"),
            2,
            ["SEEKWATCH_CAPTURE_PAGES 'many'", "number of bytes"],
        ),
        (
            ("--agent", "a", "--entrypoint", "agent:answer", "--", "python", "agent.py"),
            2,
            ["agent:answer lies in the program itself", "leave --entrypoint out"],
        ),
        (
            ("--agent", "a", "--entrypoint", "agent:answer", "--", "python", "-m", "agent"),
            2,
            ["lies in the program itself"],
        ),
    ],
)
def test_what_cannot_be_run_is_told_with_the_next_step(
    folder: Path, arguments: tuple[str, ...], code: int, words: list[str]
) -> None:
    done = run(*arguments, folder=folder)
    assert done.returncode == code
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_variable_leaves_the_agent_unwatched_and_running(folder: Path) -> None:
    code = "print('works')"
    done = run(
        *("--agent", "a", "--", "sh", "-c", f'SEEKWATCH_ENDPOINT=nonsense exec python -c "{code}"'),
        folder=folder,
        environment={"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert (done.returncode, done.stdout) == (0, "works\n")
    assert "not watched: endpoint 'nonsense'" in done.stderr


def test_help_shows_examples_and_variables(folder: Path) -> None:
    done = run("--help", folder=folder)
    assert done.returncode == 0
    for word in ("examples:", "-- uvicorn app:app", "SEEKWATCH_ENTRYPOINT", "--no-content"):
        assert word in done.stdout


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder that stands for site-packages with another distro and configurator."""
    folder = tmp_path / "elsewhere"
    info = folder / "other_distro-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-distro\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[opentelemetry_distro]\nother = other_distro:Distro\n"
        "[opentelemetry_configurator]\nother = other_distro:Configurator\n"
    )
    (folder / "other_distro.py").write_text(
        textwrap.dedent(
            """
            from opentelemetry.instrumentation.distro import BaseDistro
            class Distro(BaseDistro):
                def _configure(self, **_):
                    print("other distro")
            class Configurator:
                def configure(self, **_):
                    print("other configurator")
            """
        )
    )
    return folder


OTEL = ("-c", "from opentelemetry.instrumentation.auto_instrumentation import run; run()")


def instrumented(
    folder: Path, sink: HttpSink, web: LocalWeb, **variables: str
) -> subprocess.CompletedProcess[str]:
    return run(
        *(sys.executable, "agent.py", web.url),
        folder=folder,
        verb=OTEL,
        environment={"SEEKWATCH_ENDPOINT": sink.url, **variables},
    )


def test_opentelemetry_instrument_watches_where_it_is_the_only_distro(
    folder: Path, sink: HttpSink, web: LocalWeb
) -> None:
    done = instrumented(folder, sink, web, OTEL_SERVICE_NAME="auto")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert the_fetch(sink).attributes["gen_ai.agent.name"] == "auto"
    assert len([span for span in sink.spans if span.name == "GET"]) == 1


def test_opentelemetry_instrument_says_what_is_missing(
    folder: Path, sink: HttpSink, web: LocalWeb
) -> None:
    done = instrumented(folder, sink, web)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "set SEEKWATCH_AGENT or OTEL_SERVICE_NAME" in done.stderr


def test_another_distro_is_left_to_its_work(
    folder: Path, sink: HttpSink, web: LocalWeb, elsewhere: Path
) -> None:
    done = instrumented(folder, sink, web, SEEKWATCH_AGENT="a", PYTHONPATH=str(elsewhere))
    assert done.stdout == "other distro\nother configurator\ndone\n"
    assert sink.spans == []


def test_one_variable_chooses_seekwatch_beside_another_distro(
    folder: Path, sink: HttpSink, web: LocalWeb, elsewhere: Path
) -> None:
    done = instrumented(
        *(folder, sink, web),
        SEEKWATCH_AGENT="chosen",
        OTEL_PYTHON_DISTRO="seekwatch",
        PYTHONPATH=str(elsewhere),
    )
    # Nothing of the configurator that was passed over either.
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert the_fetch(sink).attributes["gen_ai.agent.name"] == "chosen"


def test_the_command_line_of_the_monitor_does_the_same(
    folder: Path, sink: HttpSink, web: LocalWeb
) -> None:
    verb = ("-m", "seekwatch.monitor.cli", "run")
    command = ("--", "python", "agent.py", web.url)
    done = run("--agent", "cli", "--endpoint", sink.url, *command, folder=folder, verb=verb)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert the_fetch(sink).attributes["gen_ai.agent.name"] == "cli"
    done = run("--agent", "cli", folder=folder, verb=verb)
    assert (done.returncode, "seekwatch run --agent my-agent" in done.stderr) == (2, True)
    assert "examples:" in run("--help", folder=folder, verb=verb).stdout
