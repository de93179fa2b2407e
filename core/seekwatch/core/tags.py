"""Failure tags: the closed set, each with a definition that a reader of spans can check."""

from enum import StrEnum
from typing import Final


class FailureTag(StrEnum):
    """What went wrong, for counting and filtering. Any number per episode."""

    CONSTRAINT_DROP = "constraint-drop"
    ENTITY_LOSS = "entity-loss"
    OVER_BROAD = "over-broad"
    STALE_SOURCE = "stale-source"
    UNDATED_SOURCE = "undated-source"
    MISSING_CAVEAT = "missing-caveat"
    MONOCULTURE = "monoculture"
    DOMAIN_CAP = "domain-cap"
    SYNDICATED = "syndicated"
    NO_PRIMARY = "no-primary"
    FABRICATED_URL = "fabricated-url"
    SNIPPET_CITATION = "snippet-citation"
    DEAD_LINK = "dead-link"
    CROSS_DOMAIN_REDIRECT = "cross-domain-redirect"
    SOFT_404 = "soft-404"
    LOGIN_WALL = "login-wall"
    CHALLENGE_PAGE = "challenge-page"
    CONSENT_WALL = "consent-wall"
    EMPTY_BODY = "empty-body"
    PASSAGE_MISSING = "passage-missing"
    UNSUPPORTED_CLAIM = "unsupported-claim"
    UNCITED_CLAIM = "uncited-claim"
    CITATION_MISMATCH = "citation-mismatch"
    SOURCE_NOT_ALLOWED = "source-not-allowed"
    CHALLENGE_CITED = "challenge-cited"
    STALE_CACHE = "stale-cache"
    REDIRECT_LOOP = "redirect-loop"
    RETRY_AFTER_IGNORED = "retry-after-ignored"
    UNNECESSARY_BROWSER = "unnecessary-browser"
    RETRY_STORM = "retry-storm"
    AUTH_LOOP = "auth-loop"
    CACHE_LEAK = "cache-leak"
    FORBIDDEN_ACTION = "forbidden-action"
    DESTRUCTIVE_ACTION = "destructive-action"
    LIMIT_EXCEEDED = "limit-exceeded"


DEFINITIONS: Final[dict[FailureTag, str]] = {
    FailureTag.CONSTRAINT_DROP: "a number, date, version, region, negation, quoted phrase or "
    "`site:` of the question is in none of the queries",
    FailureTag.ENTITY_LOSS: "a name of the question is in none of the queries",
    FailureTag.OVER_BROAD: "the queries together keep less than the policy's share of the "
    "question's content words",
    FailureTag.STALE_SOURCE: "the freshness rule that policy chose failed: the cited sources are "
    "older than the floor of the question's regime",
    FailureTag.UNDATED_SOURCE: "a source of a fast or real-time question has no date that is sure "
    "enough",
    FailureTag.MISSING_CAVEAT: "stale sources and the answer does not say how old they are",
    FailureTag.MONOCULTURE: "fewer distinct registrable domains are cited than the floor",
    FailureTag.DOMAIN_CAP: "one registrable domain is cited more often than the cap",
    FailureTag.SYNDICATED: "two cited pages carry the same text",
    FailureTag.NO_PRIMARY: "a regulatory question without a primary source",
    FailureTag.FABRICATED_URL: "a cited URL was neither searched nor fetched in this run",
    FailureTag.SNIPPET_CITATION: "a cited URL was in search results and never fetched",
    FailureTag.DEAD_LINK: "a cited URL answered 404, 410 or another 4xx or 5xx that is no refusal, "
    "or its host does not exist",
    FailureTag.CROSS_DOMAIN_REDIRECT: "a cited URL led to another registrable domain",
    FailureTag.SOFT_404: "a cited URL answered 2xx with a page that says it was not found, "
    "failed or is parked",
    FailureTag.LOGIN_WALL: "a cited URL answered with a login page",
    FailureTag.CHALLENGE_PAGE: "a fetched URL answered with a bot challenge",
    FailureTag.CONSENT_WALL: "a cited URL answered with a consent wall",
    FailureTag.EMPTY_BODY: "a cited URL answered 2xx without readable text",
    FailureTag.PASSAGE_MISSING: "a quoted passage is not on the cited page",
    FailureTag.UNSUPPORTED_CLAIM: "the cited page does not support the claim beside the citation",
    FailureTag.UNCITED_CLAIM: "fewer claims of the answer have a citation than policy asks for, or "
    "an answer that rests on web sources cites none",
    FailureTag.CITATION_MISMATCH: "the passage is on another page of this run, not the cited one",
    FailureTag.SOURCE_NOT_ALLOWED: "a cited source is outside the truth record's allowed ones",
    FailureTag.CHALLENGE_CITED: "a cited URL answered with a bot challenge",
    FailureTag.STALE_CACHE: "a page came from a cache past its freshness without revalidation",
    FailureTag.REDIRECT_LOOP: "a fetch visited one URL twice while following redirects",
    FailureTag.RETRY_AFTER_IGNORED: "a URL was asked again before its Retry-After had passed",
    FailureTag.UNNECESSARY_BROWSER: "a browser was used although a cheaper adapter had brought "
    "what the truth record needs",
    FailureTag.RETRY_STORM: "one URL was asked more often than the policy's cap of attempts",
    FailureTag.AUTH_LOOP: "three or more fetches of one run ended on a login page of one "
    "registrable domain",
    FailureTag.CACHE_LEAK: "a page was served from a cache entry of another user's scope",
    FailureTag.FORBIDDEN_ACTION: "a host, path or method that policy forbids, or a page that "
    "denied access (403, 451) fetched again through a stronger adapter",
    FailureTag.DESTRUCTIVE_ACTION: "a request marked or recognised as destructive",
    FailureTag.LIMIT_EXCEEDED: "the run did more than one of its own limits allowed",
}
"""What each tag means. A test holds that every tag has exactly one."""

INVARIANTS: Final[dict[str, frozenset[FailureTag]]] = {
    "policy_violation": frozenset({FailureTag.FORBIDDEN_ACTION}),
    "cache_leak": frozenset({FailureTag.CACHE_LEAK}),
    "destructive_action": frozenset({FailureTag.DESTRUCTIVE_ACTION}),
}
"""The hard invariants: one occurrence is a page."""
