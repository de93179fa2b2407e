"""What the demo showed, for `--json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.measures import Window


@dataclass(slots=True)
class Report:
    """What was shown.

    Attributes:
        decay: whether anything was to go wrong.
        prometheus: how Prometheus was found, or `none`.
        model: what answered the agent's prompts.
        steps: what went wrong, and how the scores showed it.
        last_window: the figures at the end.
        alert: the alert that the demo waits for, as Prometheus shows it.
        other_alerts: names of all others that fired.
        worst_traces: trace, score and evidence of the worst ones on the alert's axis.
        seconds: how long it took from the first question.
    """

    decay: bool
    prometheus: str = "none"
    model: str = ""
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    last_window: dict[str, Any] = field(default_factory=dict[str, Any])
    alert: dict[str, Any] | None = None
    other_alerts: list[str] = field(default_factory=list[str])
    worst_traces: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    seconds: float = 0.0

    @property
    def as_promised(self) -> bool:
        """With decay the alert fires; without it nothing does, though runs were scored."""
        if self.decay:
            return self.alert is not None
        scored = bool(self.last_window.get("runs"))
        return scored and self.alert is None and not self.other_alerts

    def write(self, path: Path) -> None:
        """Write it as one JSON object."""
        facts = {
            "as_promised": self.as_promised,
            "decay": self.decay,
            "prometheus": self.prometheus,
            "model": self.model,
            "seconds": round(self.seconds, 1),
            "steps": self.steps,
            "last_window": self.last_window,
            "alert": self.alert,
            "other_alerts": self.other_alerts,
            "worst_traces": self.worst_traces,
        }
        path.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def window_facts(window: Window) -> dict[str, Any]:
    """Return the figures of a window as plain data."""
    axes = {
        axis: {"good": share.good, "bad": share.bad, "unscorable": share.unscorable}
        for axis, share in window.axes.items()
    }
    return {
        "axes": axes,
        "runs": window.runs,
        "successes": window.successes,
        "cost_per_success_usd": window.cost_per_success,
    }


def trace_facts(lines: Sequence[Mapping[str, Any]], axis: str) -> list[dict[str, Any]]:
    """Return trace, score and evidence of scorecards as `seekwatch tail --json` writes them."""
    found: list[dict[str, Any]] = []
    for line in lines:
        scorecard = line["scorecard"]
        [verdict] = [each for each in scorecard["axes"] if each["axis"] == axis]
        found.append(
            {
                "trace": scorecard["trace"],
                "score": verdict.get("score", 0.0),
                "evidence": verdict["evidence"],
            }
        )
    return found
