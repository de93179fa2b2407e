"""Policy: every threshold, floor, cap, price and prohibition, as data with a schema and a revision.

The defaults are this module's field defaults; a user's file overrides what it names. Scoring takes
the policy as an argument, so two policies can be compared on the same archive.
"""

import hashlib
import json
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seekwatch.core.errors import ConfigurationError, why_unreadable

POLICY_SCHEMA: Final = 1

Share = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]
Dollars = Annotated[float, Field(ge=0)]

_DAY: Final = 86_400.0


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Regime(StrEnum):
    """How fast the answer to a question changes."""

    INSENSITIVE = "insensitive"
    SLOW = "slow"
    FAST = "fast"
    REAL_TIME = "real-time"


class FreshnessRule(StrEnum):
    """Which of the three freshness checks decides the axis."""

    YOUNGEST = "youngest"
    MEDIAN = "median"
    SHARE = "share"


class QueryPolicy(_Section):
    """Thresholds of query quality.

    Attributes:
        minimum_constraints: share of the question's constraints that the queries together must
            keep. 1.0: every one.
        minimum_entities: share of its names that they must keep. 0 switches the check off.
        minimum_content: share of its content words below which a query is over-broad. 0 switches
            the check off.
    """

    minimum_constraints: Share = 1.0
    minimum_entities: Share = 0.5
    minimum_content: Share = 0.25


class FreshnessPolicy(_Section):
    """Thresholds of source freshness.

    Attributes:
        floors: seconds of age that still count as fresh, by regime; a regime without one
            (insensitive) is never stale.
        rule: which check decides the axis; `youngest` predicts right answers, the median does not.
        minimum_share: of dated cited sources inside the floor, for the `share` check.
        minimum_confidence: dates found with less are treated as unknown.
    """

    floors: dict[Regime, Seconds] = {
        Regime.SLOW: 365 * _DAY,
        Regime.FAST: 30 * _DAY,
        Regime.REAL_TIME: 2 * _DAY,
    }
    rule: FreshnessRule = FreshnessRule.YOUNGEST
    minimum_share: Share = 0.5
    minimum_confidence: Share = 0.5


class DiversityPolicy(_Section):
    """Thresholds of source diversity.

    Attributes:
        floor_factual, floor_synthesis: fewest distinct registrable domains among the cited
            sources, by class of question.
        domain_cap: most citations of one registrable domain; 0 is no cap.
        near_duplicate: share (0 to 100) of the shorter page's word 5-grams that another page must
            hold for the two to count as one. Half finds cut, framed and reordered copies and has
            merged no two different stories in what was measured.
        organisations: registrable domain to the organisation that it counts as.
        primary_domains: registrable domains that are primary sources beside the built-in kinds.
    """

    floor_factual: Annotated[int, Field(ge=1)] = 2
    floor_synthesis: Annotated[int, Field(ge=1)] = 4
    domain_cap: Annotated[int, Field(ge=0)] = 2
    near_duplicate: Annotated[float, Field(ge=0, le=100)] = 50.0
    organisations: dict[str, str] = {}
    primary_domains: frozenset[str] = frozenset()


class CitationPolicy(_Section):
    """Thresholds of citation validity.

    Attributes:
        passage_similarity: 0 to 100, how close a quotation must be to the page.
        support_overlap: share of a claim's content words that the cited page must hold.
        minimum_supported: share of an answer's judged claims that their cited pages must support.
            0 switches the check's weight off; single claims are still reported.
        minimum_cited: share of an answer's claims that must have a citation, where the places of
            the citations are known. 0 switches the check off.
        require_citations: an answer that rests on web sources and cites none is bad.
        require_fetch: a cited page that was only seen in search results is bad (`snippet`).
        redirectors: registrable domains whose job is to lead elsewhere; leaving them is no finding.
    """

    passage_similarity: Annotated[float, Field(ge=0, le=100)] = 90.0
    support_overlap: Share = 0.4
    minimum_supported: Share = 0.5
    minimum_cited: Share = 0.5
    require_citations: bool = True
    require_fetch: bool = False
    redirectors: frozenset[str] = frozenset(
        {
            "bit.ly",
            "doi.org",
            "goo.gl",
            "handle.net",
            "lnkd.in",
            "ow.ly",
            "purl.org",
            "t.co",
            "tinyurl.com",
            "w3id.org",
            "youtu.be",
        }
    )


class Prohibition(_Section):
    """Requests that policy forbids; every pattern given must match for it to apply.

    Attributes:
        host: registrable domain or host name, exact; empty matches any.
        path: beginning of the path; empty matches any.
        methods: upper-case methods; empty matches any.
    """

    host: str = ""
    path: str = ""
    methods: frozenset[str] = frozenset()


class ConductPolicy(_Section):
    """What a run may do, beside its own limits.

    Attributes:
        forbidden: prohibited requests.
        attempts_cap: most attempts at one URL before it is a retry storm; 0 is no cap.
        auth_loop: fetches that end on a login page of one domain before it is a loop.
    """

    forbidden: tuple[Prohibition, ...] = ()
    attempts_cap: Annotated[int, Field(ge=0)] = 5
    auth_loop: Annotated[int, Field(ge=1)] = 3


class ModelPrice(_Section):
    """US dollars per million tokens. A missing cached price is the input price."""

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None


class JudgePolicy(_Section):
    """Thresholds of what models say; they decide no axis and no outcome.

    Attributes:
        minimum: least score (0 to 1) that is good. 0.75 is 4 on a scale from 1 to 5.
        minimums: the same by rubric.
    """

    minimum: Share = 0.75
    minimums: dict[str, Share] = {}


class PricePolicy(_Section):
    """Prices. What has none is unpriced, and a run with an unpriced part has an unknown cost.

    Attributes:
        models: by model name; a name also covers dated variants that begin with it.
        searches: US dollars per call, by provider; a provider without one is free of charge only
            if `unpriced_searches_are_free`.
    """

    models: dict[str, ModelPrice] = {}
    searches: dict[str, Dollars] = {}
    unpriced_searches_are_free: bool = True


class LanePolicy(_Section):
    """Which environments count as production.

    Attributes:
        production: values of `deployment.environment.name` whose runs are `live`; a run without an
            environment is `live` too.
    """

    production: frozenset[str] = frozenset({"production", "prod", "live"})


class Policy(_Section):
    """The whole policy. `revision` changes when and only when a value does."""

    schema_version: Annotated[int, Field(alias="schema")] = POLICY_SCHEMA
    query: QueryPolicy = QueryPolicy()
    freshness: FreshnessPolicy = FreshnessPolicy()
    diversity: DiversityPolicy = DiversityPolicy()
    citation: CitationPolicy = CitationPolicy()
    conduct: ConductPolicy = ConductPolicy()
    prices: PricePolicy = PricePolicy()
    lanes: LanePolicy = LanePolicy()
    judges: JudgePolicy = JudgePolicy()

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @cached_property
    def revision(self) -> str:
        """Twelve hex digits over every value, so that equal policies have equal revisions."""
        canonical = json.dumps(_sorted(self.model_dump(mode="python")), sort_keys=True, default=str)
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def load_policy(path: Path) -> Policy:
    """Read a policy from a YAML or JSON file.

    Raises:
        ConfigurationError: unreadable, of another schema, or a key or value that is wrong; it names
            the key, the value and the fix.
    """
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("policy", str(path), why_unreadable(error)) from error
    except yaml.YAMLError as error:
        raise ConfigurationError("policy", str(path), f"is no YAML: {error}") from error
    if document is None:
        document = {}
    if not isinstance(document, dict):
        raise ConfigurationError("policy", str(path), "must be a mapping of sections")
    return parse_policy(cast("dict[str, Any]", document))


def parse_policy(document: dict[str, Any]) -> Policy:
    """Check a policy that was read already.

    Raises:
        ConfigurationError: as `load_policy`.
    """
    version = document.get("schema", POLICY_SCHEMA)
    if version != POLICY_SCHEMA:
        raise ConfigurationError(
            "policy.schema", version, f"this version reads schema {POLICY_SCHEMA}"
        )
    try:
        return Policy.model_validate(document)
    except ValidationError as error:
        raise configuration_error(error, "policy") from error


def configuration_error(error: ValidationError, prefix: str) -> ConfigurationError:
    """Turn the first finding of a validation into an error that names key, value and fix."""
    finding = error.errors(include_url=False)[0]
    key = ".".join((prefix, *(str(part) for part in finding["loc"])))
    if finding["type"] == "extra_forbidden":
        return ConfigurationError(key, finding["input"], "no such key; remove it or mend its name")
    return ConfigurationError(key, finding["input"], finding["msg"])


def _sorted(value: Any) -> Any:
    """Give sets an order, so that the revision does not depend on hashing."""
    if isinstance(value, dict):
        return {str(key): _sorted(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, frozenset | set):
        return sorted(str(item) for item in cast("set[Any]", value))
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in cast("list[Any]", value)]
    return value
