"""Wraps the sessions of aiohttp, of whatever age, and each trip that they make.

The public hooks of aiohttp (`TraceConfig`) belong to a session and are fixed when it is made; a
session that was there before us would not be seen, and one that is made later would show ours.
`_request` is what every verb of every session goes through; redirects are followed inside it, so
a trip is told from connecting to the head of the answer.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Final

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._http.exchanges import Wire
from seekwatch.sdk._http.messages import Hop
from seekwatch.sdk._replacing import replace_all

from . import aiohttp_bodies
from .aiohttp_messages import AiohttpRequest, asked_for
from .sending import Sending, begin, begin_trip, covering, end_trip, leave, outermost
from .texts import TextAnswer

_trip: Final[ContextVar[Wire | None]] = ContextVar("seekwatch_aiohttp_trip", default=None)
"""The trip that has no answer yet; a task sends one request at a time."""

_SWITCHING_PROTOCOLS: Final = 101


def install(library: Any) -> Callable[[], None]:
    """Wrap aiohttp; returns what puts the originals back.

    Args:
        library: the module `aiohttp`.
    """
    sessions = replace_all(
        (
            (library.client.ClientSession, "_request", _request),
            (library.connector.BaseConnector, "connect", _connect),
            (library.client_reqrep.ClientResponse, "start", _start),
        )
    )
    bodies = aiohttp_bodies.install(library)

    def restore() -> None:
        bodies()
        sessions()

    return restore


def _request(original: Callable[..., Any]) -> Callable[..., Any]:
    async def request(self: Any, method: str, str_or_url: Any, **options: Any) -> Any:
        sending = _begin(self, method, str_or_url, options)
        if sending is None:
            return await original(self, method, str_or_url, **options)
        token = outermost.set(sending)
        try:
            response = await original(self, method, str_or_url, **options)
        except BaseException as error:
            sending.call.failed(error)
            raise
        finally:
            leave(sending, token)
        _answered(sending, self, options, response)
        return response

    return request


@guarded("the start of a request")
def _begin(session: Any, method: str, url: Any, options: Mapping[str, Any]) -> Sending | None:
    request = asked_for(session, method, url, options)
    if request is None or covering(request) is not None:
        return None
    return begin(request, session, by_trips=True)


def _connect(original: Callable[..., Any]) -> Callable[..., Any]:
    async def connect(self: Any, req: Any, *args: Any, **options: Any) -> Any:
        trip = _begin_trip(req)
        if trip is None:
            return await original(self, req, *args, **options)
        try:
            return await original(self, req, *args, **options)
        except BaseException as error:
            _trip.set(None)
            end_trip(trip, None, error)
            raise

    return connect


@guarded("noting a trip over the wire")
def _begin_trip(sent: Any) -> Wire | None:
    sending = outermost.get()
    if sending is None:
        return None
    request = AiohttpRequest(sent.method, sent.original_url, dict, {})
    request.sent_as(sent)
    first = sending.call.request
    if isinstance(first, AiohttpRequest) and not sending.call.exchanges:
        first.sent_as(sent)
    trip = begin_trip(request)
    _trip.set(trip)
    return trip


def _start(original: Callable[..., Any]) -> Callable[..., Any]:
    async def start(self: Any, *args: Any, **options: Any) -> Any:
        trip = _trip.get()
        if trip is None:
            return await original(self, *args, **options)
        _trip.set(None)
        try:
            response = await original(self, *args, **options)
        except BaseException as error:
            end_trip(trip, None, error)
            raise
        _end_trip(trip, self)
        return response

    return start


@guarded("noting an answer")
def _end_trip(trip: Wire, response: Any) -> None:
    trip.ended(TextAnswer(response.status, str(response.url), response.headers))


@guarded("an answered request")
def _answered(sending: Sending, session: Any, options: Mapping[str, Any], response: Any) -> None:
    call = sending.call
    if not call.recording:
        return
    stream, held = response.content, getattr(response, "_body", None)
    has_no_body = not hasattr(stream, "_buffer")
    answer = TextAnswer(
        response.status,
        str(response.url),
        response.headers,
        held=b"" if has_no_body and held is None else held,
        earlier=response.history,
        hop=_told_hop,
    )
    if has_no_body or held is not None or response.status == _SWITCHING_PROTOCOLS:
        call.answered(answer)
        return

    def over(capture: Capture, error: BaseException | None) -> None:
        call.over(answer, capture, error)

    decoding = options.get("auto_decompress")
    if decoding is None:
        decoding = getattr(session, "_auto_decompress", True)
    aiohttp_bodies.put(stream, over, is_decoded=bool(decoding))


def _told_hop(response: Any) -> Hop:
    return Hop(str(response.url), response.status, response.headers.get("location"))
