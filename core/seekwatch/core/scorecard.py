"""The scorecard: what Seekwatch says of one episode, and the envelope of how it reached us.

The scorecard is a pure function of episode, evidence and policy; everything about the way it came
(partition, offsets, closing) is in the envelope. Both are small plain JSON on the scores topic.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from seekwatch.core.model import Record
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason, Verdict

SCHEMA_VERSION = 1
"""Of scorecard, archive and the records on our topics. A reader refuses a newer one."""


class Axis(StrEnum):
    """The four axes. There is no composite of them, anywhere."""

    QUERY_QUALITY = "query_quality"
    SOURCE_FRESHNESS = "source_freshness"
    SOURCE_DIVERSITY = "source_diversity"
    CITATION_VALIDITY = "citation_validity"


class Outcome(StrEnum):
    """How an episode ended: exactly one, by the ordered table in `docs/outcomes.md`."""

    SUCCESS = "success"
    PARTIAL = "partial"
    REFUSAL = "refusal"
    CORRECT_REFUSAL = "correct_refusal"
    WRONG_ANSWER = "wrong_answer"
    ERROR = "error"
    TIMEOUT = "timeout"
    POLICY_VIOLATION = "policy_violation"
    INFRA_ERROR = "infra_error"
    UNKNOWN = "unknown"


class AxisVerdict(Record, frozen=True, kw_only=True):
    """One axis of one episode.

    Attributes:
        score: 0 (worst) to 1 (best); None when unscorable.
        evidence: the one line that decided.
        checks: every check that was asked, in a fixed order.
        spans: ids of the spans the verdict rests on; the first is the one it attaches to.
        measures: named figures that explain the score (ages in days, counts, ratios).
        notes: named words that explain it (the regime, the class of the question).
    """

    axis: Axis
    verdict: Verdict
    evidence: str
    score: float | None = None
    reason: Reason | None = None
    checks: tuple[Check, ...] = ()
    tags: tuple[FailureTag, ...] = ()
    spans: tuple[str, ...] = ()
    measures: Mapping[str, float] = msgspec.field(default_factory=dict[str, float])
    notes: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])


class Escalation(Record, frozen=True, kw_only=True):
    """A target that was got by a stronger adapter than before."""

    source: str
    target: str
    count: int


class Latency(Record, frozen=True, kw_only=True):
    """Seconds.

    Attributes:
        total: of the root span.
        virtual: charged by a replay clock, where the run carries it.
        search, fetch, model: wall time covered by spans of that kind (overlaps counted once).
    """

    total: float
    virtual: float | None = None
    search: float = 0.0
    fetch: float = 0.0
    model: float = 0.0
    time_to_first_token: float | None = None


class Cost(Record, frozen=True, kw_only=True):
    """US dollars.

    Attributes:
        total: None when any part of it is unknown (unknown is not 0).
        model, search: known parts; None where no part of it is known, or there is none.
        unpriced: what had no price, e.g. `model:foo`.
    """

    total: float | None = None
    model: float | None = None
    search: float | None = None
    unpriced: tuple[str, ...] = ()


class Work(Record, frozen=True, kw_only=True):
    """Counts of what the run did, hidden requests included."""

    searches: int = 0
    fetches: int = 0
    requests: int = 0
    retries: int = 0
    redirects: int = 0
    generations: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None


class Truth(Record, frozen=True, kw_only=True):
    """How the answer compares to a truth record; only where one exists. None is 0/0."""

    fact_coverage: float | None = None
    citation_coverage: float | None = None
    citation_support: float | None = None
    matched_facts: tuple[str, ...] = ()
    missing_facts: tuple[str, ...] = ()


class JudgeVerdict(Record, frozen=True, kw_only=True):
    """What a model said of the run, by one rubric: a series apart from the axes.

    Attributes:
        revision: of rubric, prompt and model together.
        score: 0 (worst) to 1 (best); None without a verdict.
        label: as answered, where the rubric has labels.
        evidence: the words that the model judged by, and its reason.
        subject: what was judged, where a run has several (a claim, a URL).
    """

    rubric: str
    revision: str
    model: str
    verdict: Verdict
    evidence: str
    score: float | None = None
    label: str | None = None
    reason: Reason | None = None
    subject: str = ""
    spans: tuple[str, ...] = ()


class Scorecard(Record, frozen=True, kw_only=True):
    """Everything that Seekwatch says of one episode.

    Attributes:
        scorer_revision, policy_revision: what judged.
        axes: all four, in the order of `Axis`.
    """

    trace: str
    root: str
    agent: str
    lane: str
    outcome: Outcome
    outcome_evidence: str
    axes: tuple[AxisVerdict, ...]
    tags: tuple[FailureTag, ...]
    latency: Latency
    cost: Cost
    work: Work
    scorer_revision: str
    policy_revision: str
    start: int
    end: int
    escalations: tuple[Escalation, ...] = ()
    complete: bool = True
    truth: Truth | None = None
    judgements: tuple[JudgeVerdict, ...] = ()
    release: str | None = None
    environment: str | None = None
    region: str | None = None
    case: str | None = None
    question: str | None = None

    def axis(self, axis: Axis) -> AxisVerdict:
        """Return the verdict on one axis."""
        return next(verdict for verdict in self.axes if verdict.axis == axis)


class CloseReason(StrEnum):
    """Why a trace was closed."""

    COMPLETE = "complete"
    IDLE = "idle"
    MAX_AGE = "max_age"
    SPAN_CAP = "span_cap"
    BYTE_CAP = "byte_cap"
    MEMORY = "memory"


class Envelope(Record, frozen=True, kw_only=True):
    """How a trace reached us.

    Attributes:
        first_offsets, last_offsets: per signal (`traces`, `logs`) of the records of the cut.
        closed_at: milliseconds since the epoch on the log's clock.
        revision: 1, or 2 after late spans.
    """

    trace: str
    partition: int
    first_offsets: Mapping[str, int]
    last_offsets: Mapping[str, int]
    reason: CloseReason
    closed_at: int
    revision: int = 1
    late_spans: int = 0
    duplicate_spans: int = 0


class ScoreEntry(Record, frozen=True, kw_only=True):
    """One line of the scores topic."""

    schema: int
    scorecard: Scorecard
    envelope: Envelope


def encode_line(value: msgspec.Struct) -> bytes:
    """Encode as one line of canonical JSON (sorted keys, no NaN): equal values, equal bytes."""
    return _CANONICAL.encode(value)


_CANONICAL = msgspec.json.Encoder(order="deterministic")
