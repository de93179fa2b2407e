"""One showing of the demo: looks at the metrics once a second and tells what it sees."""

import time
from collections.abc import Sequence
from typing import Any, Final

from demo.effects import Effects
from demo.ending import alert_panel, effect_sentence, effects_table, worst_table
from demo.measures import RECENT_SECONDS, History, Snapshot, Window
from demo.report import Report, trace_facts, window_facts
from demo.schedule import Schedule
from demo.screen import Screen
from demo.stack import Monitor, Prometheus, Traffic
from demo.would_fire import would_fire

AGENT: Final = "demo-agent"
AXIS: Final = "citation_validity"
ALERT: Final = "CitationValidityBurnFast"
_WORST: Final = 3
_PATIENCE_SECONDS: Final = 10.0
"""How long after the alert the last steps may take to show."""
_MOST_COMPLAINTS: Final = 3


class Showing:
    """Shows the axes until the alert fires or the time is up, and then what was shown."""

    def __init__(
        self,
        screen: Screen,
        report: Report,
        monitor: Monitor,
        prometheus: Prometheus | None,
        traffic: Traffic,
    ) -> None:
        self._screen = screen
        self._report = report
        self._monitor = monitor
        self._prometheus = prometheus
        self._traffic = traffic
        self._history = History()
        self._effects = Effects()
        self._complaints = 0

    def play(self, schedule: Schedule, seconds: float) -> None:
        """Show the axes live."""
        self._screen.event(0, "The agent answers well: it searches, reads three pages, cites them.")
        while not self._finished(schedule, seconds):
            self._check()
            at = schedule.elapsed()
            for step in schedule.due():
                recent = self._history.latest(RECENT_SECONDS) if self._history else None
                self._effects.begin(step, at, recent)
                self._screen.event(at, step.what)
            self._history.add(Snapshot.read(self._page(), at))
            for effect in self._effects.look(at, self._history.latest(RECENT_SECONDS)):
                self._screen.event(at, effect_sentence(effect), style="yellow")
            window = self._history.latest()
            firing = self._firing(window)
            self._note(firing, at)
            self._screen.show(at, window, [alert["labels"]["alertname"] for alert in firing])
            time.sleep(1)
        self._report.seconds = schedule.elapsed()
        self._report.steps = [effect.facts() for effect in self._effects.all]
        self._report.last_window = window_facts(self._history.latest())

    def conclude(self) -> None:
        """Show what each step did, the alert and the worst traces, or that all stayed quiet."""
        alert = self._report.alert
        if self._effects.all:
            self._screen.print(effects_table(self._effects.all))
        if alert is None:
            self._screen.print(self._without_alert())
            return
        if self._prometheus is None:
            self._screen.print("Without Prometheus no rule was evaluated. This one would fire:")
        self._screen.print(alert_panel(alert))
        lines = self._monitor.worst_traces(AGENT, AXIS, _WORST)
        self._report.worst_traces = trace_facts(lines, AXIS)
        self._screen.print(worst_table(self._report.worst_traces))

    def _finished(self, schedule: Schedule, seconds: float) -> bool:
        elapsed = schedule.elapsed()
        if elapsed >= seconds:
            return True
        if self._report.alert is None:
            return False
        shown = schedule.over() and self._effects.complete()
        return shown or elapsed >= self._report.alert["at"] + _PATIENCE_SECONDS

    def _check(self) -> None:
        self._monitor.check()
        self._traffic.check()
        if self._prometheus is not None:
            self._prometheus.check()

    def _page(self) -> str:
        # Any request for the monitor's page counts as a scrape, and Prometheus should see the
        # first zeros: where there is one, the screen reads what Prometheus read.
        return (self._prometheus or self._monitor).metrics()

    def _firing(self, window: Window) -> list[dict[str, Any]]:
        if self._prometheus is not None:
            return self._prometheus.firing()
        alert = would_fire(ALERT, AGENT, window.axes[AXIS])
        return [] if alert is None else [alert]

    def _note(self, firing: Sequence[dict[str, Any]], at: float) -> None:
        for line in self._traffic.complaints():
            self._complaints += 1
            if self._complaints <= _MOST_COMPLAINTS:
                self._screen.event(at, f"The agent could not answer: {line}", style="red")
        fires, paged = "fires", "is paged"
        if self._prometheus is None:
            fires, paged = "would fire", "would be paged"
        for alert in firing:
            name = str(alert["labels"]["alertname"])
            severity = alert["labels"].get("severity", "?")
            if name == ALERT and alert["labels"].get("agent") == AGENT:
                if self._report.alert is None:
                    self._report.alert = {**alert, "at": round(at, 1)}
                    what = f"{name} {fires} (severity {severity}): on-call {paged}."
                    self._screen.event(at, what, style="bold red")
            elif name not in self._report.other_alerts:
                self._report.other_alerts.append(name)
                self._screen.event(at, f"{name} {fires} (severity {severity}).", style="red")

    def _without_alert(self) -> str:
        runs = self._report.last_window.get("runs", 0)
        if not runs:
            return (
                "No run was scored in the last seconds: the agent asks nothing or gets no answer."
            )
        if self._report.decay:
            return f"{ALERT} did not fire in this time. On a busy machine give it --seconds 200."
        if self._report.other_alerts:
            return f"Fired though nothing went wrong: {', '.join(self._report.other_alerts)}."
        return "Nothing went wrong, and nothing fired: this is what a good day looks like."
