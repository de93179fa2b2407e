"""Requests of aiohttp: as they were asked for, and from the first trip on as they are sent.

The session puts URL, headers and body together only after the call has begun. Until then they are
worked out from what the session was given, where somebody asks.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, cast
from urllib.parse import unquote, urlencode

from seekwatch.sdk._shapes import is_mapping

from .texts import as_bytes, as_text, pairs

_PORTS: Final = {"http": 80, "https": 443}
_FORM: Final = "application/x-www-form-urlencoded"


class AiohttpRequest:
    """A request of aiohttp.

    Args:
        method: in any case.
        url: yarl's, with every parameter.
        fields: returns its headers, as far as they are known.
        options: what the session was given beside these.
    """

    __slots__ = ("_fields", "_method", "_options", "_sent", "_url")

    def __init__(
        self, method: str, url: Any, fields: Callable[[], Any], options: Mapping[str, Any]
    ) -> None:
        self._method = method
        self._url = url
        self._fields = fields
        self._options = options
        self._sent: Any = None

    def sent_as(self, request: Any) -> None:
        """Take headers and body from the library's own request from now on."""
        self._sent = request

    @property
    def method(self) -> str:
        """Upper case."""
        return self._method.upper()

    @property
    def url(self) -> str:
        """The whole URL."""
        return str(self._url)

    @property
    def scheme(self) -> str:
        """Lower case."""
        return str(self._url.scheme)

    @property
    def host(self) -> str:
        """Lower case."""
        return str(self._url.raw_host or "")

    @property
    def port(self) -> int | None:
        """None for the scheme's own."""
        port: int | None = self._url.port
        return None if port == _PORTS.get(self._url.scheme) else port

    @property
    def path(self) -> str:
        """Decoded."""
        return unquote(self._url.raw_path) or "/"

    @property
    def query(self) -> str:
        """Still encoded."""
        return str(self._url.raw_query_string)

    def header(self, name: str) -> str | None:
        """Return a header's value; what a body of this kind will have as its type."""
        for given, value in self.headers():
            if given == name.lower():
                return value
        if name.lower() != "content-type" or self._sent is not None:
            return None
        if self._options.get("json") is not None:
            return "application/json"
        return None if self._form() is None else _FORM

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header."""
        return pairs(self._fields() if self._sent is None else self._sent.headers)

    def body(self) -> bytes | None:
        """Return the body where it is held in memory."""
        if self._sent is not None:
            return as_bytes(getattr(self._sent.body, "_value", self._sent.body))
        given = self._options.get("json")
        if given is not None:
            return json.dumps(given).encode()
        form = self._form()
        return as_bytes(self._options.get("data")) if form is None else form

    def _form(self) -> bytes | None:
        data: Any = self._options.get("data")
        fields: Any = getattr(data, "_fields", None)
        given: list[Any]
        if fields is not None:
            if getattr(data, "is_multipart", True):
                return None
            given = [(options.get("name"), value) for options, _, value in fields]
        elif is_mapping(data):
            given = list(data.items())
        elif isinstance(data, list | tuple):
            given = list(cast("list[Any]", data))
        else:
            return None
        if not all(isinstance(value, str | int) for _, value in given):
            return None
        return urlencode(given).encode()


def asked_for(
    session: Any, method: str, url: Any, options: Mapping[str, Any]
) -> AiohttpRequest | None:
    """Return the request that a session is about to send; None for a web socket."""
    headers = options.get("headers")
    if options.get("read_until_eof") is False and _is_upgrade(headers):
        return None
    whole = session._build_url(url)
    params = options.get("params")
    if params:
        # What is in the URL already stays, as aiohttp has it.
        extended = getattr(whole, "extend_query", None)
        whole = whole.update_query(params) if extended is None else extended(params)
    return AiohttpRequest(method, whole, partial(session._prepare_headers, headers), options)


def _is_upgrade(headers: Any) -> bool:
    names = headers or ()
    return any(as_text(name).lower() == "upgrade" for name in names)
