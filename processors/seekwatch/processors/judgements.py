"""What models said of a run, as verdicts of their own: beside the axes, never in them.

The judgements come as evidence, so this is as pure as every scorer: the same evidence and policy
give the same verdicts, whenever it is scored again.
"""

from seekwatch.core.evidence import Judgement
from seekwatch.core.policy import JudgePolicy
from seekwatch.core.scorecard import JudgeVerdict
from seekwatch.core.verdicts import Reason, Verdict, is_score
from seekwatch.processors.axes.joining import EVIDENCE_LENGTH
from seekwatch.processors.sources.run_view import RunView
from seekwatch.processors.text.fold import shortened


def judge_verdicts(run: RunView) -> tuple[JudgeVerdict, ...]:
    """Return the verdicts of a run's judgements, in the order in which they came."""
    return tuple(_verdict(each, run.policy.judges) for each in run.evidence.judgements)


def _verdict(judgement: Judgement, policy: JudgePolicy) -> JudgeVerdict:
    score, reason = judgement.score, judgement.reason
    if reason is None and (score is None or not is_score(score)):
        score, reason = None, Reason.INVALID_SCORE
    if reason is not None or score is None:
        verdict, score = Verdict.UNSCORABLE, None
    else:
        minimum = policy.minimums.get(judgement.rubric, policy.minimum)
        verdict = Verdict.GOOD if score >= minimum else Verdict.BAD
    return JudgeVerdict(
        rubric=judgement.rubric,
        revision=judgement.revision,
        model=judgement.model,
        verdict=verdict,
        score=score,
        label=judgement.label,
        reason=reason,
        evidence=shortened(_line(judgement), EVIDENCE_LENGTH),
        subject=judgement.subject,
        spans=judgement.spans,
    )


def _line(judgement: Judgement) -> str:
    said = judgement.rationale
    return f"«{shortened(judgement.quote, 120)}»: {said}" if judgement.quote else said
