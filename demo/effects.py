"""Tells what each step of the demo did to the axes, once the scores show it."""

from dataclasses import dataclass
from typing import Any, Final

from demo.measures import AxisShare, Window
from demo.schedule import Step

_SHOWN_AT: Final = 0.5
"""Share of the recent runs that must be bad, and carry the step's tag."""
_FEWEST_RUNS: Final = 3
_NOTHING: Final = AxisShare(0, 0, 0)


@dataclass(slots=True)
class Effect:
    """What one step did.

    Attributes:
        step: what went wrong.
        began: when, in seconds after the traffic began.
        before: the step's axis just before.
        seen: when the scores showed it; None while they do not.
        after: the step's axis over the recent runs, when it was at its worst.
        runs: those recent runs.
        tagged: how many of them carry the step's tag.
        weight: how bad `after` is, to find the worst.
    """

    step: Step
    began: float
    before: AxisShare
    seen: float | None = None
    after: AxisShare = _NOTHING
    runs: int = 0
    tagged: int = 0
    weight: float = -1.0

    def facts(self) -> dict[str, Any]:
        """The same for `--json`."""
        return {
            "at": round(self.began, 1),
            "name": self.step.name,
            "what": self.step.what,
            "axis": self.step.axis,
            "tag": self.step.tag,
            "seen_at": None if self.seen is None else round(self.seen, 1),
            "bad_share_before": self.before.bad_share,
            "bad_share_after": self.after.bad_share,
            "runs": self.runs,
            "tagged_runs": self.tagged,
        }


class Effects:
    """The steps that happened, and what the scores said afterwards."""

    def __init__(self) -> None:
        self.all: list[Effect] = []

    def begin(self, step: Step, at: float, recent: Window | None) -> None:
        """Note that a step happened while the scores were as in `recent`."""
        before = _NOTHING if recent is None else recent.axes[step.axis]
        self.all.append(Effect(step, at, before))

    def look(self, at: float, recent: Window) -> list[Effect]:
        """Return the effects that show for the first time in the recent runs."""
        new: list[Effect] = []
        for effect in self.all:
            if effect.seen is None and _shows(effect, recent):
                effect.seen = at
                new.append(effect)
            if effect.seen is not None and _weight(effect, recent) > effect.weight:
                effect.weight = _weight(effect, recent)
                effect.after = recent.axes[effect.step.axis]
                effect.runs = recent.runs
                effect.tagged = recent.tags.get(effect.step.tag, 0)
        return new

    def complete(self) -> bool:
        """Whether every step that happened has shown."""
        return all(effect.seen is not None for effect in self.all)


def _shows(effect: Effect, recent: Window) -> bool:
    share = recent.axes[effect.step.axis].bad_share
    tagged = recent.tags.get(effect.step.tag, 0)
    return (
        recent.runs >= _FEWEST_RUNS
        and share is not None
        and share >= _SHOWN_AT
        and tagged >= _SHOWN_AT * recent.runs
    )


def _weight(effect: Effect, recent: Window) -> float:
    """Weigh the axis first; of equally bad moments, the one where more runs carry the tag."""
    share = recent.axes[effect.step.axis].bad_share or 0.0
    tagged = recent.tags.get(effect.step.tag, 0) / recent.runs if recent.runs else 0.0
    return share + tagged / 10
