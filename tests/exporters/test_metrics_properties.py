"""No sequence of calls, however hostile, breaks a page."""

import math
import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from seekwatch.core.model import Adapter, Lane
from seekwatch.core.scorecard import Axis, Cost, Escalation, Latency, Outcome, Scorecard
from seekwatch.core.tags import FailureTag
from seekwatch.core.testing import FixedClock
from seekwatch.core.verdicts import Check, Verdict
from seekwatch.exporters.metric_names import DECLARATIONS, MetricType, Scope
from seekwatch.exporters.metrics import MetricsGateway
from seekwatch.exporters.series import declared_series
from tests.services.scorecards import axis_verdict, envelope, scorecard

CAP = 3

numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(min_value=-10, max_value=10),
    st.just(10**400),
)
words = st.one_of(st.sampled_from(["finder", "a", "ok", "traces", "complete"]), st.text())
lanes = st.one_of(st.sampled_from([str(lane) for lane in Lane]), words)
verdicts = st.sampled_from(Verdict)
checks = st.builds(
    Check, name=st.one_of(words, st.just("resolves")), verdict=verdicts, evidence=st.just("e")
)
axes = st.lists(
    st.builds(axis_verdict, st.sampled_from(Axis), verdicts, checks=st.lists(checks).map(tuple))
)
escalations = st.builds(
    Escalation,
    source=st.one_of(st.sampled_from(list(Adapter)), words),
    target=st.one_of(st.sampled_from(list(Adapter)), words),
    count=st.integers(min_value=-2, max_value=3),
)
cards: st.SearchStrategy[Scorecard] = st.builds(
    scorecard,
    trace=words,
    agent=words,
    lane=lanes,
    outcome=st.sampled_from(Outcome),
    axes=axes.map(tuple),
    tags=st.lists(st.sampled_from(FailureTag)).map(tuple),
    escalations=st.lists(escalations, max_size=3).map(tuple),
    latency=st.builds(Latency, total=numbers),
    cost=st.builds(Cost, total=st.one_of(st.none(), numbers)),
    complete=st.booleans(),
    release=st.one_of(st.none(), words),
    environment=st.one_of(st.none(), words),
)
calls = st.one_of(
    st.tuples(st.just("scored"), cards, st.sampled_from([1, 2]), numbers),
    st.tuples(st.just("records"), words, words, numbers),
    st.tuples(st.just("spans"), words, numbers),
    st.tuples(st.sampled_from(["closed", "dead_letter", "scorer_error", "commit"]), words),
    st.tuples(st.just("open_traces"), numbers, numbers),
    st.tuples(st.just("partition"), st.integers(0, 2), numbers, numbers, numbers),
    st.tuples(st.just("forget_partition"), st.integers(0, 2)),
    st.tuples(st.just("received"), words, words, words),
    st.tuples(st.just("exported"), words, words, numbers),
    st.tuples(st.just("page")),
    st.tuples(st.just("advance"), st.floats(0, 100)),
)

Samples = dict[str, float]
"""Values by name and labels, as they are written."""

RUNS = re.compile(r'seekwatch_runs_total\{.*lane="(\w+)",outcome="(\w+)"\}')


def samples(gateway: MetricsGateway) -> Samples:
    """Every sample of a page, read from its bytes: a value stands after the last space."""
    lines = gateway.page().body.decode().splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {series: float(value) for series, _, value in pairs}


def family(series: str) -> str:
    """The name of a series without its labels."""
    return series.partition("{")[0]


def perform(gateway: MetricsGateway, clock: FixedClock, call: tuple[object, ...]) -> None:
    """Make one call of the sequence."""
    name, *arguments = call
    if name == "scored":
        card, revision, delay = arguments
        assert isinstance(card, Scorecard)
        assert isinstance(delay, int | float)
        gateway.scored(card, envelope(revision=revision), delay_seconds=delay)
    elif name == "advance":
        assert isinstance(arguments[0], float)
        clock.advance(arguments[0])
    else:
        getattr(gateway, str(name))(*arguments)


def bound() -> int:
    """The product that `docs/metrics.md` computes, for the cap of this test."""
    agents, lanes_, total = CAP + 1, len(Lane) + 1, 0
    for declaration in DECLARATIONS:
        times = {Scope.AGENT_AND_LANE: agents * lanes_, Scope.LANE: lanes_}.get(
            declaration.scope, agents
        )
        skipped = {Scope.AGENT_AND_LANE: 2, Scope.LANE: 1}.get(declaration.scope, 0)
        own = len(list(declared_series(declaration, ("",) * skipped)))
        unknown = math.prod(len(label.values) + 1 for label in declaration.labels[skipped:])
        series = max(own, unknown if declaration.scope is Scope.PROCESS else own)
        width = len(declaration.buckets) + 3 if declaration.type is MetricType.HISTOGRAM else 1
        total += times * series * width
    return total


@given(st.lists(calls, max_size=30))
@settings(max_examples=60, deadline=None)
def test_pages_stay_finite_bounded_and_monotonic(sequence: list[tuple[object, ...]]) -> None:
    clock = FixedClock()
    gateway = MetricsGateway(
        CollectorRegistry(), agent_cap=CAP, clock=clock, wall_clock=clock, environment={}
    )
    before: Samples = {}
    for call in (*sequence, ("page",), ("page",)):
        if call == ("page",):
            after = samples(gateway)
            assert all(math.isfinite(value) and value >= 0 for value in after.values())
            assert len(after) <= bound()
            growing = [key for key in before if family(key).endswith(("_total", "_count", "_sum"))]
            assert all(after[key] >= before[key] for key in growing)
            before = after
        else:
            perform(gateway, clock, call)
    families = text_string_to_metric_families(gateway.page().body.decode())
    assert len([sample for each in families for sample in each.samples]) == len(before)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "d", "e"]),
            st.sampled_from(list(Lane)),
            st.sampled_from(list(Outcome)),
            st.sampled_from([1, 1, 1, 2]),
            st.sampled_from(["", "", "page", "advance"]),
        ),
        max_size=40,
    )
)
@settings(max_examples=25, deadline=None)
def test_totals_equal_the_runs_of_revision_one_whenever_pages_were_made(
    runs: list[tuple[str, Lane, Outcome, int, str]],
) -> None:
    clock = FixedClock()
    gateway = MetricsGateway(
        CollectorRegistry(), agent_cap=CAP, clock=clock, wall_clock=clock, environment={}
    )
    expected: Counter[tuple[str, str]] = Counter()
    shown: Samples = {}
    for agent, lane, outcome, revision, then in runs:
        gateway.scored(
            scorecard(agent=agent, lane=lane, outcome=outcome), envelope(revision=revision)
        )
        if revision == 1:
            expected[(str(lane), str(outcome))] += 1
        if then == "page":
            page = samples(gateway)
            firsts = [key for key in page if key not in shown and "runs_total" in family(key)]
            assert all(page[key] == 0 for key in firsts if clock() == FixedClock()())
            shown |= page
        elif then == "advance":
            clock.advance(61)
    gateway.page()
    counted: Counter[tuple[str, str]] = Counter()
    for series, value in samples(gateway).items():
        if labels := RUNS.fullmatch(series):
            counted[(labels[1], labels[2])] += int(value)
    assert +counted == +expected
