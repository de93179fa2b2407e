"""`make demo`: an agent goes wrong on a schedule until the citation-validity alert fires.

Everything is real: the agent is instrumented with one call, its spans go over OTLP into
`seekwatch up`, Prometheus evaluates our rules. Only the web it reads is a local one.
"""

import argparse
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Final

import httpx
from rich.console import Console
from rich.markup import escape

from demo.agent import Model
from demo.programs import Program, ProgramError
from demo.prometheus_binary import Found, find_prometheus
from demo.report import Report
from demo.schedule import STEPS, YEAR_IS_DROPPED_AT, Schedule
from demo.screen import Screen
from demo.showing import AGENT, AXIS, Showing
from demo.stack import QUIET_SECONDS, Monitor, Prometheus, Traffic
from demo.web import LocalWeb, WebServer

PROFILE: Final = "rules in the demo window profile (1 h is 20 s)"
DEFAULT_SECONDS: Final = 110.0
HEALTHY_DEFAULT_SECONDS: Final = 50.0
QUESTIONS_PER_SECOND: Final = 4.0
OWN_MODEL_QUESTIONS_PER_SECOND: Final = 1.0
"""A user's own model costs money and has rate limits."""
_INTERRUPTED: Final = 130


def main() -> int:
    """Run the demo; exit code 0 when it showed what it promises."""
    arguments = _arguments()
    screen = Screen(Console(highlight=False))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    report = Report(decay=not arguments.healthy)
    try:
        found = _prometheus(screen, wanted=not arguments.no_prometheus)
        report.prometheus = found.how if found else "none"
        with tempfile.TemporaryDirectory(prefix="seekwatch-demo-") as folder:
            _show(screen, report, arguments, found, Path(folder))
    except (ProgramError, httpx.HTTPError) as error:
        screen.print(f"[bold red]The demo broke off:[/] {escape(str(error))}")
        return 1
    except KeyboardInterrupt:
        screen.print("Interrupted; everything that the demo started has been stopped.")
        return _INTERRUPTED
    finally:
        if arguments.json is not None:
            report.write(arguments.json)
    if arguments.svg is not None:
        screen.save_svg(arguments.svg)
    return 0 if report.as_promised else 1


def _show(
    screen: Screen,
    report: Report,
    arguments: argparse.Namespace,
    found: Found | None,
    folder: Path,
) -> None:
    with ExitStack() as stack:
        web = LocalWeb()
        stack.callback((server := WebServer(web)).close)
        data = _data_file(arguments.keep, folder)
        screen.print("Starting `seekwatch up`: OTLP receiver, worker and /metrics in one process.")
        monitor = Monitor(folder, data)
        _start(stack, monitor)
        prometheus = None if found is None else Prometheus(found.path, monitor, folder)
        if prometheus is not None and found is not None:
            screen.print(f"Starting Prometheus ({found.how}) with our {PROFILE}.")
            _start(stack, prometheus)
        rate = _say_who_answers(screen, report)
        forget = float("inf") if arguments.healthy else time.time() + YEAR_IS_DROPPED_AT
        traffic = Traffic(server.proxy, monitor, folder, rate=rate, forget_year_after=forget)
        _start(stack, traffic)
        stack.callback(_leave_in_peace)
        schedule = Schedule(web, () if arguments.healthy else STEPS)
        screen.configure(
            profile=PROFILE if prometheus else "no rule is evaluated",
            hint=_hint(prometheus is not None),
        )
        showing = Showing(screen, report, monitor, prometheus, traffic)
        with screen:
            showing.play(schedule, arguments.seconds)
        showing.conclude()
        _say_where_to_go_on(screen, arguments.keep)


def _start(stack: ExitStack, program: Program) -> None:
    stack.callback(program.stop)
    program.start()


def _say_who_answers(screen: Screen, report: Report) -> float:
    """Tell which model answers; return the questions a second."""
    model = Model.from_environment()
    if model.key is None:
        report.model = f"{model.name} of the local web"
        rate, pace = QUESTIONS_PER_SECOND, "four questions a second"
    else:
        report.model = f"{model.name} at {model.url}"
        rate, pace = OWN_MODEL_QUESTIONS_PER_SECOND, "one question a second"
    screen.print(f"Starting the agent: {pace}, from a local web; model: {escape(report.model)}.")
    return rate


def _say_where_to_go_on(screen: Screen, kept: Path | None) -> None:
    if kept is not None:
        command = f".venv/bin/seekwatch tail --data {kept / 'log.db'} --agent {AGENT} --axis {AXIS}"
        screen.print(f"More of its traces: {escape(command)} --worst 10")
        return
    screen.print(
        f"Traces are listed by `seekwatch tail --agent {AGENT} --axis {AXIS} --worst 3`; the "
        'demo\'s own are gone unless it was run with ARGS="--keep DIR".'
    )


def _hint(prometheus: bool) -> str:
    scraped = "and its counters have been scraped once at 0" if prometheus else ""
    return (
        f"The first figures come after some 8 s: a run is scored when its trace has been quiet for "
        f"{QUIET_SECONDS} s on a clock that is held 2 s back {scraped}".rstrip()
        + "."
    )


def _data_file(kept: Path | None, folder: Path) -> Path:
    if kept is None:
        return folder / "log.db"
    kept.mkdir(parents=True, exist_ok=True)
    data = kept.resolve() / "log.db"
    if data.exists():
        raise ProgramError(f"--keep {kept}: {data} is of an earlier run; name another folder")
    return data


def _prometheus(screen: Screen, *, wanted: bool) -> Found | None:
    if not wanted:
        return None
    found = find_prometheus(say=lambda line: screen.print(escape(line)))
    if isinstance(found, Found):
        return found
    screen.print("No Prometheus on this machine: the axes are shown, no rule is evaluated.")
    screen.print(f"This would bring it: {escape(found.hint)}")
    return None


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _leave_in_peace() -> None:
    """Let nobody interrupt the stopping of the programs."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument(
        "--seconds",
        type=float,
        help=f"give up after so many (default {DEFAULT_SECONDS:.0f}; "
        f"with --healthy the demo lasts so long, default {HEALTHY_DEFAULT_SECONDS:.0f})",
    )
    parser.add_argument(
        "--healthy", action="store_true", help="let nothing go wrong: the demo ends quiet"
    )
    parser.add_argument("--no-prometheus", action="store_true", help="do not look for Prometheus")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was shown to FILE")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the log with all traces")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the terminal's end as SVG")
    arguments = parser.parse_args()
    if arguments.seconds is None:
        arguments.seconds = HEALTHY_DEFAULT_SECONDS if arguments.healthy else DEFAULT_SECONDS
    return arguments


if __name__ == "__main__":
    sys.exit(main())
