"""Requests and answers whose library keeps URLs as text and headers as a mapping."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from seekwatch.sdk._http.messages import Hop

_PORTS: Final = {"http": 80, "https": 443}
_REMEMBERED_URLS: Final = 128
"""URLs whose parts are remembered."""


class _Parts(NamedTuple):
    """What a URL is made of, as `RequestView` has it."""

    scheme: str
    host: str
    port: int | None
    path: str
    query: str


@lru_cache(maxsize=_REMEMBERED_URLS)
def _split(url: str) -> _Parts:
    # Asked again for each trip of a request, and again by each library below another.
    parts = urlsplit(url)
    port = parts.port
    return _Parts(
        parts.scheme,
        parts.hostname or "",
        None if port == _PORTS.get(parts.scheme) else port,
        unquote(parts.path) or "/",
        parts.query,
    )


class TextRequest:
    """A request as it is about to be sent.

    Args:
        method: in any case.
        url: the whole URL.
        fields: the headers: has `items()`, and `get(name)` that knows no case.
        sent: the body as the library was given it.
    """

    __slots__ = ("_fields", "_method", "_parts", "_sent", "_url")

    def __init__(self, method: str, url: str, fields: Any, sent: object = None) -> None:
        self._method = method
        self._url = url
        self._fields = fields
        self._sent = sent
        self._parts: _Parts | None = None

    @property
    def method(self) -> str:
        """Upper case."""
        return self._method.upper()

    @property
    def url(self) -> str:
        """The whole URL."""
        return self._url

    def _split(self) -> _Parts:
        parts = self._parts
        if parts is None:
            parts = self._parts = _split(self._url)
        return parts

    @property
    def scheme(self) -> str:
        """Lower case."""
        return self._split().scheme

    @property
    def host(self) -> str:
        """Lower case."""
        return self._split().host

    @property
    def port(self) -> int | None:
        """None for the scheme's own."""
        return self._split().port

    @property
    def path(self) -> str:
        """Decoded."""
        return self._split().path

    @property
    def query(self) -> str:
        """Still encoded."""
        return self._split().query

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        for given, value in self.headers():
            if given == name.lower():
                return value
        return None

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header."""
        return pairs(self._fields)

    def body(self) -> bytes | None:
        """Return the body where it is held in memory."""
        return as_bytes(self._sent)


class TextAnswer:
    """An answer, by the parts that are told of it: the library's own object is not kept alive.

    Args:
        status: the status code.
        url: where it came from.
        fields: the headers: has `items()`.
        held: the content-decoded body where the library holds it.
        counted: bytes of body that the library counted on the wire.
        earlier: answers before this one, in the library's own form.
        hop: from one of these to what is told of it.
        cached: whether a cache answered, where one says so.
    """

    __slots__ = ("_cached", "_counted", "_earlier", "_fields", "_held", "_hop", "_status", "_url")

    def __init__(
        self,
        status: int,
        url: str,
        fields: Any,
        *,
        held: bytes | None = None,
        counted: int | None = None,
        earlier: Sequence[Any] = (),
        hop: Callable[[Any], Hop] | None = None,
        cached: bool | None = None,
    ) -> None:
        self._status = status
        self._url = url
        self._fields = fields
        self._held = held
        self._counted = counted
        self._earlier = earlier
        self._hop = hop
        self._cached = cached

    @property
    def status(self) -> int:
        """The status code."""
        return self._status

    @property
    def url(self) -> str:
        """Where it came from."""
        return self._url

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        found = [value for given, value in self.headers() if given == name.lower()]
        return ", ".join(found) if found else None

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header."""
        return pairs(self._fields)

    def content(self) -> bytes | None:
        """Return the body where it was read."""
        return self._held

    def wire_bytes(self) -> int | None:
        """Return what was counted, else the size of a body that has no encoding to undo."""
        if self._counted:
            return self._counted
        if self._held is None:
            return None
        return len(self._held) if not self._held or not self.header("content-encoding") else None

    def hops(self) -> Sequence[Hop]:
        """Return the answers before this one."""
        return [] if self._hop is None else [self._hop(each) for each in self._earlier]

    def from_cache(self) -> bool | None:
        """Tell whether a cache answered, where it says so."""
        return self._cached


def pairs(fields: Any) -> Iterable[tuple[str, str]]:
    """Return headers as text, names in lower case."""
    items = fields.items() if hasattr(fields, "items") else fields or ()
    return [(as_text(name).lower(), as_text(value)) for name, value in items]


def as_bytes(value: object) -> bytes | None:
    """Return a body that is held in memory; None for a stream."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    if isinstance(value, bytes):
        return value
    return bytes(value) if isinstance(value, bytearray) else None


def as_text(value: object) -> str:
    """Return a header's name or value as text; libraries take bytes too."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
