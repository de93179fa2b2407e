"""Axis 4: do the citations lead to real pages that say what the answer says?

In order of cost: was the address seen, does it answer, where does it lead, what sort of page is it,
is the passage there, does it support the claim. One verdict per citation and per claim, then one
per episode.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from seekwatch.core.evidence import TruthRecord
from seekwatch.core.model import Answer
from seekwatch.core.scorecard import Axis, AxisVerdict
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict, decided
from seekwatch.processors.axes.content_checks import (
    cited_check,
    passage_checks,
    support_checks,
    support_share,
)
from seekwatch.processors.axes.joining import joined, unscorable_axis
from seekwatch.processors.axes.link_checks import (
    kind_check,
    redirect_check,
    resolves_check,
    seen_check,
)
from seekwatch.processors.sources.run_view import RunView, Source
from seekwatch.processors.text.fold import shortened
from seekwatch.processors.text.phrases import is_refusal

CHECK_NAMES: Final = frozenset(
    {
        "seen",
        "resolves",
        "redirect",
        "page-kind",
        "passage",
        "support",
        "claims-cited",
        "source-allowed",
    }
)
"""All decide; `support` only by the share of claims that policy asks for."""


class _Judged(msgspec.Struct):
    """Everything that was found out about one cited address."""

    checks: list[Check]
    tags: list[FailureTag]

    @property
    def verdict(self) -> Verdict:
        """Bad for one failure; good once the page itself or a passage was seen; else open."""
        return decided(
            check.verdict for check in self.checks if check.name != "seen" or _failed(check)
        )


def _failed(check: Check) -> bool:
    return check.verdict is Verdict.BAD


def judge(run: RunView) -> AxisVerdict:
    """Check every citation, then every claim that has one.

    The score is the share of good ones among the judged citations, times the share of supported
    ones among the judged claims where policy weighs support.
    """
    answer, unanswered = run.episode.answer, run.unanswered
    if answer is None or unanswered is not None:
        reason, line = unanswered or (Reason.NO_ANSWER, "the trace holds no answer")
        return unscorable_axis(Axis.CITATION_VALIDITY, reason, line)
    if not run.citations:
        return _uncited(run, answer)
    judged = [_judge_source(run, source) for source in run.cited]
    support = support_checks(run)
    return _joined(run, judged, support)


def _uncited(run: RunView, answer: Answer) -> AxisVerdict:
    """An answer without any citation: bad when it had sources to cite, else not judged."""
    spans = run.answer_spans
    if is_refusal(answer.text):
        line = "a refusal needs no citation"
        return unscorable_axis(Axis.CITATION_VALIDITY, Reason.NOT_APPLICABLE, line, spans=spans)
    if not run.sources or not run.policy.citation.require_citations:
        line = "no citation, and no web source that could have been cited"
        if run.sources:
            line = "no citation, and policy asks for none"
        return unscorable_axis(Axis.CITATION_VALIDITY, Reason.NO_CITATIONS, line, spans=spans)
    line = f"the run saw {len(run.sources)} web sources and the answer cites none"
    check = Check.bad("claims-cited", line, spans=spans)
    return joined(
        Axis.CITATION_VALIDITY,
        [check],
        [check],
        Verdict.BAD,
        score=0.0,
        tags=[FailureTag.UNCITED_CLAIM],
        spans=spans,
        measures={"citations": 0.0},
        nothing=(Reason.NO_CITATIONS, line),
    )


def _judge_source(run: RunView, source: Source) -> _Judged:
    findings = [
        seen_check(run, source),
        resolves_check(run, source),
        redirect_check(run, source),
        kind_check(run, source),
        *passage_checks(run, source),
        allowed_check(run.evidence.truth, source),
    ]
    present = [finding for finding in findings if finding is not None]
    return _Judged(
        checks=[check for check, _ in present], tags=[tag for _, tag in present if tag is not None]
    )


def allowed_check(
    truth: TruthRecord | None, source: Source
) -> tuple[Check, FailureTag | None] | None:
    """Is the source one that the truth record allows? None without such a record."""
    if truth is None or not truth.allowed_sources:
        return None
    url = shortened(source.url, 120)
    if source.site in truth.allowed_sources or source.host in truth.allowed_sources:
        return Check.good("source-allowed", f"allowed: {url}", subject=source.url), None
    bad = Check.bad("source-allowed", f"not an allowed source: {url}", subject=source.url)
    return bad, FailureTag.SOURCE_NOT_ALLOWED


def _joined(run: RunView, judged: Sequence[_Judged], support: Sequence[Check]) -> AxisVerdict:
    minimum = run.policy.citation.minimum_supported
    share = support_share(support)
    unsupported = share is not None and share < minimum
    placed = cited_check(run, len(run.citations))
    checks = [check for one in judged for check in one.checks]
    checks += [*support, *([placed[0]] if placed else [])]
    tags = [tag for one in judged for tag in one.tags]
    if unsupported or (share is not None and share < 1 and minimum == 0):
        tags.append(FailureTag.UNSUPPORTED_CLAIM)
    if placed is not None and placed[1] is not None:
        tags.append(placed[1])
    deciding = [check for one in judged for check in _telling(one)]
    if unsupported:
        deciding += [check for check in support if _failed(check)]
    elif minimum > 0:
        deciding += [check for check in support if not _failed(check)]
    if placed is not None:
        deciding.append(placed[0])
    verdict = _verdict(judged, support, placed[0] if placed else None, unsupported=unsupported)
    good = sum(1 for one in judged if one.verdict is Verdict.GOOD)
    known = sum(1 for one in judged if one.verdict is not Verdict.UNSCORABLE)
    score = good / known if known else 1.0
    if share is not None and minimum > 0:
        score *= share
    if placed is not None and _failed(placed[0]):
        score *= placed[0].score or 0.0
    return joined(
        Axis.CITATION_VALIDITY,
        deciding,
        checks,
        verdict,
        score=score,
        tags=tags,
        spans=[*run.answer_spans, *(span for check in checks for span in check.spans)],
        measures=_measures(run, judged, support),
        nothing=(Reason.NO_CITATIONS, "no citation could be judged"),
        summary=_summary(judged, support),
    )


def _telling(one: _Judged) -> list[Check]:
    """Bad checks first, so that the axis names a failure; being seen alone decides nothing."""
    rest = [check for check in one.checks if check.name != "seen" or _failed(check)]
    return sorted(rest, key=lambda check: not _failed(check))


def _verdict(
    judged: Sequence[_Judged], support: Sequence[Check], placed: Check | None, *, unsupported: bool
) -> Verdict:
    if unsupported or (placed is not None and _failed(placed)):
        return Verdict.BAD
    verdicts = [one.verdict for one in judged]
    verdicts += [check.verdict for check in support if not _failed(check)]
    return decided(verdicts)


def _summary(judged: Sequence[_Judged], support: Sequence[Check]) -> str:
    valid = sum(1 for one in judged if one.verdict is Verdict.GOOD)
    supported = sum(1 for check in support if check.verdict is Verdict.GOOD)
    unseen = sum(1 for one in judged if one.verdict is Verdict.UNSCORABLE)
    known = len(judged) - unseen
    line = f"{valid} of {known} cited pages hold"
    if not known:
        line = f"whether {unseen} cited pages hold could not be judged"
    elif unseen:
        line += f", {unseen} more could not be judged"
    return f"{line}, {supported} of {len(support)} cited claims supported" if support else line


def _measures(
    run: RunView, judged: Sequence[_Judged], support: Sequence[Check]
) -> dict[str, float]:
    counts = dict.fromkeys(Verdict, 0)
    for one in judged:
        counts[one.verdict] += 1
    claims = [check.verdict for check in support]
    measures = {
        "citations": float(len(run.citations)),
        "cited_pages": float(len(judged)),
        "valid_pages": float(counts[Verdict.GOOD]),
        "invalid_pages": float(counts[Verdict.BAD]),
        "unseen_pages": float(counts[Verdict.UNSCORABLE]),
        "fetched_pages": float(sum(1 for source in run.cited if source.fetches)),
        "claims": float(len(run.episode.answer.claims) if run.episode.answer else 0),
        "supported_claims": float(claims.count(Verdict.GOOD)),
        "unsupported_claims": float(claims.count(Verdict.BAD)),
    }
    share = support_share(support)
    if share is not None:
        measures["support_share"] = share
    return measures
