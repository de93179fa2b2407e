"""Every metric that Seekwatch exposes, declared as data.

Names, labels and label values are an interface: rules, dashboards and people's own queries read
them. As data they can be checked (`docs/metrics.md`, the rule generator) and their number of series
is a product that can be computed. A name changes only with a changelog line and both names for a
release.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from seekwatch.core.model import Adapter, Lane
from seekwatch.core.scorecard import Axis, CloseReason, Outcome
from seekwatch.core.tags import INVARIANTS, FailureTag
from seekwatch.core.verdicts import Verdict

OTHER: Final = "other"
"""What a label says when its value is outside the closed set."""


class MetricType(StrEnum):
    """How a metric behaves, in Prometheus' words."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Scope(StrEnum):
    """What a metric's series belong to, and so when they are created at 0."""

    AGENT_AND_LANE = "agent and lane"
    """Created when the agent is first seen in the lane."""
    LANE = "lane"
    """Created when the lane is first seen."""
    PROCESS = "process"
    """Created at the start."""
    OCCASION = "occasion"
    """Created when there is something to say: a 0 would be wrong."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """One label of a metric.

    Attributes:
        values: the closed set; empty when the set is bounded in another way (`bound` says how).
        bound: what bounds an open label, for the documentation.
    """

    name: str
    values: tuple[str, ...] = ()
    bound: str = ""


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """One metric.

    Attributes:
        unit: of the value; the name ends in it where Prometheus' habits ask for it.
        combinations: label values (of the labels after agent and lane) that exist, where they are
            fewer than the product.
        buckets: upper bounds of a histogram.
    """

    name: str
    type: MetricType
    help: str
    scope: Scope = Scope.PROCESS
    labels: tuple[Label, ...] = ()
    unit: str = ""
    combinations: tuple[tuple[str, ...], ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels in the order of their values."""
        return tuple(label.name for label in self.labels)

    @property
    def samples(self) -> tuple[str, ...]:
        """Names under which the metric is queried."""
        if self.type is MetricType.HISTOGRAM:
            return tuple(f"{self.name}_{suffix}" for suffix in ("bucket", "sum", "count"))
        return (self.name,)


def _closed(name: str, values: Iterable[str]) -> Label:
    return Label(name=name, values=tuple(str(value) for value in values))


AGENT: Final = Label(name="agent", bound="20 by default, then `other`")
LANE: Final = _closed("lane", (*Lane, OTHER))
AXIS: Final = _closed("axis", Axis)
VERDICT: Final = _closed("verdict", Verdict)
OUTCOME: Final = _closed("outcome", Outcome)
TAG: Final = _closed("tag", FailureTag)
INVARIANT: Final = _closed("invariant", INVARIANTS)
SIGNAL: Final = _closed("signal", ("traces", "logs"))
RECEIVED_SIGNAL: Final = _closed("signal", ("traces", "logs", "metrics"))
PARTITION: Final = Label(name="partition", bound="the partitions that this worker owns")

CHECKS: Final[dict[Axis, tuple[str, ...]]] = {
    Axis.QUERY_QUALITY: ("constraints", "entities", "breadth", "on-topic"),
    Axis.SOURCE_FRESHNESS: ("youngest", "median", "share", "source-date", "caveat", "cache"),
    Axis.SOURCE_DIVERSITY: ("floor", "cap", "syndication", "primary"),
    Axis.CITATION_VALIDITY: (
        *("seen", "resolves", "redirect", "page-kind", "passage", "support"),
        *("claims-cited", "source-allowed"),
    ),
}
"""Names of the checks of each axis; a test holds that the scorers give no others."""

CHECK: Final = _closed("check", (*(name for names in CHECKS.values() for name in names), OTHER))

RUBRICS: Final = (
    *("claim-support", "completeness", "context-adherence", "factual-accuracy"),
    *("freshness-handling", "groundedness", "query-rewriting", "source-primacy"),
)
"""Rubrics that come with Seekwatch; a test holds that there are no others. One's own is `other`."""

JUDGE_RESULT: Final = _closed(
    "result",
    (
        *("answered", "remembered", "invalid", "timeout", "unavailable", "rejected"),
        *("over_budget", "crowded_out", OTHER),
    ),
)

DEAD_LETTER_REASON: Final = _closed(
    "reason",
    (
        *("protobuf", "json", "resource", "scope", "span", "span-id", "log"),
        *("not-scored", "episode-too-large", OTHER),
    ),
)

ESCALATION_STEPS: Final = (
    *(
        (str(weaker), str(stronger))
        for index, weaker in enumerate(Adapter)
        for stronger in tuple(Adapter)[index + 1 :]
    ),
    (OTHER, OTHER),
)
"""From each adapter to every stronger one."""

RUN_SECONDS: Final = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1800, 3600)
DELAY_SECONDS: Final = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200)

_CHECK_COMBINATIONS: Final = tuple(
    (str(axis), name, str(verdict))
    for axis, names in CHECKS.items()
    for name in (*names, OTHER)
    for verdict in Verdict
)


def _run(
    name: str,
    text: str,
    *labels: Label,
    type_: MetricType = MetricType.COUNTER,
    unit: str = "",
    buckets: tuple[float, ...] = (),
) -> Declaration:
    """Declare a metric of one agent in one lane."""
    return Declaration(
        name=name,
        type=type_,
        help=text,
        scope=Scope.AGENT_AND_LANE,
        labels=(AGENT, LANE, *labels),
        unit=unit,
        buckets=buckets,
    )


RUN_METRICS: Final = (
    _run("seekwatch_runs_total", "Runs scored, by how they ended.", OUTCOME),
    _run("seekwatch_axis_evaluations_total", "Verdicts on an axis, one a run.", AXIS, VERDICT),
    Declaration(
        name="seekwatch_checks_total",
        type=MetricType.COUNTER,
        help="Checks asked; one that runs on several things (citations) counts each.",
        scope=Scope.LANE,
        labels=(LANE, AXIS, CHECK, VERDICT),
        combinations=_CHECK_COMBINATIONS,
    ),
    Declaration(
        name="seekwatch_failure_tags_total",
        type=MetricType.COUNTER,
        help="Runs that carry a failure tag.",
        scope=Scope.LANE,
        labels=(LANE, TAG),
    ),
    Declaration(
        name="seekwatch_escalations_total",
        type=MetricType.COUNTER,
        help="Targets that were got by a stronger adapter than before.",
        scope=Scope.LANE,
        labels=(
            LANE,
            _closed("from_adapter", (*Adapter, OTHER)),
            _closed("to_adapter", (*Adapter, OTHER)),
        ),
        combinations=ESCALATION_STEPS,
    ),
    _run("seekwatch_escalated_runs_total", "Runs with at least one escalation."),
    _run(
        "seekwatch_run_duration_seconds",
        "Duration of the run's root span; exemplars carry the trace id.",
        type_=MetricType.HISTOGRAM,
        unit="seconds",
        buckets=RUN_SECONDS,
    ),
    _run("seekwatch_run_cost_usd_total", "Cost of the runs whose cost is known.", unit="usd"),
    _run("seekwatch_priced_runs_total", "Runs whose cost is known.", OUTCOME),
    _run("seekwatch_unpriced_runs_total", "Runs with a part that has no price."),
    _run("seekwatch_incomplete_runs_total", "Runs of which spans or attributes are missing."),
    _run(
        "seekwatch_invariant_violations_total",
        "Runs that broke a hard invariant; one is a page.",
        INVARIANT,
    ),
    Declaration(
        name="seekwatch_judgements_total",
        type=MetricType.COUNTER,
        help="Verdicts of models, by rubric; never mixed with those of the scorers.",
        scope=Scope.LANE,
        labels=(LANE, _closed("rubric", (*RUBRICS, OTHER)), VERDICT),
    ),
    _run("seekwatch_corrections_total", "Scorecards made anew after late spans (revision 2)."),
    Declaration(
        name="seekwatch_last_scored_timestamp_seconds",
        type=MetricType.GAUGE,
        help="When a run of the agent was last scored, Unix time.",
        scope=Scope.OCCASION,
        labels=(AGENT,),
        unit="seconds",
    ),
    Declaration(
        name="seekwatch_agent_release_info",
        type=MetricType.GAUGE,
        help="The agent's newest release in the live lane; always 1.",
        scope=Scope.OCCASION,
        labels=(
            AGENT,
            Label(name="release", bound="the newest of each agent"),
            Label(name="environment", bound="the newest of each agent"),
        ),
    ),
)

PIPELINE_METRICS: Final = (
    Declaration(
        name="seekwatch_records_total",
        type=MetricType.COUNTER,
        help="Records read from the log: decoded, skipped as published already, or dead.",
        labels=(SIGNAL, _closed("result", ("ok", "skipped", "dead"))),
    ),
    Declaration(
        name="seekwatch_spans_total",
        type=MetricType.COUNTER,
        help="Spans by what became of them.",
        labels=(_closed("result", ("accepted", "late", "duplicate", "misrouted", "foreign")),),
    ),
    Declaration(
        name="seekwatch_traces_closed_total",
        type=MetricType.COUNTER,
        help="Traces closed, by reason.",
        labels=(_closed("reason", CloseReason),),
    ),
    Declaration(
        name="seekwatch_dead_letters_total",
        type=MetricType.COUNTER,
        help="Records put on the dead-letter topic, and episodes too large for theirs.",
        labels=(DEAD_LETTER_REASON,),
    ),
    Declaration(
        name="seekwatch_scorer_errors_total",
        type=MetricType.COUNTER,
        help="Scorers that failed on an episode; the axis became unscorable.",
        labels=(_closed("axis", (*Axis, OTHER)),),
    ),
    Declaration(
        name="seekwatch_judge_calls_total",
        type=MetricType.COUNTER,
        help="Wishes for a model's judgement, by how they ended.",
        labels=(JUDGE_RESULT,),
    ),
    Declaration(
        name="seekwatch_judge_cost_usd_total",
        type=MetricType.COUNTER,
        help="Cost of judging, where the price is known; no part of the runs' cost.",
        unit="usd",
    ),
    Declaration(
        name="seekwatch_open_traces",
        type=MetricType.GAUGE,
        help="Traces that are held in memory and not closed.",
    ),
    Declaration(
        name="seekwatch_oldest_open_trace_seconds",
        type=MetricType.GAUGE,
        help="Age of the oldest open trace on the log's clock; 0 when none is open.",
        unit="seconds",
    ),
    Declaration(
        name="seekwatch_lag_seconds",
        type=MetricType.GAUGE,
        help="How far the read position is behind the log's end.",
        scope=Scope.OCCASION,
        labels=(PARTITION,),
        unit="seconds",
    ),
    Declaration(
        name="seekwatch_read_position",
        type=MetricType.GAUGE,
        help="The next offset that is read.",
        scope=Scope.OCCASION,
        labels=(PARTITION,),
    ),
    Declaration(
        name="seekwatch_log_end_position",
        type=MetricType.GAUGE,
        help="The log's end offset as last seen.",
        scope=Scope.OCCASION,
        labels=(PARTITION,),
    ),
    Declaration(
        name="seekwatch_scoring_delay_seconds",
        type=MetricType.HISTOGRAM,
        help="From the end of a trace's last span to the commit of its scorecard.",
        unit="seconds",
        buckets=DELAY_SECONDS,
    ),
    Declaration(
        name="seekwatch_rebalances_total",
        type=MetricType.COUNTER,
        help="Times that partitions were given to or taken from this worker.",
    ),
    Declaration(
        name="seekwatch_commits_total",
        type=MetricType.COUNTER,
        help="Commits by how they ended.",
        labels=(_closed("result", ("ok", "retry", "fenced", "refused", OTHER)),),
    ),
    Declaration(
        name="seekwatch_label_overflow_total",
        type=MetricType.COUNTER,
        help="Label values that were outside their closed set or over the cap, shown as `other`.",
        labels=(
            _closed(
                "label",
                (
                    *("agent", "axis", "check", "exporter", "from_adapter", "invariant", "label"),
                    *("lane", "metric", "outcome", "reason", "result", "rubric"),
                    *("signal", "tag"),
                    *("to_adapter", "transport", "verdict", OTHER),
                ),
            ),
        ),
    ),
    Declaration(
        name="seekwatch_receiver_requests_total",
        type=MetricType.COUNTER,
        help="Export requests to our OTLP receiver.",
        labels=(
            RECEIVED_SIGNAL,
            _closed("transport", ("grpc", "http")),
            _closed(
                "result",
                (
                    *("ok", "partial", "invalid", "unsupported", "too_large", "unauthorized"),
                    *("unavailable", "error", OTHER),
                ),
            ),
        ),
    ),
    Declaration(
        name="seekwatch_receiver_spans_total",
        type=MetricType.COUNTER,
        help="Spans in requests to our OTLP receiver.",
        labels=(_closed("result", ("accepted", "rejected", "ignored", OTHER)),),
    ),
    Declaration(
        name="seekwatch_exported_records_total",
        type=MetricType.COUNTER,
        help="Records of the output topics that an exporter delivered, put off or gave up on.",
        labels=(
            _closed("exporter", ("archive", "evaluation", OTHER)),
            _closed("result", ("delivered", "retried", "refused")),
        ),
    ),
    Declaration(
        name="seekwatch_build_info",
        type=MetricType.GAUGE,
        help="What is running and what it judges by; always 1.",
        scope=Scope.OCCASION,
        labels=(
            Label(name="version", bound="one"),
            Label(name="scorer_revision", bound="one"),
            Label(name="policy_revision", bound="one"),
        ),
    ),
    Declaration(
        name="seekwatch_up",
        type=MetricType.GAUGE,
        help="1 while the worker's loop turns, 0 when it has not for 30 seconds.",
    ),
)

_WITHOUT_REFUSALS: Final = (*RUN_METRICS, *PIPELINE_METRICS)

DECLARATIONS: Final = (
    *_WITHOUT_REFUSALS,
    Declaration(
        name="seekwatch_refused_values_total",
        type=MetricType.COUNTER,
        help="Values that were no finite number from 0 on and were kept out of a metric.",
        labels=(_closed("metric", sorted(item.name for item in _WITHOUT_REFUSALS)),),
    ),
)
"""All metrics, in the order of the page."""

METRIC_NAMES: Final = frozenset(declaration.name for declaration in DECLARATIONS)
"""Names as declared; a histogram's is the base of its sample names."""

SAMPLE_NAMES: Final = frozenset(name for item in DECLARATIONS for name in item.samples)
"""Names as they are queried."""
