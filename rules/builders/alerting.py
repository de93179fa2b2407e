"""One alert, and the labels and annotations that all alerts share.

Whoever is woken needs the same five things each time: what, how bad, what to do, where to look, and
which traces show it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rules.builders.promql import quoted, template_choice
from rules.objectives import Objectives
from rules.quantities import Duration

AGENT = "{{ $labels.agent }}"
# The agent's name comes from a span, and the line is made to be pasted into a terminal. In single
# quotes a shell takes everything literally but the quote: that is closed, escaped and opened again.
SHELL_AGENT = "'{{ reReplaceAll \"'\" \"'\\\\''\" $labels.agent }}'"


@dataclass(frozen=True, kw_only=True)
class Alert:
    """An alerting rule in our terms.

    Attributes:
        name: unique over the whole pack; the runbook has the same name.
        expr: PromQL.
        pending: how long the expression must hold.
        keep_firing_for: how long it goes on after the expression ceased.
        severity: page, ticket or none.
        component: what is watched; inhibition and dashboards go by it.
        summary: one line without numbers, the same for the whole incident.
        description: numbers, window, sample count, objective.
        when: the condition with its figures, for the documentation.
        board: the dashboard to open.
        owner: `agent` routes to the agent's team, `platform` to the monitor's.
        labels: more labels, e.g. the axis.
        traces: the command that lists the traces to open first, when it is about an agent.
    """

    name: str
    expr: str
    pending: Duration
    keep_firing_for: Duration
    severity: str
    component: str
    summary: str
    description: str
    when: str
    board: str
    owner: str = "agent"
    labels: dict[str, str] = field(default_factory=dict[str, str])
    traces: str | None = None

    def rule(self, objectives: Objectives) -> dict[str, object]:
        """The alert as Prometheus reads it."""
        rule: dict[str, object] = {"alert": self.name, "expr": self.expr}
        if self.pending.seconds:
            rule["for"] = str(self.pending)
        if self.keep_firing_for.seconds:
            rule["keep_firing_for"] = str(self.keep_firing_for)
        rule["labels"] = {
            "severity": self.severity,
            "component": self.component,
            **self.labels,
            "team": self._team(objectives),
        }
        rule["annotations"] = self._annotations(objectives)
        return rule

    def _team(self, objectives: Objectives) -> str:
        teams = objectives.teams
        if self.owner == "platform":
            return teams.platform
        return template_choice(teams.default, teams.agents)

    def _annotations(self, objectives: Objectives) -> dict[str, str]:
        links = objectives.links
        agent = "&var-agent={{ $labels.agent | urlquery }}" if self.owner == "agent" else ""
        board = f"{links.dashboard_base_url.rstrip('/')}/d/seekwatch-{self.board}"
        annotations = {
            "summary": self.summary,
            "description": self.description,
            "runbook_url": f"{links.runbook_base_url.rstrip('/')}/{self.name}.md",
            "dashboard_url": f"{board}?from=now-6h&to=now{agent}",
        }
        if self.traces is not None:
            annotations["traces"] = self.traces
        return annotations


def worst_traces() -> str:
    """The command that lists the three traces that are worst on the axis of the alert."""
    return f"seekwatch tail --agent {SHELL_AGENT} --axis {{{{ $labels.axis }}}} --worst 3"


def last_traces() -> str:
    """The command that lists the agent's last runs, for alerts that no axis has to be bad for."""
    return f"seekwatch tail --agent {SHELL_AGENT} --last 20 --no-follow"


def live_value(series: str, labels: Sequence[str], form: str) -> str:
    """Template text with the current value of `series` for the alert's own labels.

    Args:
        series: the recorded series to ask for.
        labels: the labels that pick one series, taken from the alert.
        form: the template pipeline that formats the value, e.g. `humanizePercentage`.
    """
    query = f"{series}{{{','.join(f'{label}=%q' for label in labels)}}}"
    values = " ".join(f"$labels.{label}" for label in labels)
    return (
        f"{{{{ with printf {quoted(query)} {values} | query }}}}"
        f"{{{{ . | first | value | {form} }}}}{{{{ else }}}}unknown{{{{ end }}}}"
    )
