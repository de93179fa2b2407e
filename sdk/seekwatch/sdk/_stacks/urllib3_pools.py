"""Wraps urllib3: its pool manager, its pools, and each trip that a pool makes.

A manager follows redirects from host to host by calling itself, a pool retries by calling itself,
and requests uses the pools alone. The call is the outermost of these; each trip over the wire is
noted below them, where there are no more loops.
"""

from collections.abc import Callable, Mapping
from typing import Any

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._http.exchanges import Wire
from seekwatch.sdk._replacing import replace_all

from . import urllib3_bodies
from .sending import Sending, begin, begin_trip, covering, end_trip, leave, outermost
from .texts import TextAnswer, TextRequest


def install(library: Any) -> Callable[[], None]:
    """Wrap urllib3; returns what puts the originals back.

    Args:
        library: the module `urllib3`.
    """
    pool = library.connectionpool.HTTPConnectionPool
    clients = replace_all(
        (
            (library.poolmanager.PoolManager, "urlopen", _urlopen),
            (pool, "urlopen", _urlopen),
            (pool, "_make_request", _trip),
        )
    )
    bodies = urllib3_bodies.install(library)

    def restore() -> None:
        bodies()
        clients()

    return restore


def _urlopen(original: Callable[..., Any]) -> Callable[..., Any]:
    def urlopen(self: Any, method: str, url: str, *args: Any, **options: Any) -> Any:
        sending = _begin(self, method, url, args, options)
        if sending is None:
            return original(self, method, url, *args, **options)
        token = outermost.set(sending)
        try:
            response = original(self, method, url, *args, **options)
        except BaseException as error:
            sending.call.failed(error)
            raise
        finally:
            leave(sending, token)
        _answered(sending, response)
        return response

    return urlopen


@guarded("the start of a request")
def _begin(
    client: Any, method: str, url: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Sending | None:
    # A pool takes body and headers by position too; a manager takes neither so.
    body = options.get("body", args[0] if args and not hasattr(client, "pools") else None)
    headers = options.get("headers", args[1] if len(args) > 1 else None)
    fields = client.headers if headers is None else headers
    request = TextRequest(method, absolute(client, url), fields, body)
    if covering(request, client) is not None:
        return None
    sending = begin(request, client, by_trips=True)
    if sending is not None:
        sending.is_open = True
    return sending


def absolute(client: Any, url: str) -> str:
    """Return the whole URL of a request that a pool was given by its path."""
    if not url.startswith("/"):
        return url
    host = str(client.host)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    port = "" if client.port is None else f":{client.port}"
    return f"{client.scheme}://{host}{port}{url}"


@guarded("an answered request")
def _answered(sending: Sending, response: Any) -> None:
    call = sending.call
    if not call.recording:
        return
    held = getattr(response, "_body", None)
    is_held = isinstance(held, bytes)
    answer = TextAnswer(
        response.status,
        sending.at.url,
        response.headers,
        held=held if is_held else None,
        counted=urllib3_bodies.counted(response),
    )
    if is_held or not urllib3_bodies.can_note(response):
        call.answered(answer)
        return

    def over(capture: Capture, error: BaseException | None) -> None:
        call.over(answer, capture, error)

    urllib3_bodies.put(response, over)


def _trip(original: Callable[..., Any]) -> Callable[..., Any]:
    def make_request(
        self: Any, conn: Any, method: str, url: str, *args: Any, **options: Any
    ) -> Any:
        trip = _begin_trip(self, method, url, options)
        if trip is None:
            return original(self, conn, method, url, *args, **options)
        try:
            response = original(self, conn, method, url, *args, **options)
        except BaseException as error:
            end_trip(trip, None, error)
            raise
        _end_trip(trip, self, url, response)
        return response

    return make_request


@guarded("noting a trip over the wire")
def _begin_trip(pool: Any, method: str, url: str, options: Mapping[str, Any]) -> Wire | None:
    if outermost.get() is None:
        return None
    fields: Any = options.get("headers")
    return begin_trip(TextRequest(method, absolute(pool, url), fields, options.get("body")))


@guarded("noting an answer")
def _end_trip(trip: Wire, pool: Any, url: str, response: Any) -> None:
    # urllib3 1.26 answers with the response of http.client here.
    fields = getattr(response, "headers", None)
    trip.ended(TextAnswer(response.status, absolute(pool, url), fields))
