"""Requests and answers of httpx, and of httpx2, which has the same classes under another name."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import httpx

from seekwatch.sdk._http.messages import Hop, RequestView

_CACHE_MARKS: Final = ("from_cache", "hishel_from_cache")
"""Response extensions by which caching transports of httpx say that they answered."""


class HttpxRequest:
    """A request of httpx, with the URL that it was begun with: authentication may change it."""

    # Read several times for each request, and worked out anew by httpx each time.
    __slots__ = ("_request", "_url", "host", "method", "path", "port", "scheme")

    def __init__(self, request: httpx.Request) -> None:
        url = request.url
        self._request = request
        self._url = url
        self.method = request.method
        self.scheme = url.scheme
        self.host = url.host
        self.port = url.port
        self.path = url.path

    def is_of(self, request: httpx.Request) -> bool:
        """Tell whether this is what would be made of a request now."""
        return self._request is request and self._url is request.url

    @property
    def url(self) -> str:
        """The whole URL."""
        return str(self._url)

    @property
    def query(self) -> str:
        """Still encoded."""
        return self._url.query.decode("ascii", "replace")

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        value: str | None = self._request.headers.get(name)
        return value

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header."""
        return _pairs(self._request.headers)

    def body(self) -> bytes | None:
        """Return the body where it is held."""
        try:
            return self._request.content
        except RuntimeError:
            # `RequestNotRead` of either library: a stream.
            return None


def view_of(request: httpx.Request, known: RequestView) -> RequestView:
    """Return what is known of a request already, or make it."""
    if isinstance(known, HttpxRequest) and known.is_of(request):
        return known
    return HttpxRequest(request)


class HttpxResponse:
    """An answer of httpx."""

    __slots__ = ("_response",)

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def status(self) -> int:
        """The status code."""
        return self._response.status_code

    @property
    def url(self) -> str:
        """Where it came from; a transport may hand over an answer that knows no request."""
        return str(self._response.url)

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        value: str | None = self._response.headers.get(name)
        return value

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header."""
        return _pairs(self._response.headers)

    def content(self) -> bytes | None:
        """Return the body where it was read; a hook may have closed it unread."""
        try:
            return self._response.content
        except RuntimeError:
            # `ResponseNotRead` of either library.
            return None

    def wire_bytes(self) -> int | None:
        """Return what httpx counted.

        A transport that hands over a ready body downloads nothing that httpx could count; what was
        compressed has another size decoded.
        """
        counted = self._response.num_bytes_downloaded
        if counted:
            return counted
        content = self.content()
        if not content:
            return counted
        return None if "content-encoding" in self._response.headers else len(content)

    def hops(self) -> Sequence[Hop]:
        """Return the redirects that httpx followed."""
        return [
            Hop(str(each.url), each.status_code, each.headers.get("location"))
            for each in self._response.history
        ]

    def from_cache(self) -> bool | None:
        """Tell whether a caching transport answered, where one says so."""
        extensions: dict[str, Any] = self._response.extensions
        marks = [extensions[mark] for mark in _CACHE_MARKS if mark in extensions]
        return bool(marks[0]) if marks else None


def _pairs(headers: httpx.Headers) -> Iterable[tuple[str, str]]:
    # Asking httpx for a name works out the encoding of all headers anew each time.
    return [
        (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers.raw
    ]
