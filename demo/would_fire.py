"""Says which alert would fire where no Prometheus evaluates the rules, by their own numbers."""

from functools import cache
from typing import Any, Final, cast

import yaml

from demo.measures import AxisShare
from demo.stack import RULES
from rules.objectives import load
from rules.profiles import apply_profile

_TIER: Final = "fast"


def would_fire(alert: str, agent: str, share: AxisShare) -> dict[str, Any] | None:
    """Return `alert` as Prometheus would show it when the axis has fallen so far, else None."""
    threshold, minimum = _limits()
    if share.bad_share is None or share.scored < minimum or share.bad_share <= threshold:
        return None
    rule = _rule(alert)
    annotations = {name: rule["annotations"][name] for name in ("summary", "runbook_url")}
    annotations["summary"] = annotations["summary"].replace("{{ $labels.agent }}", agent)
    annotations["description"] = (
        f"{share.bad_share:.0%} of {share.scored} scored runs are bad; the line is {threshold:.0%}."
    )
    labels = {**rule["labels"], "alertname": alert, "agent": agent}
    return {"state": "would fire", "labels": labels, "annotations": annotations}


@cache
def _limits() -> tuple[float, int]:
    objectives = apply_profile(load(), "demo")
    citation = objectives.axes["citation_validity"]
    minimum = objectives.tier(_TIER, citation).minimum_samples
    return objectives.threshold(_TIER, citation), int(minimum)


@cache
def _rule(alert: str) -> dict[str, Any]:
    for path in sorted(RULES.glob("alerts-*.yaml")):
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                if rule.get("alert") == alert:
                    return cast("dict[str, Any]", rule)
    raise KeyError(f"no alert {alert} in {RULES}")
