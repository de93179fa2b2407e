"""Evidence: what had to be looked up outside the trace, archived and used again on re-scoring."""

from collections.abc import Iterable

from seekwatch.core.model import Limits, Record
from seekwatch.core.verdicts import Reason


class ExpectedFact(Record, frozen=True, kw_only=True):
    """A fact that a right answer states.

    Attributes:
        match: `text` (case folded, as a phrase), `number`, `regex`, or `any` of `values`.
    """

    name: str
    values: tuple[str, ...]
    match: str = "text"
    required: bool = True


class Forbidden(Record, frozen=True, kw_only=True):
    """A request that the case forbids; every part given must match for it to apply.

    Attributes:
        host: registrable domain or host name; empty matches any.
        path: beginning of the path; empty matches any.
        methods: upper-case methods; empty matches any.
    """

    host: str = ""
    path: str = ""
    methods: tuple[str, ...] = ()


class TruthRecord(Record, frozen=True, kw_only=True):
    """What is known to be true of a case.

    Attributes:
        case: the run's case id that it belongs to.
        allowed_sources: registrable domains; empty allows all.
        refusal_expected: the right answer is to refuse.
        forbidden: requests that the run must not make.
        freshness_window: seconds of age that still count as fresh, in place of the regime's floor.
        limits: what the case allows, beside the run's own limits.
    """

    case: str
    facts: tuple[ExpectedFact, ...] = ()
    allowed_sources: tuple[str, ...] = ()
    refusal_expected: bool = False
    forbidden: tuple[Forbidden, ...] = ()
    freshness_window: float | None = None
    limits: Limits | None = None


class LinkCheck(Record, frozen=True, kw_only=True):
    """What a look at a cited URL found.

    Attributes:
        at: nanoseconds since the epoch.
        source: who looked, e.g. `link-checker`.
        revision: of the checker.
        state: `resolves`, `dead`, `moved` (to another registrable domain) or `unknown`.
    """

    url: str
    at: int
    source: str
    revision: str
    state: str
    status: int | None = None
    final_url: str | None = None


class Judgement(Record, frozen=True, kw_only=True):
    """What a model said of one thing, by a rubric.

    Attributes:
        rubric: its name.
        revision: digest of everything that shapes the verdict: rubric, prompt and model asked.
        model: that answered.
        at: nanoseconds since the epoch.
        subject: what was judged, where a run has several (a claim, a URL).
        judged: the text that the model read, as JSON.
        quote: the words of it that the model judged by.
        rationale: the model's reason, or what was wrong with its answer.
        score: 0 (worst) to 1 (best); None without a verdict.
        label: as answered, where the rubric has labels.
        reason: why there is no verdict.
        spans: that the judged text comes from.
        cost: US dollars; None when unknown or served from memory.
    """

    rubric: str
    revision: str
    model: str
    at: int
    judged: str
    rationale: str
    subject: str = ""
    quote: str = ""
    score: float | None = None
    label: str | None = None
    reason: Reason | None = None
    spans: tuple[str, ...] = ()
    cost: float | None = None


class Evidence(Record, frozen=True, kw_only=True):
    """Everything that was looked up for one episode."""

    truth: TruthRecord | None = None
    links: tuple[LinkCheck, ...] = ()
    judgements: tuple[Judgement, ...] = ()


NO_EVIDENCE = Evidence()
"""Nothing was looked up: the trace speaks for itself."""


def together(parts: Iterable[Evidence]) -> Evidence:
    """Join what several looked up; of two truth records the first counts."""
    found = tuple(parts)
    if len(found) == 1:
        return found[0]
    return Evidence(
        truth=next((part.truth for part in found if part.truth is not None), None),
        links=tuple(link for part in found for link in part.links),
        judgements=tuple(judged for part in found for judged in part.judgements),
    )
