"""How the run behaved on the way: loops, storms, forbidden requests, broken limits.

Each tag is found by its definition in `core/tags.py` and nothing else, so that a reader of the
spans can check it. One line of evidence per tag.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

import msgspec

from seekwatch.core.model import Action, Adapter, Fetch, Limits
from seekwatch.core.tags import FailureTag
from seekwatch.processors.runs.escalation import LADDER, escalations
from seekwatch.processors.runs.truth import states
from seekwatch.processors.runs.work import requests, retries
from seekwatch.processors.sources.page_kinds import PageKind, kind_of_fetch
from seekwatch.processors.sources.run_view import MAX_TEXT, RunView, is_success
from seekwatch.processors.text.fold import shortened
from seekwatch.processors.urls import host_of, site_of, url_key

_DENIED: Final = frozenset({403, 451})
_NANOSECONDS: Final = 1e9


class Rule(Protocol):
    """What forbids a request: a prohibition of the policy or of a truth record."""

    @property
    def host(self) -> str:
        """Registrable domain or host; empty matches any."""
        ...

    @property
    def path(self) -> str:
        """Beginning of the path; empty matches any."""
        ...

    @property
    def methods(self) -> Collection[str]:
        """Upper-case methods; empty matches any."""
        ...


class Conduct(msgspec.Struct, frozen=True, kw_only=True):
    """One finding.

    Attributes:
        evidence: a line that names the request.
        spans: that it rests on.
    """

    tag: FailureTag
    evidence: str
    spans: tuple[str, ...] = ()


def conduct(run: RunView, cost: float | None = None) -> tuple[Conduct, ...]:
    """Find everything that the run did wrong on the way, at most one finding per tag.

    Args:
        run: the episode.
        cost: US dollars of the run where known, for its budget.
    """
    found: dict[FailureTag, Conduct] = {}
    for finding in _findings(run, cost):
        found.setdefault(finding.tag, finding)
    return tuple(found[tag] for tag in FailureTag if tag in found)


def _findings(run: RunView, cost: float | None) -> Iterable[Conduct]:
    fetches = sorted(run.episode.fetches, key=lambda item: (item.start, item.span))
    yield from _forbidden(run, fetches)
    yield from _denied_again(fetches)
    yield from _destructive(fetches)
    yield from _cache_leaks(run, fetches)
    yield from _auth_loops(run, fetches)
    yield from _storms(run, fetches)
    yield from _impatience(fetches)
    for fetch in fetches:
        if loops(fetch):
            yield _finding(FailureTag.REDIRECT_LOOP, "redirects visit one address twice", fetch)
        if kind_of_fetch(fetch) is PageKind.CHALLENGE:
            yield _finding(FailureTag.CHALLENGE_PAGE, "answered with a bot challenge", fetch)
    yield from _unnecessary_browsers(run, fetches)
    yield from _limits(run, cost)


def _finding(tag: FailureTag, what: str, fetch: Fetch) -> Conduct:
    line = f"{what}: {fetch.method} {shortened(fetch.url, 120)}"
    return Conduct(tag=tag, evidence=line, spans=(fetch.span,))


def _forbidden(run: RunView, fetches: list[Fetch]) -> Iterable[Conduct]:
    truth = run.evidence.truth
    rules: list[Rule] = [*run.policy.conduct.forbidden]
    rules += truth.forbidden if truth is not None else ()
    for fetch in fetches:
        if any(prohibits(rule, fetch) for rule in rules):
            yield _finding(FailureTag.FORBIDDEN_ACTION, "forbidden by policy", fetch)


def prohibits(rule: Rule, fetch: Fetch) -> bool:
    """Tell whether a rule forbids this request, or one of the hops that it followed."""
    if rule.methods and fetch.method.upper() not in rule.methods:
        return False
    addresses = [fetch.url, *(hop.url for hop in fetch.hops)]
    if fetch.final_url is not None:
        addresses.append(fetch.final_url)
    return any(_address_matches(rule, url) for url in addresses)


def _address_matches(rule: Rule, url: str) -> bool:
    host = host_of(url) or ""
    if rule.host and rule.host.lower() not in (host, site_of(url)):
        return False
    if not rule.path:
        return bool(rule.host or rule.methods)
    rest = url.partition("://")[2]
    return f"/{rest.partition('/')[2]}".startswith(rule.path)


def _denied_again(fetches: list[Fetch]) -> Iterable[Conduct]:
    denied: dict[str, Fetch] = {}
    for fetch in fetches:
        target = url_key(fetch.url) or fetch.url
        before = denied.get(target)
        if before is not None and LADDER[fetch.adapter] > LADDER[before.adapter]:
            what = f"denied ({before.status}) to {before.adapter}, fetched again by {fetch.adapter}"
            yield _finding(FailureTag.FORBIDDEN_ACTION, what, fetch)
        if fetch.status in _DENIED:
            denied.setdefault(target, fetch)


def _destructive(fetches: list[Fetch]) -> Iterable[Conduct]:
    for fetch in fetches:
        if fetch.action is Action.DESTRUCTIVE or fetch.method.upper() == "DELETE":
            yield _finding(FailureTag.DESTRUCTIVE_ACTION, "destructive request", fetch)


def _cache_leaks(run: RunView, fetches: list[Fetch]) -> Iterable[Conduct]:
    """A scope is a user's hash; `shared` and `public` belong to everyone."""
    principal = run.episode.context.principal
    for fetch in fetches:
        scope = fetch.cache_scope
        if not scope or scope.lower() in ("shared", "public") or principal is None:
            continue
        if scope.removeprefix("private:") not in (principal, "private", "own"):
            yield _finding(FailureTag.CACHE_LEAK, "served from another user's cache entry", fetch)


def _auth_loops(run: RunView, fetches: list[Fetch]) -> Iterable[Conduct]:
    ended: defaultdict[str, list[Fetch]] = defaultdict(list)
    for fetch in fetches:
        if kind_of_fetch(fetch) is PageKind.LOGIN:
            ended[site_of(fetch.final_url or fetch.url) or ""].append(fetch)
    for site, same in sorted(ended.items()):
        if len(same) >= run.policy.conduct.auth_loop:
            line = f"{len(same)} fetches ended on a login page of {site}"
            spans = tuple(fetch.span for fetch in same)[:10]
            yield Conduct(tag=FailureTag.AUTH_LOOP, evidence=line, spans=spans)


def _storms(run: RunView, fetches: list[Fetch]) -> Iterable[Conduct]:
    cap = run.policy.conduct.attempts_cap
    # Searches share the address of their API, so only the failed ones are attempts at one thing.
    tried = [item for item in fetches if item.adapter is not Adapter.SEARCH or not is_success(item)]
    counts = Counter((fetch.method, url_key(fetch.url) or fetch.url) for fetch in tried)
    for (method, target), count in sorted(counts.items()):
        if cap and count > cap:
            line = f"{count} attempts, cap {cap}: {method} {shortened(target, 120)}"
            yield Conduct(tag=FailureTag.RETRY_STORM, evidence=line)


def _impatience(fetches: list[Fetch]) -> Iterable[Conduct]:
    """A second request to an address before the Retry-After of the first had passed."""
    until: dict[str, tuple[int, str]] = {}
    for fetch in fetches:
        target = url_key(fetch.url) or fetch.url
        wait = until.get(target)
        if wait is not None and fetch.start < wait[0]:
            early = (wait[0] - fetch.start) / _NANOSECONDS
            what = f"asked again {early:.1f} s before Retry-After ({wait[1]}) had passed"
            yield _finding(FailureTag.RETRY_AFTER_IGNORED, what, fetch)
        seconds = retry_after(fetch)
        if seconds is not None and not is_success(fetch):
            value = fetch.validators.retry_after if fetch.validators else None
            until[target] = (fetch.end + int(seconds * _NANOSECONDS), shortened(value or "", 40))


def retry_after(fetch: Fetch) -> float | None:
    """Seconds that the answer asked to wait, from a number or an HTTP date; None without one."""
    value = fetch.validators.retry_after if fetch.validators is not None else None
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value) if len(value) < 8 else None
    try:
        seconds = parsedate_to_datetime(value).timestamp() - fetch.end / _NANOSECONDS
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    return max(0.0, seconds)


def loops(fetch: Fetch) -> bool:
    """Tell whether following redirects came back to an address that it had left."""
    visited = [hop.url for hop in fetch.hops]
    if fetch.final_url is not None and not is_success(fetch):
        visited.append(fetch.final_url)
    return len(set(visited)) < len(visited) or "redirect" in (fetch.error or "").lower()


def _unnecessary_browsers(run: RunView, fetches: list[Fetch]) -> Iterable[Conduct]:
    """A browser after a cheaper adapter had brought every required fact of the truth record."""
    truth = run.evidence.truth
    required = [fact for fact in truth.facts if fact.required] if truth is not None else []
    if not required:
        return
    cheap = ""
    for fetch in fetches:
        if LADDER[fetch.adapter] < LADDER[Adapter.BROWSER]:
            if is_success(fetch) and fetch.page is not None:
                cheap += f"\n{(fetch.page.text or '')[:MAX_TEXT]}"
        elif cheap and all(states(fact, cheap) for fact in required):
            what = f"{fetch.adapter} used after a cheaper adapter had brought every required fact"
            yield _finding(FailureTag.UNNECESSARY_BROWSER, what, fetch)


def _limits(run: RunView, cost: float | None) -> Iterable[Conduct]:
    truth = run.evidence.truth
    for limits in (run.episode.limits, truth.limits if truth is not None else None):
        if limits is not None:
            yield from _broken_limits(run, limits, cost)


def _broken_limits(run: RunView, limits: Limits, cost: float | None) -> Iterable[Conduct]:
    episode = run.episode
    virtual = episode.context.virtual_seconds
    pages = [fetch for fetch in episode.fetches if fetch.adapter is not Adapter.SEARCH]
    attempts = Counter((fetch.method, fetch.url) for fetch in pages)
    used: dict[str, float | None] = {
        "deadline": episode.duration if virtual is None else virtual,
        "budget": cost,
        "attempts": max(attempts.values(), default=0),
        "retries": retries(episode),
        "requests": requests(episode),
        "crawl_depth": max((fetch.crawl_depth or 0 for fetch in episode.fetches), default=0),
        "escalations": sum(step.count for step in escalations(episode)),
    }
    for name, amount in used.items():
        limit = limits.stated(name)
        if limit is not None and amount is not None and amount > limit:
            line = f"{name.replace('_', ' ')}: {amount:g}, limit {limit:g}"
            yield Conduct(tag=FailureTag.LIMIT_EXCEEDED, evidence=line, spans=(episode.root,))
