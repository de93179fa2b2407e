"""Counts of what a run did, hidden requests included: success after twenty requests shows it."""

from collections import Counter
from collections.abc import Iterable

from seekwatch.core.model import Adapter, Episode
from seekwatch.core.scorecard import Work


def work(episode: Episode) -> Work:
    """Count searches, fetches, requests (redirect hops and attempts), retries, tokens."""
    redirects = sum(len(fetch.hops) for fetch in episode.fetches)
    pages = sum(1 for fetch in episode.fetches if fetch.adapter is not Adapter.SEARCH)
    return Work(
        searches=len(episode.searches),
        fetches=pages,
        requests=requests(episode),
        retries=retries(episode),
        redirects=redirects,
        generations=len(episode.generations),
        input_tokens=_known_sum(item.input_tokens for item in episode.generations),
        output_tokens=_known_sum(item.output_tokens for item in episode.generations),
    )


def requests(episode: Episode) -> int:
    """Requests on the wire: every attempt and hop, and each search whose wire call was not seen."""
    wire_calls = sum(1 for fetch in episode.fetches if fetch.adapter is Adapter.SEARCH)
    hops = sum(len(fetch.hops) for fetch in episode.fetches)
    unseen = max(0, len(episode.searches) - wire_calls)
    return len(episode.fetches) + hops + unseen


def retries(episode: Episode) -> int:
    """Attempts after the first at one page by one method and adapter; searches do not count."""
    pages = [fetch for fetch in episode.fetches if fetch.adapter is not Adapter.SEARCH]
    seen = Counter((fetch.method, fetch.url, fetch.adapter) for fetch in pages)
    counted = sum(count - 1 for count in seen.values())
    told = sum(1 for fetch in pages if fetch.attempt > 1)
    return max(counted, told)


def _known_sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
