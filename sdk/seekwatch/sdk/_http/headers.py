"""The headers that the monitor needs, from httpx's own form, each read once."""

import httpx

from seekwatch.core import attributes

_REQUEST = {name.encode(): attributes.REQUEST_HEADER + name for name in attributes.REQUEST_HEADERS}
_RESPONSE = {
    name.encode(): attributes.RESPONSE_HEADER + name for name in attributes.RESPONSE_HEADERS
}


def request_headers(request: httpx.Request) -> dict[str, list[str]]:
    """Return the validators that were sent."""
    return _wanted(request.headers, _REQUEST)


def response_headers(headers: httpx.Headers) -> dict[str, list[str]]:
    """Return validators, caching and routing headers of an answer."""
    return _wanted(headers, _RESPONSE)


def _wanted(headers: httpx.Headers, names: dict[bytes, str]) -> dict[str, list[str]]:
    # Asking httpx for a name works out the encoding of all headers anew each time.
    found: dict[str, list[str]] = {}
    for raw, value in headers.raw:
        name = names.get(raw.lower())
        if name is not None:
            found.setdefault(name, []).append(value.decode("latin-1"))
    return found
