"""Scoring: one pure function from episode, evidence and policy to a scorecard.

No I/O, no clock, no order of sets: equal arguments give byte-identical scorecards, online, in a
backfill and in a user's pytest. A scorer that fails costs its own axis, never the scorecard.
"""

from collections.abc import Callable
from typing import Final, TypeVar

import msgspec

from seekwatch.core.evidence import Evidence
from seekwatch.core.model import Episode
from seekwatch.core.policy import Policy
from seekwatch.core.scorecard import (
    Axis,
    AxisVerdict,
    Cost,
    Escalation,
    JudgeVerdict,
    Latency,
    Outcome,
    Scorecard,
    Truth,
    Work,
)
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Reason
from seekwatch.processors.axes import (
    citation_validity,
    query_quality,
    source_diversity,
    source_freshness,
)
from seekwatch.processors.axes.joining import EVIDENCE_LENGTH, ordered_tags, unscorable_axis
from seekwatch.processors.judgements import judge_verdicts
from seekwatch.processors.revision import scorer_revision
from seekwatch.processors.runs.conduct import Conduct, conduct
from seekwatch.processors.runs.cost import cost
from seekwatch.processors.runs.escalation import escalations
from seekwatch.processors.runs.latency import latency
from seekwatch.processors.runs.outcome import Facts, outcome
from seekwatch.processors.runs.truth import truth
from seekwatch.processors.runs.work import work
from seekwatch.processors.sources.run_view import RunView
from seekwatch.processors.text.fold import shortened

SCORER_REVISION: Final = scorer_revision()

CHECK_NAMES: Final[dict[Axis, frozenset[str]]] = {
    Axis.QUERY_QUALITY: query_quality.CHECK_NAMES,
    Axis.SOURCE_FRESHNESS: source_freshness.CHECK_NAMES,
    Axis.SOURCE_DIVERSITY: source_diversity.CHECK_NAMES,
    Axis.CITATION_VALIDITY: citation_validity.CHECK_NAMES,
}
"""The closed set of check names of each axis, fit for a metric label."""

_JUDGES: Final[tuple[tuple[Axis, Callable[[RunView], AxisVerdict]], ...]] = (
    (Axis.QUERY_QUALITY, query_quality.judge),
    (Axis.SOURCE_FRESHNESS, source_freshness.judge),
    (Axis.SOURCE_DIVERSITY, source_diversity.judge),
    (Axis.CITATION_VALIDITY, citation_validity.judge),
)
_QUESTION_LENGTH: Final = 500

Result = TypeVar("Result")


class ScorerError(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer that raised: a bug of ours, to be counted and logged by the caller.

    Attributes:
        scorer: the axis, or what else failed (`conduct`, `cost` …).
        error: the exception, traceback included.
    """

    scorer: str
    error: Exception


def score(episode: Episode, evidence: Evidence, policy: Policy) -> Scorecard:
    """Score one episode; axes whose scorer failed are unscorable (`scorer-error`)."""
    return score_with_errors(episode, evidence, policy)[0]


def score_with_errors(
    episode: Episode, evidence: Evidence, policy: Policy
) -> tuple[Scorecard, tuple[ScorerError, ...]]:
    """Score one episode, and return what the scorers raised beside the scorecard."""
    scoring = _Scoring(RunView(episode, evidence, policy))
    return scoring.scorecard(), tuple(scoring.errors)


class _Scoring:
    """One scoring: runs every scorer behind a guard and collects what they raise."""

    def __init__(self, run: RunView) -> None:
        self._run = run
        self.errors: list[ScorerError] = []

    def scorecard(self) -> Scorecard:
        """Run all scorers and put their findings together."""
        run, episode = self._run, self._run.episode
        axes = tuple(self._axis(axis, judge) for axis, judge in _JUDGES)
        priced = self._guard("cost", lambda: cost(episode, run.policy.prices), Cost())
        behaviour = self._guard("conduct", lambda: conduct(run, priced.total), _NO_CONDUCT)
        compared = self._guard("truth", lambda: truth(run, axes[-1]), _NO_TRUTH)
        facts = Facts(run=run, axes=axes, conduct=behaviour, truth=compared)
        label, why = self._guard(
            "outcome", lambda: outcome(facts), (Outcome.UNKNOWN, "the outcome scorer failed")
        )
        context = episode.context
        return Scorecard(
            trace=episode.trace,
            root=episode.root,
            agent=context.agent,
            lane=context.lane.value,
            outcome=label,
            outcome_evidence=shortened(why, EVIDENCE_LENGTH),
            axes=axes,
            tags=_tags(axes, behaviour),
            latency=self._guard("latency", lambda: latency(episode), Latency(total=0.0)),
            cost=priced,
            work=self._guard("work", lambda: work(episode), Work()),
            scorer_revision=SCORER_REVISION,
            policy_revision=run.policy.revision,
            start=episode.start,
            end=episode.end,
            escalations=self._guard("escalation", lambda: escalations(episode), _NO_ESCALATIONS),
            complete=episode.completeness.complete,
            truth=compared,
            judgements=self._guard("judgements", lambda: judge_verdicts(run), _NO_JUDGEMENTS),
            release=context.release,
            environment=context.environment,
            region=context.region,
            case=context.case,
            question=None
            if episode.question is None
            else shortened(episode.question, _QUESTION_LENGTH),
        )

    def _axis(self, axis: Axis, judge: Callable[[RunView], AxisVerdict]) -> AxisVerdict:
        failed = unscorable_axis(axis, Reason.SCORER_ERROR, "the scorer of this axis failed")
        return self._guard(axis.value, lambda: judge(self._run), failed)

    def _guard(self, scorer: str, run: Callable[[], Result], otherwise: Result) -> Result:
        try:
            return run()
        except Exception as error:  # noqa: BLE001 - any bug costs one finding, never the scorecard
            self.errors.append(ScorerError(scorer=scorer, error=error))
            return otherwise


_NO_CONDUCT: Final[tuple[Conduct, ...]] = ()
_NO_ESCALATIONS: Final[tuple[Escalation, ...]] = ()
_NO_TRUTH: Final[Truth | None] = None
_NO_JUDGEMENTS: Final[tuple[JudgeVerdict, ...]] = ()


def _tags(axes: tuple[AxisVerdict, ...], behaviour: tuple[Conduct, ...]) -> tuple[FailureTag, ...]:
    tags = [tag for axis in axes for tag in axis.tags]
    return ordered_tags([*tags, *(finding.tag for finding in behaviour)])
