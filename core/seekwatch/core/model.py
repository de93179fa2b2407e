"""The episode: one agent run as the scorers see it, whatever wrote the spans.

Normalisation turns spans of any dialect into these values; scoring reads nothing else. All of it is
immutable and plain data, so an archived episode scores the same next year. `None` means that the
trace did not say; an empty value means that it said "nothing". Times are nanoseconds since the Unix
epoch, as in OTLP; durations are seconds.
"""

import math
from enum import StrEnum

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of the values below: immutable, named fields, absent when unknown."""


class Lane(StrEnum):
    """Where a run comes from. Alerts read `live` alone."""

    LIVE = "live"
    NONPRODUCTION = "nonproduction"
    FIXTURE = "fixture"
    CANARY = "canary"
    REPLAY = "replay"


class Adapter(StrEnum):
    """How a page was got, weakest first: the order is the escalation ladder."""

    CACHE = "cache"
    FETCH = "fetch"
    SEARCH = "search"
    CRAWL = "crawl"
    BROWSER = "browser"
    STEALTH = "stealth"


class Action(StrEnum):
    """What a request may change on the other side."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


class StopReason(StrEnum):
    """Why the run ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    DEADLINE = "deadline"
    BUDGET = "budget"
    CRASHED = "crashed"


class CacheState(StrEnum):
    """What a response says of the cache between the agent and the origin."""

    MISS = "miss"
    HIT = "hit"
    REVALIDATED = "revalidated"
    STALE = "stale"


class Provenance(Record, frozen=True, kw_only=True):
    """Where a recovered value stood, so that a person can look it up.

    Attributes:
        span: span id, 16 hex characters.
        key: the attribute (or `event:<name>`, `log:<name>`) it was read from.
    """

    span: str
    key: str


class PageDate(Record, frozen=True, kw_only=True):
    """A date of a source and how it was found.

    Attributes:
        at: nanoseconds since the epoch (midnight UTC for a bare date).
        method: where from, e.g. `provider`, `json-ld`, `meta`, `time-element`, `url`, `text`,
            `last-modified`.
        confidence: 0 to 1.
    """

    at: int
    method: str
    confidence: float


class SearchResult(Record, frozen=True, kw_only=True):
    """One result of a search, as the provider gave it.

    Attributes:
        rank: 1 is the first.
        score: the provider's own; scores of different providers do not compare.
        published: the provider's date.
        authority: 0 to 1 where the provider gives one.
    """

    rank: int
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    published: PageDate | None = None
    score: float | None = None
    authority: float | None = None


class Search(Record, frozen=True, kw_only=True):
    """One call to a retriever.

    Attributes:
        results: None when they could not be read (`unread_reason` says why); empty when the
            provider found nothing.
    """

    span: str
    start: int
    end: int
    query: str | None = None
    provider: str | None = None
    results: tuple[SearchResult, ...] | None = None
    unread_reason: str | None = None
    error: str | None = None
    provenance: Provenance | None = None


class Hop(Record, frozen=True, kw_only=True):
    """One redirect that was followed."""

    url: str
    status: int
    location: str | None = None


class Validators(Record, frozen=True, kw_only=True):
    """Cache validators and caching headers, values as they were on the wire."""

    if_none_match: str | None = None
    if_modified_since: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    date: str | None = None
    age: str | None = None
    expires: str | None = None
    cache_control: str | None = None
    vary: str | None = None
    retry_after: str | None = None


class Page(Record, frozen=True, kw_only=True):
    """What a fetch brought, reduced to what scorers read.

    Attributes:
        content_hash: `sha256:…` over the body as the agent received it.
        text: visible text, white space folded, capped; None when there was no readable body.
        truncated: `text` is only the beginning, because the body in the trace was or because the
            text was cut at its cap.
        language: BCP 47 tag from the page, where it says.
        signals: what the page carries that tells its kind (e.g. `password-field`), from a closed
            set in `processors/pages/signals.py`.
    """

    content_hash: str | None = None
    content_type: str | None = None
    title: str | None = None
    text: str | None = None
    byte_count: int | None = None
    truncated: bool = False
    language: str | None = None
    canonical_url: str | None = None
    published: PageDate | None = None
    modified: PageDate | None = None
    signals: tuple[str, ...] = ()


class Fetch(Record, frozen=True, kw_only=True):
    """One attempt to get a page or to call a tool over the wire.

    Attributes:
        attempt: ordinal at the same method and URL in this run, from 1.
        duration: seconds.
        error: the closed `error.type` word, never an exception message.
        retrieved_at: when the body was complete.
        cache_scope: whose cache entry answered, where the agent says.
    """

    span: str
    start: int
    end: int
    adapter: Adapter
    url: str
    method: str = "GET"
    final_url: str | None = None
    hops: tuple[Hop, ...] = ()
    status: int | None = None
    duration: float | None = None
    error: str | None = None
    validators: Validators | None = None
    cache_state: CacheState | None = None
    cache_scope: str | None = None
    attempt: int = 1
    crawl_depth: int | None = None
    page_load: str | None = None
    action: Action = Action.READ
    page: Page | None = None
    retrieved_at: int | None = None


class Generation(Record, frozen=True, kw_only=True):
    """One call to a model.

    Attributes:
        input_tokens: total, cached input included (GenAI convention).
        cost: US dollars as the gateway reported it; None when it did not. Zero is a real zero.
        time_to_first_token: seconds.
        fallback: the gateway's first choice did not answer, another did.
    """

    span: str
    start: int
    end: int
    model: str | None = None
    provider: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    finish_reasons: tuple[str, ...] = ()
    time_to_first_token: float | None = None
    fallback: bool | None = None
    error: str | None = None


class RailResult(Record, frozen=True, kw_only=True):
    """What a guardrail or evaluator inside the agent said; never work, never cost."""

    span: str
    name: str
    label: str | None = None
    score: float | None = None


class Citation(Record, frozen=True, kw_only=True):
    """A source that the answer names.

    Attributes:
        start, end: half-open character range in the answer of the mark, where known.
        quote: the passage that the answer quotes or says it rests on.
    """

    url: str
    title: str | None = None
    quote: str | None = None
    start: int | None = None
    end: int | None = None


class Claim(Record, frozen=True, kw_only=True):
    """A statement of the answer.

    Attributes:
        start, end: half-open character range in the answer.
        citations: indices into the answer's citations.
    """

    text: str
    start: int
    end: int
    citations: tuple[int, ...] = ()


class Answer(Record, frozen=True, kw_only=True):
    """What the agent told its user."""

    text: str
    span: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()


class Limits(Record, frozen=True, kw_only=True):
    """What the run was allowed; None is no limit.

    Attributes:
        deadline: seconds.
        budget: US dollars.
    """

    deadline: float | None = None
    budget: float | None = None
    attempts: int | None = None
    retries: int | None = None
    requests: int | None = None
    crawl_depth: int | None = None
    escalations: int | None = None

    def stated(self, name: str) -> float | None:
        """Return a limit by its name; None without one, or one that is no finite number.

        JSON has no other numbers, so such a limit would be gone once it was archived.
        """
        limit: float | None = getattr(self, name)
        return limit if limit is None or math.isfinite(limit) else None


class RunContext(Record, frozen=True, kw_only=True):
    """Who ran what for whom, from the root span and its resource."""

    agent: str
    lane: Lane = Lane.LIVE
    service: str | None = None
    release: str | None = None
    environment: str | None = None
    case: str | None = None
    corpus: str | None = None
    region: str | None = None
    configuration: str | None = None
    principal: str | None = None
    session: str | None = None
    as_of: int | None = None
    freshness_regime: str | None = None
    virtual_seconds: float | None = None


class Completeness(Record, frozen=True, kw_only=True):
    """What is known to be missing from the trace.

    Attributes:
        missing_parents: spans whose local parent never arrived.
        dropped_attributes: attributes that an SDK's limits dropped.
        truncated_spans: spans left out by a span or byte cap.
        withheld: the agent sends no content, by choice.
    """

    root_seen: bool = True
    missing_parents: int = 0
    dropped_attributes: int = 0
    truncated_spans: int = 0
    withheld: bool = False
    undecodable_spans: int = 0

    @property
    def complete(self) -> bool:
        """Tell whether nothing is known to be missing."""
        return (
            self.root_seen
            and not self.missing_parents
            and not self.dropped_attributes
            and not self.truncated_spans
            and not self.undecodable_spans
        )


class Episode(Record, frozen=True, kw_only=True):
    """One agent run, assembled and normalised.

    Attributes:
        trace: trace id, 32 hex characters.
        root: span id of the topmost agent or workflow span, else of the topmost span.
        start, end: of the root, or of the earliest and latest span without one.
        answer_candidates: how many spans could have been the one that wrote the answer.
        root_error: `error.type` of the root when it ended in error.
    """

    trace: str
    root: str
    start: int
    end: int
    context: RunContext
    question: str | None = None
    answer: Answer | None = None
    searches: tuple[Search, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    generations: tuple[Generation, ...] = ()
    rails: tuple[RailResult, ...] = ()
    limits: Limits = Limits()
    stop_reason: StopReason | None = None
    root_error: str | None = None
    root_kind: str | None = None
    answer_candidates: int = 0
    span_count: int = 0
    dialects: tuple[str, ...] = ()
    completeness: Completeness = Completeness()

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return max(0, self.end - self.start) / 1e9

    @property
    def as_of(self) -> int:
        """The moment that ages count from."""
        return self.start if self.context.as_of is None else self.context.as_of
