"""What is asked of a cited address: was it seen, does it answer, where does it lead, to what?

The agent's own fetch is the first evidence, the link check that was looked up the second. What
neither could see is unscorable.
"""

from typing import Final

from seekwatch.core.model import Fetch
from seekwatch.core.tags import FailureTag
from seekwatch.core.verdicts import Check, Reason
from seekwatch.processors.sources.page_kinds import USABLE, PageKind
from seekwatch.processors.sources.run_view import RunView, Source, is_success
from seekwatch.processors.text.fold import shortened
from seekwatch.processors.urls import site_of, url_key

Finding = tuple[Check, FailureTag | None]
"""A check, and the tag that it earns when it is bad."""

_DENIED: Final = frozenset({401, 402, 403, 407, 429, 451})
"""Refusals: the page may be there for others."""
_NO_HOST: Final = ("name_not_resolved", "nxdomain", "gaierror", "dns", "name or service")
_KIND_TAGS: Final = {
    PageKind.SOFT_404: FailureTag.SOFT_404,
    PageKind.NOT_FOUND: FailureTag.DEAD_LINK,
    PageKind.LOGIN: FailureTag.LOGIN_WALL,
    PageKind.CHALLENGE: FailureTag.CHALLENGE_CITED,
    PageKind.CONSENT: FailureTag.CONSENT_WALL,
    PageKind.JS_SHELL: FailureTag.EMPTY_BODY,
    PageKind.EMPTY: FailureTag.EMPTY_BODY,
    PageKind.ERROR: FailureTag.SOFT_404,
    PageKind.PARKED: FailureTag.SOFT_404,
}


def seen_check(run: RunView, source: Source) -> Finding:
    """Was the address searched or fetched in this run, or named by the user?"""
    name = "seen"
    url = shortened(source.url, 120)
    if source.fetches:
        return Check.good(name, f"fetched: {url}", subject=source.url, spans=source.spans), None
    if source.results:
        line = f"in search results, never fetched: {url}"
        if run.policy.citation.require_fetch:
            bad = Check.bad(name, line, subject=source.url, spans=source.spans)
            return bad, FailureTag.SNIPPET_CITATION
        # Reported as a tag although good: snippets are weak ground, not a fault by themselves.
        good = Check.good(name, line, subject=source.url, spans=source.spans)
        return good, FailureTag.SNIPPET_CITATION
    if url_key(source.url) is None:
        line = f"not a web address: {url}"
        return Check.unscorable(name, Reason.NOT_APPLICABLE, line, subject=source.url), None
    if _in_question(run, source):
        return Check.good(name, f"named in the question: {url}", subject=source.url), None
    blind = _blindness(run)
    if blind is not None:
        line = f"not in what was seen of this run ({blind[1]}): {url}"
        return Check.unscorable(name, blind[0], line, subject=source.url), None
    line = f"never searched or fetched in this run: {url}"
    bad = Check.bad(name, line, subject=source.url, spans=run.answer_spans)
    return bad, FailureTag.FABRICATED_URL


def _in_question(run: RunView, source: Source) -> bool:
    question = (run.episode.question or "").lower()
    return bool(question) and (source.key in question or source.url.lower() in question)


def _blindness(run: RunView) -> tuple[Reason, str] | None:
    """Why an address that was not seen may have been seen all the same."""
    episode = run.episode
    if not episode.completeness.complete:
        return Reason.INCOMPLETE_TRACE, "the trace is incomplete"
    if any(search.results is None and search.error is None for search in episode.searches):
        return Reason.TRUNCATED, "the results of a search could not be read"
    if not run.searched:
        return Reason.NO_SOURCES, "the trace shows no search and no fetch"
    return None


def resolves_check(run: RunView, source: Source) -> Finding:
    """Does the address answer: by the agent's own fetch, else by the link check."""
    own = None if source.fetch is None else _own_answer(source, source.fetch)
    if own is not None and own[0].verdict != "unscorable":
        return own
    looked = _looked_up(run, source)
    if looked is not None:
        return looked
    if own is not None:
        return own
    line = f"never fetched, not looked up: {shortened(source.url, 120)}"
    return Check.unscorable("resolves", Reason.NOT_FETCHED, line, subject=source.url), None


def _own_answer(source: Source, fetch: Fetch) -> Finding:
    name, url, spans = "resolves", shortened(source.url, 120), (fetch.span,)
    if is_success(fetch):
        line = f"answered {'with a page' if fetch.status is None else fetch.status}: {url}"
        return Check.good(name, line, subject=source.url, spans=spans), None
    status = fetch.status
    if status in _DENIED:
        line = f"answered {status} to the agent: {url}"
        return (
            Check.unscorable(name, Reason.ACCESS_DENIED, line, subject=source.url, spans=spans),
            None,
        )
    if status is not None and status >= 400:
        line = f"answered {status} to the agent: {url}"
        return Check.bad(name, line, subject=source.url, spans=spans), FailureTag.DEAD_LINK
    error = (fetch.error or "").lower()
    if status is None and any(word in error for word in _NO_HOST):
        line = f"host does not exist ({fetch.error}): {url}"
        return Check.bad(name, line, subject=source.url, spans=spans), FailureTag.DEAD_LINK
    line = f"no answer seen ({fetch.error or status or 'no status'}): {url}"
    return Check.unscorable(name, Reason.UNREACHABLE, line, subject=source.url, spans=spans), None


def _looked_up(run: RunView, source: Source) -> Finding | None:
    check = run.link_check(source)
    if check is None or check.state == "unknown":
        return None
    line = f"{check.source} found it {check.state} ({check.status}): {shortened(source.url, 110)}"
    if check.state == "dead":
        return Check.bad("resolves", line, subject=source.url), FailureTag.DEAD_LINK
    return Check.good("resolves", line, subject=source.url), None


def redirect_check(run: RunView, source: Source) -> Finding | None:
    """Did the address lead to another registrable domain? None where nothing redirected."""
    final, spans = _final_url(run, source)
    looked = run.link_check(source)
    if final is None and looked is not None and looked.state == "moved" and not source.fetches:
        line = f"{looked.source} saw it move to another domain: {shortened(source.url, 110)}"
        bad = Check.bad("redirect", line, subject=source.url)
        return bad, FailureTag.CROSS_DOMAIN_REDIRECT
    if final is None or url_key(final) == source.key:
        return None
    here, there = source.site, site_of(final)
    line = f"{shortened(source.url, 85)} led to {shortened(final, 85)}"
    organisations = run.policy.diversity.organisations
    same = here == there or (
        here is not None and organisations.get(here, here) == organisations.get(there or "", there)
    )
    if same or here in run.policy.citation.redirectors or there is None:
        return Check.good("redirect", line, subject=source.url, spans=spans), None
    bad = Check.bad("redirect", line, subject=source.url, spans=spans)
    return bad, FailureTag.CROSS_DOMAIN_REDIRECT


def _final_url(run: RunView, source: Source) -> tuple[str | None, tuple[str, ...]]:
    fetch = source.fetch
    if fetch is not None and is_success(fetch):
        return fetch.final_url, (fetch.span,)
    check = run.link_check(source)
    return (check.final_url if check is not None and check.state != "unknown" else None), ()


def kind_check(run: RunView, source: Source) -> Finding | None:
    """Is what answered a page that one can cite? None where no page was seen."""
    fetch, kind = source.fetch, source.kind
    if fetch is None or kind is None:
        return None
    url, spans = shortened(source.url, 110), (fetch.span,)
    walls = (PageKind.LOGIN, PageKind.CHALLENGE)
    if not is_success(fetch) and kind not in walls:
        return None
    if kind in USABLE:
        line = f"{kind} page: {url}"
        return Check.good("page-kind", line, subject=source.url, spans=spans), None
    if kind is PageKind.UNREAD:
        reason = Reason.NO_CONTENT if run.episode.completeness.withheld else Reason.NO_PAGE
        line = f"no readable page in the trace: {url}"
        return Check.unscorable("page-kind", reason, line, subject=source.url, spans=spans), None
    if kind is PageKind.BLOCKED:
        line = f"blocked page: {url}"
        return (
            Check.unscorable(
                "page-kind", Reason.ACCESS_DENIED, line, subject=source.url, spans=spans
            ),
            None,
        )
    line = f"{kind} page behind {fetch.status or 'the answer'}: {url}"
    return Check.bad("page-kind", line, subject=source.url, spans=spans), _KIND_TAGS[kind]
