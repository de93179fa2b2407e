"""Cases for the alerts that are no ratio: no success, cost, silence, invariants."""

from tests.rules.promtool import Case, Firing
from tests.rules.series import counter, evaluations, per_agent, runs

TRACES = "seekwatch tail --agent 'shop' --last 20 --no-follow"
_COST = "seekwatch_run_cost_usd_total"
_PRICED = "seekwatch_priced_runs_total"
_VIOLATIONS = "seekwatch_invariant_violations_total"


def no_successes(n: int) -> Firing:
    return Firing(
        severity="page",
        component="success",
        agent="shop",
        summary="shop has not succeeded once",
        description=f"None of the {n} runs of shop in the last 1h was a success.",
        board="overview",
        traces=TRACES,
    )


def dearer(recent: str, n: int, before: str) -> Firing:
    return Firing(
        severity="ticket",
        component="cost",
        agent="shop",
        summary="A success of shop costs far more than it used to",
        description=(
            f"One success of shop cost {recent} USD in the last 6h (n = {n}), against {before} USD "
            "in the 7d before; the line is 2 times that."
        ),
        board="cost",
        traces=TRACES,
    )


def no_longer_scored(before: int, running: int) -> Firing:
    return Firing(
        severity="ticket",
        component="coverage",
        agent="shop",
        axis="source_freshness",
        summary="shop is no longer scored on source_freshness",
        description=(
            f"shop had {before} verdicts on source_freshness in 6h a while ago (1d before) and has "
            f"none in the last 6h, in which it did run (n = {running})."
        ),
        board="health",
        traces=TRACES,
    )


def stopped(before: int) -> Firing:
    return Firing(
        severity="ticket",
        component="coverage",
        agent="shop",
        summary="No runs of shop arrive any more",
        description=(
            f"shop had {before} runs in 6h a while ago (1d before) and none in the last 6h. It "
            "does not run, or its traces do not arrive."
        ),
        board="health",
    )


def violation(invariant: str, n: int) -> Firing:
    return Firing(
        severity="page",
        component="invariants",
        agent="shop",
        labels={"invariant": invariant},
        summary=f"shop broke a rule that must never be broken: {invariant}",
        description=(
            f"{invariant} by shop within the last 15m (about {n} runs). The objective is none."
        ),
        board="overview",
        traces=TRACES,
    )


def _violations(values: str, invariant: str = "cache_leak", lane: str = "live") -> dict[str, str]:
    labels = f'agent="shop",lane="{lane}",invariant="{invariant}",instance="a"'
    return {f"{_VIOLATIONS}{{{labels}}}": values}


def _cost(first: float, then: float, successes: float, hours: tuple[int, int]) -> dict[str, str]:
    """Cost an interval of five minutes, before and after a change."""
    before, after = (hour * 12 for hour in hours)
    success = ',outcome="success"'
    return {
        **per_agent(_COST, "shop", (first, before), (then, after)),
        **per_agent(_PRICED, "shop", (successes, before + after), extra=success),
    }


_AXIS = "source_freshness"
# Half-hour samples: two days of an agent, the second with verdicts or without.
_DAY = 288

CASES = [
    Case(
        sentence="NoSuccesses fires when none of 30 runs succeeded",
        alert="NoSuccesses",
        series={**runs("shop", "success", (0, 60)), **runs("shop", "error", (1, 60))},
        expect={"30m": [no_successes(30)]},
    ),
    Case(
        sentence="NoSuccesses fires when the counter of successes does not exist",
        alert="NoSuccesses",
        series=runs("shop", "infra_error", (1, 60)),
        expect={"30m": [no_successes(30)]},
    ),
    Case(
        sentence="NoSuccesses is silent when one of many runs succeeded",
        alert="NoSuccesses",
        series={
            **runs("shop", "success", (0, 10), (1, 1), (0, 49)),
            **runs("shop", "error", (1, 60)),
        },
        expect={"30m": [], "60m": []},
    ),
    Case(
        sentence="NoSuccesses is silent when nine runs failed, below its minimum of ten",
        alert="NoSuccesses",
        series=runs("shop", "error", (1, 9), (0, 51)),
        expect={"20m": [], "60m": []},
    ),
    Case(
        sentence="CostPerSuccessHigh fires when a success costs three times what it did",
        alert="CostPerSuccessHigh",
        series=_cost(0.1, 0.3, 1, (24, 8)),
        expect={"24h": [], "32h": [dearer("0.3000", 72, "0.1154")]},
        interval="5m",
    ),
    Case(
        sentence="CostPerSuccessHigh is silent when a success costs half as much again",
        alert="CostPerSuccessHigh",
        series=_cost(0.1, 0.15, 1, (24, 8)),
        expect={"26h": [], "32h": []},
        interval="5m",
    ),
    Case(
        sentence="CostPerSuccessHigh is silent when there are too few successes to compare",
        alert="CostPerSuccessHigh",
        series=_cost(0.1, 0.9, 0.1, (24, 8)),
        expect={"32h": []},
        interval="5m",
    ),
    Case(
        sentence="CostPerSuccessHigh is silent without a past of its own",
        alert="CostPerSuccessHigh",
        series=_cost(0.1, 0.9, 1, (0, 5)),
        expect={"5h": []},
        interval="5m",
    ),
    Case(
        sentence="AxisNoLongerScored fires when all verdicts of an axis turn unscorable",
        alert="AxisNoLongerScored",
        series={
            evaluations("shop", _AXIS, "good"): counter((1, 144), (0, _DAY)),
            evaluations("shop", _AXIS, "bad"): counter((0, 144 + _DAY)),
            evaluations("shop", _AXIS, "unscorable"): counter((0, 144), (1, _DAY)),
            **runs("shop", "success", (1, 144 + _DAY)),
        },
        expect={"12h": [], "30h": [no_longer_scored(72, 72)]},
        interval="5m",
    ),
    Case(
        sentence="AxisNoLongerScored fires when the series of an axis are gone",
        alert="AxisNoLongerScored",
        series={
            evaluations("shop", _AXIS, "good"): f"{counter((1, 144))} stale",
            **runs("shop", "success", (1, 144 + _DAY)),
        },
        expect={"30h": [no_longer_scored(72, 72)]},
        interval="5m",
    ),
    Case(
        sentence="AxisNoLongerScored is silent when the agent does not run either",
        alert="AxisNoLongerScored",
        series={
            evaluations("shop", _AXIS, "good"): counter((1, 144), (0, _DAY)),
            **runs("shop", "success", (1, 144), (0, _DAY)),
        },
        expect={"30h": []},
        interval="5m",
    ),
    Case(
        sentence="AxisNoLongerScored is silent while there are verdicts, all bad",
        alert="AxisNoLongerScored",
        series={
            evaluations("shop", _AXIS, "bad"): counter((1, 144 + _DAY)),
            **runs("shop", "success", (1, 144 + _DAY)),
        },
        expect={"30h": []},
        interval="5m",
    ),
    Case(
        sentence="AgentTrafficStopped fires when an agent of yesterday does not run",
        alert="AgentTrafficStopped",
        series=runs("shop", "success", (1, 144), (0, _DAY)),
        expect={"12h": [], "30h": [stopped(72)]},
        interval="5m",
    ),
    Case(
        sentence="AgentTrafficStopped fires when the agent's series are gone",
        alert="AgentTrafficStopped",
        series={
            series: f"{values} stale"
            for series, values in runs("shop", "success", (1, 144)).items()
        }
        | runs("docs", "success", (1, 144 + _DAY)),
        expect={"30h": [stopped(72)]},
        interval="5m",
    ),
    Case(
        sentence="AgentTrafficStopped is silent while a few runs arrive",
        alert="AgentTrafficStopped",
        series=runs("shop", "success", (1, 144), (0.1, _DAY)),
        expect={"30h": []},
        interval="5m",
    ),
    Case(
        sentence="PolicyViolation fires at once for one run, and names the invariant",
        alert="PolicyViolation",
        series=_violations("0x10 1x120"),
        expect={"10m": [], "11m": [violation("cache_leak", 1)]},
    ),
    Case(
        sentence="PolicyViolation fires for a series that begins with its first event",
        alert="PolicyViolation",
        series=_violations("_x20 1x200", invariant="destructive_action"),
        expect={"19m": [], "22m": [violation("destructive_action", 1)]},
    ),
    Case(
        sentence="PolicyViolation is silent, and ends, when nothing new happens",
        alert="PolicyViolation",
        series=_violations("0x10 1x200"),
        expect={"120m": []},
    ),
    Case(
        sentence="PolicyViolation takes no old event for a new one after a gap",
        alert="PolicyViolation",
        series=_violations("3x120 _x60 3x60"),
        expect={"100m": [], "185m": [], "200m": []},
    ),
    Case(
        sentence="PolicyViolation is silent in another lane",
        alert="PolicyViolation",
        series=_violations("0x10 1x60", lane="fixture"),
        expect={"15m": []},
    ),
]
