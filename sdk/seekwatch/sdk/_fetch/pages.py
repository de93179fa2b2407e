"""Reads a call to a fetch API: which pages were asked for, and what came of each.

Runs on the finisher's thread only.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from seekwatch.sdk._decoding import decode
from seekwatch.sdk._http.messages import RequestView
from seekwatch.sdk._shapes import as_list, first_text, is_list, is_mapping, lookup

from .apis import BODY_KINDS, FetchApi

MAX_PAGES: Final = 100
"""More pages than any API fetches in one call; a crawl may answer with more."""

UNKNOWN_SHAPE: Final = "unknown-shape"
FETCH_FAILED: Final = "fetch-failed"
_STATUS: Final = re.compile(r"[1-5]\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """One page out of an answer."""

    url: str | None
    """As it was asked for."""
    final_url: str | None = None
    status: int | None = None
    data: bytes | None = None
    """None where the answer has no body of it that we know."""
    content_type: str = ""
    from_cache: bool = False
    error: str | None = None
    """Why it was not fetched, as a kind of error."""


def targets(api: FetchApi, request: RequestView) -> list[str]:
    """Return the URLs that a call asks for, as they were given."""
    for place in api.target:
        kind, _, path = place.partition(":")
        if kind == "path":
            found: object = _path_url(request.url)
        elif kind == "param":
            found = dict(parse_qsl(request.query)).get(path)
        else:
            found = lookup(decode(request.body() or b""), path)
        urls = [found] if isinstance(found, str) else as_list(found)
        given = [each for each in urls if isinstance(each, str) and _is_address(each)]
        if given:
            return given[:MAX_PAGES]
    return []


def _is_address(text: str) -> bool:
    """Tell an address, maybe without its scheme, from an id by which an API knows a page."""
    return text.lower().startswith(("http://", "https://")) or "." in text.partition("/")[0]


def _path_url(url: str) -> str | None:
    parts = urlsplit(url)
    given = url[len(f"{parts.scheme}://{parts.netloc}/") :]
    if given.lower().startswith(("http%3a", "https%3a")):
        given = unquote(given)
    if given.startswith(("http://", "https://")):
        return given
    # The reader takes an address without its scheme too.
    return f"https://{given}" if "." in given.partition("/")[0] else None


def read_pages(
    api: FetchApi,
    asked: list[str],
    answer: bytes,
    content_type: str,
    header: Callable[[str], str | None],
) -> list[FetchedPage]:
    """Return the pages of an answer, in its order; what the API did not fetch comes last.

    Args:
        api: whose answer it is.
        asked: what was asked for.
        answer: the content-decoded body.
        content_type: of the answer.
        header: returns a header of the answer.
    """
    decoded = decode(answer) if api.pages else None
    if not is_mapping(decoded) and not is_list(decoded):
        if api.pages and "json" in content_type.lower():
            # Meant to hold the page and not readable: the page itself it is not.
            return []
        whole = FetchedPage(asked[0] if asked else None, data=answer, content_type=content_type)
        return [_with_facts(api, whole, {}, header)]
    if api.when is not None and lookup(decoded, api.when[0]) != api.when[1]:
        return []
    entries = _entries(api, decoded)
    pages = [_page(api, entry, asked, at, header) for at, entry in enumerate(entries)]
    return pages + _not_fetched(api, decoded)


def _entries(api: FetchApi, decoded: object) -> list[object]:
    for path in api.pages:
        found = lookup(decoded, path) if path else decoded
        if is_list(found):
            return list(as_list(found))[:MAX_PAGES]
        if is_mapping(found):
            return [found]
    return []


def _page(
    api: FetchApi,
    entry: object,
    asked: list[str],
    position: int,
    header: Callable[[str], str | None],
) -> FetchedPage:
    data, content_type = _body(api, entry)
    page = _with_facts(api, FetchedPage(None, data=data, content_type=content_type), entry, header)
    url: str | None
    if page.final_url in asked:
        url = page.final_url
    elif len(asked) == 1:
        url = asked[0]
    else:
        # APIs that fetch several answer with the address that was given, not in a sure order.
        url = page.final_url or (asked[position] if position < len(asked) else None)
    cached = api.cached is not None and lookup(entry, api.cached[0]) == api.cached[1]
    return replace(page, url=url, from_cache=cached)


def _with_facts(
    api: FetchApi, page: FetchedPage, entry: object, header: Callable[[str], str | None]
) -> FetchedPage:
    status = _place(api.status, entry, header)
    return replace(
        page,
        final_url=_web(_place(api.url, entry, header)),
        status=int(status) if status is not None and _STATUS.fullmatch(status) else None,
    )


def _place(
    places: tuple[str, ...], entry: object, header: Callable[[str], str | None]
) -> str | None:
    for place in places:
        is_header = place.startswith("header:")
        found = header(place[7:]) if is_header else first_text(entry, (place,))
        if found:
            return found.strip()
    return None


def _web(url: str | None) -> str | None:
    return url if url is not None and url.startswith(("http://", "https://")) else None


def _body(api: FetchApi, entry: object) -> tuple[bytes | None, str]:
    for place in api.body:
        kind, _, path = place.partition(":")
        found = lookup(entry, path)
        if not isinstance(found, str) or not found:
            continue
        if kind == "base64":
            try:
                return base64.b64decode(found, validate=True), BODY_KINDS[kind]
            except binascii.Error:
                continue
        return found.encode(errors="replace"), BODY_KINDS[kind]
    return None, ""


def _not_fetched(api: FetchApi, decoded: object) -> list[FetchedPage]:
    if not api.failed:
        return []
    failed = as_list(lookup(decoded, api.failed))[:MAX_PAGES]
    urls = (first_text(each, ("url",)) for each in failed)
    return [FetchedPage(url, error=FETCH_FAILED) for url in urls if url is not None]
