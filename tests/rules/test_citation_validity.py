"""The alert that the monitor exists for, under all that a metrics pipeline does to counters."""

import dataclasses

import pytest

from tests.rules.conftest import Finding
from tests.rules.promtool import Case, Firing
from tests.rules.series import Phase, axis_traffic, counter, evaluations

AXIS = "citation_validity"
FAST = "CitationValidityBurnFast"


def traffic(
    *, good: list[Phase], bad: list[Phase], agent: str = "shop", instance: str = "a"
) -> dict[str, str]:
    return axis_traffic(agent, AXIS, good, bad, instance=instance)


def fast(share: str, n: int, agent: str = "shop") -> Firing:
    return Firing(
        severity="page",
        component=AXIS,
        axis=AXIS,
        agent=agent,
        board="citations",
        summary=f"{agent} cites sources that do not hold, suddenly and in most runs",
        description=(
            f"Of the scored runs of {agent}, {share} in the last 1h (n = {n}, the line is 50%) "
            "had citations that do not hold. Objective: 90% valid citations."
        ),
        traces=f"seekwatch tail --agent '{agent}' --axis citation_validity --worst 3",
    )


def slow_ticket(day: str, day_n: int, trend: str, trend_n: int) -> Firing:
    return dataclasses.replace(
        fast("", 0),
        severity="ticket",
        summary="shop cites sources that do not hold, more often than its objective allows",
        description=(
            f"Of the scored runs of shop, {day} in the last 1d (n = {day_n}, the line is 20%) and "
            f"{trend} in the last 3d (n = {trend_n}, the line is 10%) had citations that do not "
            "hold. Objective: 90% valid citations."
        ),
    )


BAD = traffic(good=[(4, 120)], bad=[(6, 120)])

CASES = [
    Case(
        sentence="it fires with everything on the alert when 60 % of an hour's runs are bad",
        alert=FAST,
        series=BAD,
        expect={"90m": [fast("60%", 600)]},
    ),
    Case(
        sentence="it waits for its patience before it fires",
        alert=FAST,
        # Bad from the first run on: the long window is over its line as soon as it holds 20.
        series=BAD,
        expect={"3m": [], "10m": [fast("60%", 100)]},
    ),
    Case(
        sentence="it is silent at 45 % bad, below its line",
        alert=FAST,
        series=traffic(good=[(5.5, 120)], bad=[(4.5, 120)]),
        expect={"30m": [], "2h": []},
    ),
    Case(
        sentence="it is silent when all of 18 runs are bad, below its minimum of 20",
        alert=FAST,
        series=traffic(good=[(0, 120)], bad=[(0.3, 120)]),
        expect={"60m": [], "2h": []},
    ),
    Case(
        sentence="it fires when all of 24 runs are bad and the last minutes hold too few to tell",
        alert=FAST,
        series=traffic(good=[(0, 120)], bad=[(0.4, 120)]),
        expect={"90m": [fast("100%", 24)]},
    ),
    Case(
        sentence="it is silent without traffic, where the share is 0/0",
        alert=FAST,
        series=traffic(good=[(0, 120)], bad=[(0, 120)]),
        expect={"30m": [], "2h": []},
    ),
    Case(
        sentence="it is silent over a counter reset of a healthy agent",
        alert=FAST,
        series={
            evaluations(
                "shop", AXIS, "good"
            ): f"{counter((9.5, 60), start=500)} {counter((9.5, 60))}",
            evaluations(
                "shop", AXIS, "bad"
            ): f"{counter((0.5, 60), start=900)} {counter((0.5, 60))}",
        },
        expect={"59m": [], "61m": [], "65m": [], "90m": [], "2h": []},
    ),
    Case(
        sentence="it goes on firing over a counter reset of a bad agent",
        alert=FAST,
        series={
            evaluations("shop", AXIS, "good"): f"{counter((4, 60), start=900)} {counter((4, 60))}",
            evaluations("shop", AXIS, "bad"): f"{counter((6, 60), start=900)} {counter((6, 60))}",
        },
        # The last growth before a reset cannot be seen, so a scrape's worth of runs is missing.
        expect={"59m": [fast("60%", 600)], "119m": [fast("60%", 590)]},
    ),
    Case(
        sentence="it stays firing over ten minutes of missed scrapes",
        alert=FAST,
        series={
            evaluations("shop", AXIS, "good"): "0+4x60 _x10 284+4x60",
            evaluations("shop", AXIS, "bad"): "0+6x60 _x10 426+6x60",
        },
        expect={
            "60m": [fast("60%", 600)],
            "66m": [fast("60%", 545)],
            "71m": [fast("60%", 600)],
            "90m": [fast("60%", 600)],
        },
    ),
    Case(
        sentence="it clears after a real recovery although the hour is still bad",
        alert=FAST,
        series=traffic(good=[(4, 61), (10, 60)], bad=[(6, 61), (0, 60)]),
        # Five good minutes clear the expression; the hold time of ten minutes follows.
        expect={"60m": [fast("60%", 600)], "80m": []},
    ),
    Case(
        sentence="a quiet spell after bad runs neither resolves nor multiplies it",
        alert=FAST,
        series=traffic(good=[(4, 30), (0, 61)], bad=[(6, 30), (0, 61)]),
        expect={"30m": [fast("60%", 300)], "45m": [fast("60%", 300)]},
    ),
    Case(
        sentence="of two agents only the bad one's alert fires",
        alert=FAST,
        series={
            **BAD,
            **traffic(agent="docs", good=[(9.5, 120)], bad=[(0.5, 120)]),
        },
        expect={"90m": [fast("60%", 600)]},
    ),
    Case(
        sentence="two bad agents are two alerts",
        alert=FAST,
        series={**BAD, **traffic(agent="docs", good=[(2, 120)], bad=[(8, 120)])},
        expect={"90m": [fast("80%", 600, agent="docs"), fast("60%", 600)]},
    ),
    Case(
        sentence="it is silent, and the share is 0, when no bad verdict was ever seen",
        alert=FAST,
        series={evaluations("shop", AXIS, "good"): counter((10, 120))},
        expect={"90m": []},
    ),
    Case(
        sentence="it fires when no good verdict was ever seen",
        alert=FAST,
        series={evaluations("shop", AXIS, "bad"): counter((10, 120))},
        expect={"90m": [fast("100%", 600)]},
    ),
    Case(
        sentence="a NaN in one worker's series does not hide what the other worker sees",
        alert=FAST,
        series={
            **traffic(instance="a", good=[(4, 120)], bad=[(6, 120)]),
            evaluations("shop", AXIS, "bad", instance="b"): "0+1x30" + " NaN" * 90,
            evaluations("shop", AXIS, "good", instance="b"): "0+1x30" + " NaN" * 90,
        },
        expect={"60m": [fast("60%", 600)], "110m": [fast("60%", 600)]},
    ),
    Case(
        sentence="scaling out from one worker to three does not change a healthy share",
        alert=FAST,
        series={
            **traffic(instance="a", good=[(9, 61), (3, 60)], bad=[(1, 61), (0.333, 60)]),
            evaluations("shop", AXIS, "good", instance="b"): f"_x60 {counter((3, 60))}",
            evaluations("shop", AXIS, "bad", instance="b"): f"_x60 {counter((0.333, 60))}",
            evaluations("shop", AXIS, "good", instance="c"): f"_x60 {counter((3, 60))}",
            evaluations("shop", AXIS, "bad", instance="c"): f"_x60 {counter((0.333, 60))}",
        },
        expect={"61m": [], "65m": [], "75m": [], "2h": []},
    ),
    Case(
        sentence="scaling out from one worker to three does not change a bad share",
        alert=FAST,
        series={
            **traffic(instance="a", good=[(4, 61), (2, 60)], bad=[(6, 61), (3, 60)]),
            evaluations("shop", AXIS, "good", instance="b"): f"_x60 {counter((1, 60))}",
            evaluations("shop", AXIS, "bad", instance="b"): f"_x60 {counter((1.5, 60))}",
            evaluations("shop", AXIS, "good", instance="c"): f"_x60 {counter((1, 60))}",
            evaluations("shop", AXIS, "bad", instance="c"): f"_x60 {counter((1.5, 60))}",
        },
        # A series that begins within the window is extrapolated by half an interval.
        expect={"60m": [fast("60%", 600)], "2h": [fast("60%", 605)]},
    ),
    Case(
        sentence="it stays firing when one of two workers goes away",
        alert=FAST,
        series={
            **traffic(instance="a", good=[(2, 120)], bad=[(3, 120)]),
            evaluations("shop", AXIS, "good", instance="b"): f"{counter((2, 60))} stale",
            evaluations("shop", AXIS, "bad", instance="b"): f"{counter((3, 60))} stale",
        },
        expect={"60m": [fast("60%", 600)], "119m": [fast("60%", 308)]},
    ),
    Case(
        sentence="it stays firing when the worker is replaced in the middle of the incident",
        alert=FAST,
        series={
            evaluations("shop", AXIS, "good", instance="a"): f"{counter((4, 60))} stale",
            evaluations("shop", AXIS, "bad", instance="a"): f"{counter((6, 60))} stale",
            evaluations("shop", AXIS, "good", instance="b"): f"_x61 {counter((4, 60))}",
            evaluations("shop", AXIS, "bad", instance="b"): f"_x61 {counter((6, 60))}",
        },
        expect={"60m": [fast("60%", 600)], "62m": [fast("60%", 595)], "119m": [fast("60%", 595)]},
    ),
    Case(
        sentence="an agent with three runs an hour gets a ticket for a complete failure",
        alert="CitationValidityBurnTicket",
        series=traffic(good=[(0.2, 1080), (0, 270)], bad=[(0, 1080), (0.2, 270)]),
        expect={"78h": [], "90h": [slow_ticket("75%", 72, "25%", 216)]},
        interval="4m",
    ),
    Case(
        sentence="unscorable runs are in neither part of the share",
        alert=FAST,
        series={**BAD, evaluations("shop", AXIS, "unscorable"): counter((90, 120))},
        expect={"90m": [fast("60%", 600)]},
    ),
    Case(
        sentence="runs of another lane never count",
        alert=FAST,
        series={
            series.replace('lane="live"', f'lane="{lane}"'): values
            for lane in ("nonproduction", "fixture", "canary", "replay")
            for series, values in BAD.items()
        },
        expect={"90m": []},
    ),
    Case(
        sentence="other axes being bad is not its business",
        alert=FAST,
        series={
            **axis_traffic("shop", "query_quality", [(0, 120)], [(10, 120)]),
            **traffic(good=[(10, 120)], bad=[(0, 120)]),
        },
        expect={"90m": []},
    ),
    Case(
        sentence="an agent's name cannot break out of the command line on the alert",
        alert=FAST,
        series=traffic(agent="a'; rm -rf $HOME # 購物", good=[(4, 120)], bad=[(6, 120)]),
        expect={
            "90m": [
                dataclasses.replace(
                    fast("60%", 600, agent="a'; rm -rf $HOME # 購物"),
                    traces=(
                        r"seekwatch tail --agent 'a'\''; rm -rf $HOME # 購物' "
                        "--axis citation_validity --worst 3"
                    ),
                )
            ]
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_citation_validity(case: Case, finding: Finding) -> None:
    difference = finding(case)
    assert not difference, difference
