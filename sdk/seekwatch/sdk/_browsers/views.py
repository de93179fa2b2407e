"""A page load of a browser in the one form of HTTP calls.

The objects of Playwright behind it are its implementation's: their properties can be read on any
thread, the public ones only on the agent's.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from seekwatch.sdk._http.messages import Hop
from seekwatch.sdk._http.spans import NamedError

RENDERED_TYPE: Final = "text/html; charset=utf-8"
"""What a rendered page is, whatever the server sent: the browser writes it out as HTML."""
_MAX_HOPS: Final = 50
_NET_ERROR: Final = re.compile(r"\b(net::ERR_[A-Z0-9_]+|NS_ERROR_[A-Z0-9_]+)")
"""Network errors of Chromium and of Firefox; WebKit's are sentences."""


class PageRequest:
    """What the browser asked for.

    Args:
        url: as the agent gave it; None where only the browser knows.
        request: Playwright's, of the last hop; None where no answer came.
    """

    __slots__ = ("_given", "_parts", "request")

    def __init__(self, url: str | None, request: Any = None) -> None:
        self._given = url
        self._parts: SplitResult | None = None
        self.request = request

    @property
    def method(self) -> str:
        """Upper case; `GET` where no answer came."""
        return "GET" if self.request is None else str(chain(self.request)[0].method).upper()

    @property
    def url(self) -> str:
        """The whole URL of the first hop."""
        if self.request is not None:
            return str(chain(self.request)[0].url)
        return self._given or ""

    def _split(self) -> SplitResult:
        if self._parts is None:
            self._parts = urlsplit(self.url)
        return self._parts

    @property
    def scheme(self) -> str:
        """Lower case."""
        return self._split().scheme

    @property
    def host(self) -> str:
        """Lower case."""
        return self._split().hostname or ""

    @property
    def port(self) -> int | None:
        """None for the scheme's own."""
        try:
            return self._split().port
        except ValueError:
            return None

    @property
    def path(self) -> str:
        """Decoded."""
        return unquote(self._split().path) or "/"

    @property
    def query(self) -> str:
        """Still encoded."""
        return self._split().query

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        return dict(self.headers()).get(name.lower())

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return the headers that the browser was about to send, without its cookies."""
        return [] if self.request is None else list(self.request.headers.items())

    def body(self) -> bytes | None:
        """A form that was sent is not looked at."""
        return None


class PageAnswer:
    """The page that came, and how it looked to the agent.

    Args:
        response: Playwright's.
        earlier: the answers of the hops before it, by their request; filled in when they come.
    """

    __slots__ = ("_encoded", "_response", "earlier", "html")

    def __init__(self, response: Any) -> None:
        self._response = response
        self._encoded: bytes | None = None
        self.earlier: dict[Any, Any] = {}
        self.html: str | None = None

    @property
    def status(self) -> int:
        """The status code."""
        return int(self._response.status)

    @property
    def url(self) -> str:
        """Where the page came from, after every redirect."""
        return str(self._response.url)

    def header(self, name: str) -> str | None:
        """Return a header's value; the type is the rendered page's, which is never compressed."""
        if name == "content-type":
            return RENDERED_TYPE
        return None if name == "content-encoding" else dict(self.headers()).get(name)

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return the headers that the server sent, as far as the browser shows them."""
        return list(self._response.headers.items())

    def content(self) -> bytes | None:
        """Return the rendered page, where it was read."""
        if self._encoded is None and self.html is not None:
            # A lone surrogate is a character to JavaScript and none to UTF-8.
            self._encoded = self.html.encode(errors="replace")
        return self._encoded

    def wire_bytes(self) -> int | None:
        """Return None: what a rendered page measures did not come over the wire."""
        return None

    def hops(self) -> Sequence[Hop]:
        """Return the redirects before the page."""
        hops: list[Hop] = []
        for request in chain(self._response.request)[:-1]:
            response = self.earlier.get(request)
            status = None if response is None else int(response.status)
            location = None if response is None else response.headers.get("location")
            hops.append(Hop(str(request.url), status, location))
        return hops

    def from_cache(self) -> bool | None:
        """Return None: the browser does not say."""
        return None


def chain(request: Any) -> list[Any]:
    """Return the requests that led to one, itself last."""
    found = [request]
    while (before := found[0].redirected_from) is not None and len(found) < _MAX_HOPS:
        found.insert(0, before)
    return found


def named(error: BaseException) -> BaseException:
    """Return an error of Playwright's under the name of the network error that it quotes."""
    first_line = str(error).partition("\n")[0]
    found = _NET_ERROR.search(first_line)
    name = type(error).__qualname__ if found is None else found[1]
    # The lines below it are Playwright's log of the call.
    return NamedError(name, first_line)
