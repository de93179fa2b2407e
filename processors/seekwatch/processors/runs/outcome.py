"""How a run ended: one label, by an ordered table of which the first row that matches decides.

`docs/outcomes.md` is the same table for readers; a test holds the two together, row by row.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from seekwatch.core.model import StopReason
from seekwatch.core.scorecard import Axis, AxisVerdict, Outcome, Truth
from seekwatch.core.tags import INVARIANTS, FailureTag
from seekwatch.core.verdicts import Check, Verdict
from seekwatch.processors.runs.conduct import Conduct
from seekwatch.processors.sources.run_view import RunView, is_success
from seekwatch.processors.text.phrases import is_refusal

HARD_CHECKS: Final = {
    Axis.SOURCE_FRESHNESS: frozenset({"caveat"}),
    Axis.SOURCE_DIVERSITY: frozenset({"primary"}),
    Axis.CITATION_VALIDITY: frozenset(
        {"seen", "resolves", "redirect", "page-kind", "passage", "source-allowed"}
    ),
}
"""Checks whose `bad` forbids `success`. An axis that is bad on `support` or `claims-cited` as a
whole does too (row `unsupported-answer`). Query quality has none: a run may well come out right
with a poor query, and measured it does."""

_SUPPORT_CHECKS: Final = frozenset({"support", "claims-cited"})
_TIMEOUT_WORDS: Final = ("timeout", "timed_out", "timedout", "deadline")
_OUTSIDE_WORDS: Final = (
    "overloaded",
    "ratelimit",
    "internalserver",
    "serviceunavailable",
    "badgateway",
    "modelserver",
    "apiconnection",
    "connecterror",
    "connectionerror",
    "remoteprotocol",
    "429",
    "500",
    "502",
    "503",
    "529",
)
"""Parts of an `error.type` (lower case, no underscores) that lay the fault outside the agent."""
_ANSWERING_KINDS: Final = frozenset({None, "AGENT", "WORKFLOW", "CHAIN"})
"""Kinds of root that owe an answer; a lone model or tool call does not. None: nobody said."""
_CUT_SHORT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the table looks at."""

    run: RunView
    axes: tuple[AxisVerdict, ...]
    conduct: tuple[Conduct, ...]
    truth: Truth | None

    @property
    def text(self) -> str:
        """The answer's text, stripped."""
        answer = self.run.episode.answer
        return "" if answer is None else answer.text.strip()

    @property
    def refused(self) -> bool:
        """The run says that it refused, or its answer does."""
        stopped = self.run.episode.stop_reason is StopReason.REFUSED
        return stopped or (bool(self.text) and is_refusal(self.text))

    @property
    def refusal_expected(self) -> bool:
        """A truth record says that refusing is right."""
        record = self.run.evidence.truth
        return record is not None and record.refusal_expected

    def failed_hard_checks(self) -> list[Check]:
        """Hard checks that are bad, in the order of the axes."""
        return [
            check
            for axis in self.axes
            for check in axis.checks
            if check.verdict is Verdict.BAD and check.name in HARD_CHECKS.get(axis.axis, ())
        ]


Row = tuple[str, Outcome, Callable[[Facts], str | None]]
"""Name, label, and the test: the line of evidence when the row applies, else None."""


def outcome(facts: Facts) -> tuple[Outcome, str]:
    """The label of a run and the line that says why."""
    for name, label, applies in TABLE:
        evidence = applies(facts)
        if evidence is not None:
            return label, f"{name}: {evidence}"
    return Outcome.UNKNOWN, "no row applies"


def _invariant_broken(facts: Facts) -> str | None:
    broken = frozenset[FailureTag]().union(*INVARIANTS.values())
    return next((item.evidence for item in facts.conduct if item.tag in broken), None)


def _deadline(facts: Facts) -> str | None:
    episode = facts.run.episode
    if episode.stop_reason is StopReason.DEADLINE:
        return "the run was stopped by its deadline"
    error = (episode.root_error or "").lower()
    if any(word in error for word in _TIMEOUT_WORDS):
        return f"the run ended in {episode.root_error}"
    limit = episode.limits.stated("deadline")
    if not facts.text and limit is not None and episode.duration >= limit:
        return f"no answer after {episode.duration:.1f} s, deadline {limit:g} s"
    return None


def _correct_refusal(facts: Facts) -> str | None:
    expected = facts.refusal_expected and facts.refused
    return "refused, as the truth record expects" if expected else None


def _should_have_refused(facts: Facts) -> str | None:
    wrong = facts.refusal_expected and bool(facts.text) and not facts.refused
    return "answered, where the truth record expects a refusal" if wrong else None


def _refused(facts: Facts) -> str | None:
    if not facts.refused:
        return None
    return "the agent refused or found nothing, and said so"


def _infrastructure(facts: Facts) -> str | None:
    """No answer, and what failed is no part of the agent."""
    episode = facts.run.episode
    if facts.text:
        return None
    if episode.generations and all(item.error is not None for item in episode.generations):
        return f"every model call failed ({episode.generations[-1].error})"
    error = (episode.root_error or "").lower().replace("_", "")
    if any(word in error for word in _OUTSIDE_WORDS):
        return f"the run ended in {episode.root_error}"
    looked_up = [*episode.searches, *episode.fetches]
    failed = [item for item in episode.searches if item.error is not None]
    failed_fetches = [item for item in episode.fetches if not is_success(item)]
    if looked_up and len(failed) + len(failed_fetches) == len(looked_up):
        return f"all {len(looked_up)} searches and fetches failed"
    return None


def _crashed(facts: Facts) -> str | None:
    episode = facts.run.episode
    if episode.stop_reason is StopReason.CRASHED:
        return f"the run crashed ({episode.root_error or 'no error named'})"
    if episode.root_error is not None and not facts.text:
        return f"no answer, the run ended in {episode.root_error}"
    return None


def _out_of_budget(facts: Facts) -> str | None:
    stopped = facts.run.episode.stop_reason is StopReason.BUDGET and not facts.text
    return "no answer, the run was stopped by its budget" if stopped else None


def _blind(facts: Facts) -> str | None:
    episode = facts.run.episode
    if facts.text:
        return None
    if episode.completeness.withheld:
        return "the agent sends no content, so its answer was not seen"
    if not episode.completeness.complete:
        return "no answer seen, and the trace is incomplete"
    if episode.answer is not None:
        # It was seen and says nothing.
        return None
    if episode.stop_reason is StopReason.ANSWERED:
        return "the run says that it answered, the answer was not seen"
    if episode.question is None:
        return "neither a question nor an answer was seen: the trace may hold no content"
    if episode.root_kind not in _ANSWERING_KINDS:
        return f"no agent in this trace to expect an answer from (root: {episode.root_kind})"
    return None


def _no_answer(facts: Facts) -> str | None:
    if facts.text:
        return None
    empty = facts.run.episode.answer is not None
    return "the run's answer is empty" if empty else "the run ended without an answer"


def _wrong(facts: Facts) -> str | None:
    if facts.truth is not None and facts.truth.fact_coverage == 0:
        return "states none of the required facts"
    return None


def _incomplete_facts(facts: Facts) -> str | None:
    truth = facts.truth
    if truth is None or truth.fact_coverage is None or truth.fact_coverage == 1:
        return None
    missing = ", ".join(truth.missing_facts[:3])
    return f"{truth.fact_coverage:.0%} of the required facts; missing {missing}"


def _cut_short(facts: Facts) -> str | None:
    episode = facts.run.episode
    if episode.stop_reason is StopReason.BUDGET:
        return "answered, but the run was stopped by its budget"
    answer = episode.answer
    for generation in episode.generations:
        wrote = answer is not None and generation.span == answer.span
        if wrote and _CUT_SHORT & set(generation.finish_reasons):
            return "the answer was cut off at the model's output limit"
    return None


def _hard_check_failed(facts: Facts) -> str | None:
    failed = facts.failed_hard_checks()
    if not failed:
        return None
    rest = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return f"{failed[0].name}: {failed[0].evidence}{rest}"


def _unsupported(facts: Facts) -> str | None:
    axis = next(item for item in facts.axes if item.axis is Axis.CITATION_VALIDITY)
    if axis.verdict is not Verdict.BAD:
        return None
    failed = [check for check in axis.checks if check.verdict is Verdict.BAD]
    return next((check.evidence for check in failed if check.name in _SUPPORT_CHECKS), None)


def _answered(facts: Facts) -> str | None:
    return "an answer, and no hard check failed" if facts.text else None


TABLE: Final[tuple[Row, ...]] = (
    ("invariant-broken", Outcome.POLICY_VIOLATION, _invariant_broken),
    ("deadline", Outcome.TIMEOUT, _deadline),
    ("correct-refusal", Outcome.CORRECT_REFUSAL, _correct_refusal),
    ("should-have-refused", Outcome.WRONG_ANSWER, _should_have_refused),
    ("refused", Outcome.REFUSAL, _refused),
    ("infrastructure", Outcome.INFRA_ERROR, _infrastructure),
    ("crashed", Outcome.ERROR, _crashed),
    ("out-of-budget", Outcome.ERROR, _out_of_budget),
    ("blind", Outcome.UNKNOWN, _blind),
    ("no-answer", Outcome.ERROR, _no_answer),
    ("wrong-answer", Outcome.WRONG_ANSWER, _wrong),
    ("missing-facts", Outcome.PARTIAL, _incomplete_facts),
    ("cut-short", Outcome.PARTIAL, _cut_short),
    ("hard-check", Outcome.PARTIAL, _hard_check_failed),
    ("unsupported-answer", Outcome.PARTIAL, _unsupported),
    ("answered", Outcome.SUCCESS, _answered),
)
"""First match wins. The last two rows but one make sure that an answer alone is no success."""
