"""The headers that the monitor needs."""

from collections.abc import Iterable, Mapping

from seekwatch.core import attributes

from .messages import RequestView, ResponseView

_REQUEST = {name: attributes.REQUEST_HEADER + name for name in attributes.REQUEST_HEADERS}
_RESPONSE = {name: attributes.RESPONSE_HEADER + name for name in attributes.RESPONSE_HEADERS}


def request_headers(request: RequestView) -> dict[str, list[str]]:
    """Return the validators that were sent."""
    return _wanted(request.headers(), _REQUEST)


def response_headers(response: ResponseView) -> dict[str, list[str]]:
    """Return validators, caching and routing headers of an answer."""
    return _wanted(response.headers(), _RESPONSE)


def _wanted(headers: Iterable[tuple[str, str]], names: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        key = names.get(name)
        if key is not None:
            found.setdefault(key, []).append(value)
    return found
