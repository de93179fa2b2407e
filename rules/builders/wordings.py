"""What the ratio alerts say, apart from what they compute.

Kept together so that one reader can hold the tone: plain words for someone who was asleep a minute
ago, no number in a summary, the agent as the subject.
"""

from dataclasses import dataclass

# Stands for the latency bound, which only the objectives know.
BOUND = "<bound>"


@dataclass(frozen=True)
class Wording:
    """What differs between ratios in what people read.

    Attributes:
        prefix: the first part of the alerts' names.
        component: the label, and the file.
        problem: for the summary: what the agent does too often.
        bad: for the description: what the bad share did.
        good: for the description: what the objective asks for.
        counted: for the description: what was counted.
        board: the dashboard.
        axis: where the alert is about one axis.
    """

    prefix: str
    component: str
    problem: str
    bad: str
    good: str
    counted: str
    board: str
    axis: str | None = None


WORDINGS = {
    "axes.citation_validity": Wording(
        prefix="CitationValidity",
        component="citation_validity",
        problem="cites sources that do not hold",
        bad="had citations that do not hold",
        good="valid citations",
        counted="scored runs",
        board="citations",
        axis="citation_validity",
    ),
    "axes.query_quality": Wording(
        prefix="QueryQuality",
        component="query_quality",
        problem="searches for something else than was asked",
        bad="searched for something else than was asked",
        good="faithful queries",
        counted="scored runs",
        board="overview",
        axis="query_quality",
    ),
    "axes.source_freshness": Wording(
        prefix="SourceFreshness",
        component="source_freshness",
        problem="answers from sources that are too old",
        bad="answered from sources that are too old",
        good="fresh sources",
        counted="scored runs",
        board="freshness",
        axis="source_freshness",
    ),
    "axes.source_diversity": Wording(
        prefix="SourceDiversity",
        component="source_diversity",
        problem="answers from too few independent sources",
        bad="answered from too few independent sources",
        good="diverse sources",
        counted="scored runs",
        board="freshness",
        axis="source_diversity",
    ),
    "success": Wording(
        prefix="SuccessRate",
        component="success",
        problem="fails too many runs",
        bad="did not succeed",
        good="success",
        counted="runs with a known outcome",
        board="overview",
    ),
    "latency": Wording(
        prefix="Latency",
        component="latency",
        problem="is slow in too many runs",
        bad=f"took longer than {BOUND} s",
        good=f"at most {BOUND} s",
        counted="runs",
        board="cost",
    ),
    "escalations": Wording(
        prefix="EscalationRate",
        component="escalations",
        problem="turns to stronger adapters too often",
        bad="turned to a stronger adapter",
        good="no escalation",
        counted="runs",
        board="cost",
    ),
    "coverage.scorable": Wording(
        prefix="AxisUnscorable",
        component="coverage",
        problem="cannot be scored on {{ $labels.axis }}",
        bad="could not be scored on {{ $labels.axis }}",
        good="a verdict",
        counted="evaluated runs",
        board="health",
    ),
    "coverage.priced": Wording(
        prefix="UnpricedRuns",
        component="coverage",
        problem="has runs without a known price",
        bad="had no known cost",
        good="a known cost",
        counted="runs",
        board="cost",
    ),
    "coverage.complete": Wording(
        prefix="IncompleteRuns",
        component="coverage",
        problem="has runs whose traces arrive with parts missing",
        bad="had an incomplete trace",
        good="a whole trace",
        counted="runs",
        board="health",
    ),
    "coverage.known_outcome": Wording(
        prefix="UnknownOutcomes",
        component="coverage",
        problem="has runs whose outcome the monitor cannot tell",
        bad="ended in an unknown outcome",
        good="a known outcome",
        counted="runs",
        board="health",
    ),
}

PACE = {
    "BurnFast": "suddenly and in most runs",
    "BurnSlow": "for hours",
    "BurnTicket": "more often than its objective allows",
    "High": "more often than its objective allows",
}
