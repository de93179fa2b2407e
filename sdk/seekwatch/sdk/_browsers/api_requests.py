"""Requests that Playwright sends without a page (`context.request.get`): fetches like any other.

The driver, another process, holds the body; it is asked for in the background.
"""

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import SplitResult, unquote, urlencode, urlsplit

from seekwatch.sdk._guard import guard, guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._http.call import HttpCall, begin
from seekwatch.sdk._http.messages import Hop
from seekwatch.sdk._http.spans import Ended
from seekwatch.sdk._shapes import as_mapping, is_list, is_mapping
from seekwatch.sdk._watching import Begin

from .views import named
from .visits import HOLD_SECONDS, OPEN


class ApiRequest:
    """A request as it was asked for; the driver sends it."""

    __slots__ = ("_given", "_parts", "_url", "method")

    def __init__(self, method: str, url: str, given: dict[str, Any]) -> None:
        self.method = method
        """Upper case."""
        self._given = given
        parameters = given.get("params")
        if is_mapping(parameters):
            parameters = urlencode(dict(parameters))
        if isinstance(parameters, str) and parameters:
            url += ("&" if "?" in url else "?") + parameters.lstrip("?")
        self._url = url
        self._parts: SplitResult = urlsplit(url)

    @property
    def url(self) -> str:
        """The whole URL; below the context's base where it was given so."""
        return self._url

    @property
    def scheme(self) -> str:
        """Lower case."""
        return self._parts.scheme

    @property
    def host(self) -> str:
        """Lower case."""
        return self._parts.hostname or ""

    @property
    def port(self) -> int | None:
        """None for the scheme's own."""
        try:
            return self._parts.port
        except ValueError:
            return None

    @property
    def path(self) -> str:
        """Decoded."""
        return unquote(self._parts.path) or "/"

    @property
    def query(self) -> str:
        """Still encoded."""
        return self._parts.query

    def header(self, name: str) -> str | None:
        """Return a header's value, of those that the agent gave, or the type of its data."""
        found = dict(self.headers()).get(name.lower())
        if found is None and name.lower() == "content-type" and self._given.get("form"):
            return "application/x-www-form-urlencoded"
        return found

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return the headers that the agent gave."""
        given = as_mapping(self._given.get("headers"))
        return [(name.lower(), str(value)) for name, value in given.items()]

    def body(self) -> bytes | None:
        """Return the body as the driver makes it."""
        data, form = self._given.get("data"), self._given.get("form")
        if is_mapping(form):
            return urlencode(dict(form)).encode()
        if isinstance(data, bytes):
            return data
        if isinstance(data, str):
            return data.encode()
        return json.dumps(data).encode() if is_mapping(data) or is_list(data) else None


class ApiResponse:
    """Playwright's own answer object."""

    __slots__ = ("_response",)

    def __init__(self, response: Any) -> None:
        self._response = response

    @property
    def status(self) -> int:
        """The status code."""
        return int(self._response.status)

    @property
    def url(self) -> str:
        """Where it came from, after every redirect."""
        return str(self._response.url)

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        return dict(self.headers()).get(name)

    def headers(self) -> Iterable[tuple[str, str]]:
        """Return every header, names in lower case."""
        return [(each["name"].lower(), each["value"]) for each in self._response.headers_array]

    def content(self) -> bytes | None:
        """Return None: the driver holds it."""
        return None

    def wire_bytes(self) -> int | None:
        """Return None: the driver does not say."""
        return None

    def hops(self) -> Sequence[Hop]:
        """Return none: the driver follows redirects without saying so."""
        return ()

    def from_cache(self) -> bool | None:
        """Return None: the driver has no cache."""
        return None


class _Answered:
    """A request whose body is being asked for."""

    def __init__(self, call: HttpCall, answer: ApiResponse, ended_ns: int) -> None:
        self._call = call
        self._answer = answer
        self._ended_ns = ended_ns
        self._due = time.monotonic() + HOLD_SECONDS
        self.task: asyncio.Task[Any] | None = None

    def is_due(self, now: float) -> bool:
        """Tell whether the body has been waited for long enough."""
        return self._due <= now

    def expire(self) -> None:
        """Tell it without the body."""
        self.tell()

    def tell(self) -> None:
        """Tell it without the body; only the first time counts."""
        OPEN.forget(self)
        with guard("telling a request"):
            self._call.end(Ended(self._call, self._ended_ns, self._answer))

    def answered(self, task: asyncio.Task[Any]) -> None:
        """Tell it with the body, if that came."""
        OPEN.forget(self)
        with guard("the body of a request"):
            if task.cancelled() or task.exception() is not None:
                self.tell()
                return
            capture = Capture(is_decoded=True)
            capture.add(task.result())
            capture.complete = True
            self._call.end(Ended(self._call, self._ended_ns, self._answer, capture=capture))


class _Request:
    """One request on its way."""

    def __init__(self, call: HttpCall, loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._loop = loop

    def raised(self, error: BaseException) -> None:
        """Tell that it failed."""
        self._call.leave()
        self._call.failed(named(error))

    @guarded("an answered request")
    def returned(self, response: Any) -> None:
        """Ask for the body, then tell it."""
        self._call.leave()
        if not self._call.recording:
            return
        inner = response._impl_obj
        waiting = _Answered(self._call, ApiResponse(inner), time.time_ns())
        OPEN.add(waiting)

        async def body() -> Any:
            return await inner.body()

        waiting.task = self._loop.create_task(body())
        waiting.task.add_done_callback(waiting.answered)


def begin_request(context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Request | None:
    """Begin a request; None when it is to go through unseen by us.

    Args:
        context: Playwright's public `APIRequestContext`.
        args: what the method was given by position: the URL.
        kwargs: the rest; `method` among it.
    """
    url = args[0] if args else kwargs.get("url", kwargs.get("url_or_request"))
    if not isinstance(url, str):
        # A request of a page's, to be sent again.
        url = str(getattr(url, "url", ""))
    method = str(kwargs.get("method") or "GET").upper()
    call = begin(ApiRequest(method, url, kwargs))
    return None if call is None else _Request(call, context._impl_obj._loop)


def begin_method(name: str) -> Begin:
    """Return what begins a request by the method of that name."""

    def begin_named(context: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Request | None:
        given = kwargs if name == "fetch" else {**kwargs, "method": name}
        return begin_request(context, args, given)

    return begin_named
