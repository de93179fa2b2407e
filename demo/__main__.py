"""`make demo`: an agent goes wrong on a schedule until the citation-validity alert fires.

Everything is real: the agent is instrumented with one call, its spans go over OTLP into
`seekwatch up`, Prometheus evaluates our rules. Only the web it reads is a local one.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console

from demo.measures import History, Snapshot, Window
from demo.prometheus_binary import Found, find_prometheus
from demo.schedule import STEPS, YEAR_IS_DROPPED_AT, Schedule, Step
from demo.screen import Screen, alert_panel, worst_table
from demo.stack import Monitor, Program, Prometheus, StackError, Traffic
from demo.web import LocalWeb, WebServer
from demo.would_fire import would_fire

AGENT: Final = "demo-agent"
AXIS: Final = "citation_validity"
ALERT: Final = "CitationValidityBurnFast"
PROFILE: Final = "rules in the demo window profile: hours are seconds here"
DEFAULT_SECONDS: Final = 100.0
HEALTHY_DEFAULT_SECONDS: Final = 50.0


@dataclass(slots=True)
class Report:
    """What the demo showed, for `--json`."""

    prometheus: str
    decay: bool
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    last_window: dict[str, Any] = field(default_factory=dict[str, Any])
    alert: dict[str, Any] | None = None
    other_alerts: list[str] = field(default_factory=list[str])
    worst_traces: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    seconds: float = 0.0

    @property
    def as_promised(self) -> bool:
        """With decay the alert fires; without it nothing does."""
        if self.decay:
            return self.alert is not None
        return self.alert is None and not self.other_alerts


class Demo:
    """One showing."""

    def __init__(
        self, console: Console, report: Report, monitor: Monitor, prometheus: Prometheus | None
    ) -> None:
        self._console = console
        self._report = report
        self._monitor = monitor
        self._prometheus = prometheus
        self._history = History()

    def play(self, schedule: Schedule, seconds: float, programs: Sequence[Program]) -> None:
        """Show the axes until the alert fires or the time is up."""
        with Screen(self._console, profile=PROFILE) as screen:
            screen.event(0, "The agent begins to answer questions, four a second.")
            while self._report.alert is None and schedule.elapsed() < seconds:
                for program in programs:
                    program.check()
                for step in schedule.due():
                    self._tell(screen, step, schedule.elapsed())
                at = schedule.elapsed()
                self._history.add(Snapshot.read(self._monitor.metrics(), at))
                window = self._history.latest()
                firing = self._firing(window)
                screen.show(at, window, [alert["labels"]["alertname"] for alert in firing])
                self._note(screen, firing, at)
                time.sleep(1)
        self._report.seconds = schedule.elapsed()
        self._report.last_window = _window_facts(self._history.latest())

    def conclude(self) -> None:
        """Show the alert, its runbook and the worst traces, or that all stayed quiet."""
        alert = self._report.alert
        if alert is None:
            quiet = "Nothing fired." if not self._report.decay else f"{ALERT} did not fire."
            self._console.print(quiet)
            return
        if self._prometheus is None:
            self._console.print("Without Prometheus no rule was evaluated. This one would fire:")
        self._console.print(alert_panel(alert))
        lines = self._monitor.worst_traces(AGENT, AXIS, 3)
        self._report.worst_traces = [_trace_facts(line) for line in lines]
        self._console.print(worst_table(self._report.worst_traces))

    def _tell(self, screen: Screen, step: Step, at: float) -> None:
        screen.event(at, step.what)
        self._report.events.append({"at": round(at, 1), "axis": step.axis, "what": step.what})

    def _firing(self, window: Window) -> list[dict[str, Any]]:
        if self._prometheus is not None:
            return self._prometheus.firing()
        alert = would_fire(ALERT, AGENT, window.axes[AXIS])
        return [] if alert is None else [alert]

    def _note(self, screen: Screen, firing: Sequence[dict[str, Any]], at: float) -> None:
        for alert in firing:
            name = str(alert["labels"]["alertname"])
            if name == ALERT and alert["labels"].get("agent") == AGENT:
                self._report.alert = {**alert, "at": round(at, 1)}
                screen.event(at, f"{name} fires: this is the page.")
            elif name not in self._report.other_alerts:
                self._report.other_alerts.append(name)
                screen.event(at, f"{name} fires.")


def main() -> int:
    """Run the demo; exit code 0 when it showed what it promises."""
    arguments = _arguments()
    console = Console(highlight=False)
    prometheus_found = _prometheus(console, wanted=not arguments.no_prometheus)
    report = Report(
        prometheus=prometheus_found.how if prometheus_found else "none", decay=not arguments.healthy
    )
    try:
        _show(console, report, arguments, prometheus_found)
    except (StackError, httpx.HTTPError) as error:
        console.print(f"[bold red]The demo broke off:[/] {error}", markup=True)
        return 1
    finally:
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(_report_facts(report), indent=2) + "\n")
    return 0 if report.as_promised else 1


def _show(
    console: Console, report: Report, arguments: argparse.Namespace, found: Found | None
) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seekwatch-demo-")))
        web = LocalWeb()
        server = WebServer(web)
        stack.callback(server.close)
        console.print("Starting seekwatch up: OTLP receiver, worker, exporters on one file.")
        monitor = Monitor(folder)
        stack.callback(monitor.stop)
        prometheus = None
        if found is not None:
            prometheus = Prometheus(found.path, monitor, folder)
            stack.callback(prometheus.stop)
            console.print(f"Prometheus ({found.how}) at {prometheus.url}, {PROFILE}.")
        forget = float("inf") if arguments.healthy else time.time() + YEAR_IS_DROPPED_AT
        traffic = Traffic(server.proxy, monitor, folder, forget_year_after=forget)
        stack.callback(traffic.stop)
        schedule = Schedule(web, () if arguments.healthy else STEPS)
        demo = Demo(console, report, monitor, prometheus)
        programs = [monitor, traffic] if prometheus is None else [monitor, traffic, prometheus]
        demo.play(schedule, arguments.seconds, programs)
        demo.conclude()


def _prometheus(console: Console, *, wanted: bool) -> Found | None:
    if not wanted:
        return None
    found = find_prometheus(say=console.print)
    if isinstance(found, Found):
        return found
    console.print("No Prometheus on this machine: the axes are shown, no rule is evaluated.")
    console.print(f"This would bring it: {found.hint}")
    return None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
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
    arguments = parser.parse_args()
    if arguments.seconds is None:
        arguments.seconds = HEALTHY_DEFAULT_SECONDS if arguments.healthy else DEFAULT_SECONDS
    return arguments


def _window_facts(window: Window) -> dict[str, Any]:
    axes = {
        axis: {"good": share.good, "bad": share.bad, "unscorable": share.unscorable}
        for axis, share in window.axes.items()
    }
    return {"axes": axes, "runs": window.runs, "successes": window.successes}


def _trace_facts(line: dict[str, Any]) -> dict[str, Any]:
    scorecard = line["scorecard"]
    [axis] = [verdict for verdict in scorecard["axes"] if verdict["axis"] == AXIS]
    return {
        "trace": scorecard["trace"],
        "score": axis.get("score", 0.0),
        "evidence": axis["evidence"],
    }


def _report_facts(report: Report) -> dict[str, Any]:
    return {
        "as_promised": report.as_promised,
        "decay": report.decay,
        "prometheus": report.prometheus,
        "seconds": round(report.seconds, 1),
        "events": report.events,
        "last_window": report.last_window,
        "alert": report.alert,
        "other_alerts": report.other_alerts,
        "worst_traces": report.worst_traces,
    }


if __name__ == "__main__":
    sys.exit(main())
