"""Alerts on runs that spend no budget: no success at all, cost, silence, broken invariants."""

from rules.builders.alerting import AGENT, Alert, last_traces, live_value
from rules.builders.indicators import AGENT as BY_AGENT
from rules.builders.indicators import AXIS, COMPLETE, Indicator
from rules.builders.promql import (
    LIVE,
    any_of,
    anyone_but,
    block,
    increase,
    just,
    number,
    selector,
    template_choice,
)
from rules.objectives import Objectives
from rules.quantities import Duration


def run_alerts(objectives: Objectives) -> list[Alert]:
    """The alerts of this module."""
    return [
        no_successes(objectives),
        cost_per_success(objectives),
        axis_no_longer_scored(objectives),
        agent_traffic_stopped(objectives),
        policy_violation(objectives),
    ]


def run_windows(objectives: Objectives) -> list[tuple[Indicator, Duration]]:
    """The sample counts that the alerts of this module read, whatever the tiers record."""
    return [
        (COMPLETE, objectives.no_successes.window),
        (COMPLETE, objectives.vanished.window),
        (AXIS, objectives.vanished.window),
    ]


def no_successes(objectives: Objectives) -> Alert:
    """Enough runs, none a success. `unless` covers a success counter that is absent."""
    bounds = objectives.no_successes
    good = f'outcome=~"{"|".join(objectives.success.good)}"'
    succeeded = selector("seekwatch_runs_total", LIVE, good)
    minimums = [
        (anyone_but(bounds.agents), bounds.minimum_runs),
        *((just(agent), minimum) for agent, minimum in sorted(bounds.agents.items())),
    ]
    finished = COMPLETE.samples(bounds.window)
    enough = any_of(*(f"{selector(finished, who)} >= {minimum}" for who, minimum in minimums))
    return Alert(
        name="NoSuccesses",
        expr=f"{block(enough)}\nunless\n{increase(succeeded, bounds.window, BY_AGENT)} > 0",
        pending=bounds.pending,
        keep_firing_for=bounds.keep_firing_for,
        severity=bounds.severity,
        component="success",
        summary=f"{AGENT} has not succeeded once",
        description=(
            f'None of the {{{{ $value | printf "%.0f" }}}} runs of {AGENT} in the last '
            f"{bounds.window} was a success."
        ),
        when=f"no success in {bounds.window} (n ≥ {bounds.minimum_runs} runs)",
        board="overview",
        traces=last_traces(),
    )


def cost_per_success_rules(objectives: Objectives) -> list[dict[str, object]]:
    """The recordings behind CostPerSuccessHigh: the present, and the past before it."""
    cost = objectives.cost
    recent = f"{cost.window}"
    return [
        {"record": _successes(recent), "expr": _priced_successes(cost.window)},
        {"record": _cost(recent), "expr": _quotient(cost.window, _successes(recent))},
        {
            "record": _successes("baseline"),
            "expr": _priced_successes(cost.baseline, offset=cost.window),
        },
        {
            "record": _cost("baseline"),
            "expr": _quotient(cost.baseline, _successes("baseline"), offset=cost.window),
        },
    ]


def cost_per_success(objectives: Objectives) -> Alert:
    """The quotient against its own past, with enough successes on both sides."""
    cost = objectives.cost
    recent = f"{cost.window}"
    factors = [
        (anyone_but(cost.agents), cost.factor),
        *((just(agent), factor) for agent, factor in sorted(cost.agents.items())),
    ]
    dearer = any_of(
        *(
            f"{selector(_cost(recent), who)} > {number(factor)} * {_cost('baseline')}"
            for who, factor in factors
        )
    )
    enough = (
        f"{_successes(recent)} >= {cost.minimum_successes}\nand\n"
        f"{_successes('baseline')} >= {cost.baseline_minimum_successes}"
    )
    line = template_choice(
        number(cost.factor), {agent: number(factor) for agent, factor in cost.agents.items()}
    )
    return Alert(
        name="CostPerSuccessHigh",
        expr=f"{block(dearer)}\nand\n{enough}",
        pending=cost.pending,
        keep_firing_for=cost.keep_firing_for,
        severity=cost.severity,
        component="cost",
        summary=f"A success of {AGENT} costs far more than it used to",
        description=(
            f'One success of {AGENT} cost {{{{ $value | printf "%.4f" }}}} USD in the last '
            f"{cost.window} (n = {live_value(_successes(recent), BY_AGENT, _COUNT)}), against "
            f"{live_value(_cost('baseline'), BY_AGENT, _DOLLARS)} USD in the {cost.baseline} "
            f"before; the line is {line} times that."
        ),
        when=(
            f"cost per success in {cost.window} above {number(cost.factor)} times that of the "
            f"{cost.baseline} before (n ≥ {cost.minimum_successes} successes, and "
            f"{cost.baseline_minimum_successes} before)"
        ),
        board="cost",
        traces=last_traces(),
    )


_COUNT = 'printf "%.0f"'
_DOLLARS = 'printf "%.4f"'


def _cost(when: str) -> str:
    return f"seekwatch:cost_per_success:usd_{when}"


def _successes(when: str) -> str:
    return f"seekwatch:priced_successes:increase_{when}"


def _priced_successes(window: Duration, offset: Duration | None = None) -> str:
    series = selector("seekwatch_priced_runs_total", LIVE, 'outcome="success"')
    return increase(series, window, BY_AGENT, offset=offset)


def _quotient(window: Duration, successes: str, offset: Duration | None = None) -> str:
    spent = increase(
        selector("seekwatch_run_cost_usd_total", LIVE), window, BY_AGENT, offset=offset
    )
    return f"{spent}\n/\n({successes} > 0)"


def axis_no_longer_scored(objectives: Objectives) -> Alert:
    """An axis with verdicts earlier and none now, though the agent runs.

    `unless … > 0` holds for a series that stands at zero and for one that is gone.
    """
    bounds = objectives.vanished
    scored = AXIS.samples(bounds.window)
    running = COMPLETE.samples(bounds.window)
    return Alert(
        name="AxisNoLongerScored",
        expr=(
            f"{scored} offset {bounds.earlier} >= {bounds.minimum_samples}\n"
            f"unless\n{scored} > 0\n"
            f"and on (agent)\n{running} >= {bounds.minimum_runs}"
        ),
        pending=bounds.pending,
        keep_firing_for=bounds.keep_firing_for,
        severity=bounds.severity,
        component="coverage",
        summary=f"{AGENT} is no longer scored on {{{{ $labels.axis }}}}",
        description=(
            f'{AGENT} had {{{{ $value | printf "%.0f" }}}} verdicts on {{{{ $labels.axis }}}} in '
            f"{bounds.window} a while ago ({bounds.earlier} before) and has none in the last "
            f"{bounds.window}, in which it did run "
            f"(n = {live_value(running, BY_AGENT, _COUNT)})."
        ),
        when=(
            f"no verdict in {bounds.window}, {bounds.earlier} earlier n ≥ "
            f"{bounds.minimum_samples}, and n ≥ {bounds.minimum_runs} runs now"
        ),
        board="health",
        traces=last_traces(),
    )


def agent_traffic_stopped(objectives: Objectives) -> Alert:
    """An agent that ran earlier and does not now; its quality alerts have nothing to say then."""
    bounds = objectives.vanished
    running = COMPLETE.samples(bounds.window)
    return Alert(
        name="AgentTrafficStopped",
        expr=(f"{running} offset {bounds.earlier} >= {bounds.minimum_runs}\nunless\n{running} > 0"),
        pending=bounds.pending,
        keep_firing_for=bounds.keep_firing_for,
        severity=bounds.severity,
        component="coverage",
        summary=f"No runs of {AGENT} arrive any more",
        description=(
            f'{AGENT} had {{{{ $value | printf "%.0f" }}}} runs in {bounds.window} a while ago '
            f"({bounds.earlier} before) and none in the last {bounds.window}. It does not run, or "
            "its traces do not arrive."
        ),
        when=f"no run in {bounds.window}, {bounds.earlier} earlier n ≥ {bounds.minimum_runs}",
        board="health",
    )


def policy_violation(objectives: Objectives) -> Alert:
    """One broken invariant is enough.

    `increase` cannot see a first event that arrives together with its series, so a series that was
    not there before counts by its value. What was there within `memory` is not new after a gap.
    """
    bounds = objectives.invariants
    by = ("agent", "invariant")
    series = selector("seekwatch_invariant_violations_total", LIVE)
    grown = f"{increase(series, bounds.window, by)} > 0"
    earlier = f"last_over_time({series}[{bounds.memory}] offset {bounds.window})"
    born = f"sum by ({', '.join(by)}) ({series} > 0 unless {earlier})"
    return Alert(
        name="PolicyViolation",
        expr=any_of(grown, born),
        pending=bounds.pending,
        keep_firing_for=bounds.keep_firing_for,
        severity=bounds.severity,
        component="invariants",
        summary=f"{AGENT} broke a rule that must never be broken: {{{{ $labels.invariant }}}}",
        description=(
            f"{{{{ $labels.invariant }}}} by {AGENT} within the last {bounds.window} "
            f'(about {{{{ $value | printf "%.0f" }}}} runs). The objective is none.'
        ),
        when=f"one policy violation, cache leak or destructive action in {bounds.window}",
        board="overview",
        traces=last_traces(),
    )
