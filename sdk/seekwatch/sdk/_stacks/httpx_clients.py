"""Wraps the clients of httpx, and of httpx2, above every transport.

At the level of the client a call is seen whatever answers it: a custom or mounted transport, a
cache, a mock. The stock instrumentation wraps two transport classes and sees none of these.
`send` is one fetch of the agent; `_send_single_request` is each request and answer inside it
(redirect hops, authentication rounds). The library's own transports are wrapped only to note trips
over the wire that a transport above them makes and keeps to itself (retries, revalidations).
"""

import functools
from collections.abc import Callable
from typing import Any, Final, cast

import httpx

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.exchanges import Exchange, Wire
from seekwatch.sdk._replacing import replace_all

from .httpx_messages import HttpxRequest, HttpxResponse, view_of
from .httpx_streams import Tees
from .sending import (
    Sending,
    begin,
    begin_trip,
    covering,
    leave,
    outermost,
    redirect_target,
)

_SOCKET_SCHEMES: Final = frozenset({"ws", "wss"})
_SWITCHING_PROTOCOLS: Final = 101
"""What follows is no body: a web socket."""


def install(library: Any) -> Callable[[], None]:
    """Wrap the clients of a library; returns what puts the originals back.

    Args:
        library: the module, `httpx` or `httpx2`.
    """
    tees = Tees(library)
    return replace_all(
        (
            (library.Client, "send", functools.partial(_send, tees=tees)),
            (library.Client, "_send_single_request", _single),
            (library.AsyncClient, "send", functools.partial(_async_send, tees=tees)),
            (library.AsyncClient, "_send_single_request", _async_single),
            (library.HTTPTransport, "handle_request", _wire),
            (library.AsyncHTTPTransport, "handle_async_request", _async_wire),
        )
    )


@guarded("the start of a request")
def _begin(client: object, request: httpx.Request) -> Sending | None:
    view = HttpxRequest(request)
    if view.scheme in _SOCKET_SCHEMES:
        return None
    return None if covering(view) is not None else begin(view, client)


@guarded("an answered request")
def _answered(sending: Sending, response: httpx.Response, tees: Tees) -> None:
    call = sending.call
    if not call.recording:
        return
    answer = HttpxResponse(response)
    if response.is_closed or response.status_code == _SWITCHING_PROTOCOLS:
        call.answered(answer)
        return
    tees.put(response, call, answer)


def _send(original: Callable[..., Any], tees: Tees) -> Callable[..., Any]:
    def send(self: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        sending = _begin(self, request)
        if sending is None:
            return cast("httpx.Response", original(self, request, **options))
        token = outermost.set(sending)
        try:
            response: httpx.Response = original(self, request, **options)
        except BaseException as error:
            sending.call.failed(error)
            raise
        finally:
            leave(sending, token)
        _answered(sending, response, tees)
        return response

    return send


def _async_send(original: Callable[..., Any], tees: Tees) -> Callable[..., Any]:
    async def send(
        self: httpx.AsyncClient, request: httpx.Request, **options: Any
    ) -> httpx.Response:
        sending = _begin(self, request)
        if sending is None:
            return cast("httpx.Response", await original(self, request, **options))
        token = outermost.set(sending)
        try:
            response: httpx.Response = await original(self, request, **options)
        except BaseException as error:
            sending.call.failed(error)
            raise
        finally:
            leave(sending, token)
        _answered(sending, response, tees)
        return response

    return send


@guarded("noting a request")
def _begin_exchange(client: object, request: httpx.Request) -> tuple[Sending, Exchange] | None:
    sending = outermost.get()
    if sending is None or sending.clients[0] is not client:
        return None
    return sending, sending.begin_exchange(view_of(request, sending.at))


@guarded("noting an answer")
def _end_exchange(begun: tuple[Sending, Exchange], response: httpx.Response | None) -> None:
    sending, exchange = begun
    if response is None:
        sending.end_exchange(exchange, None, None)
        return
    status = response.status_code
    sending.end_exchange(exchange, status, redirect_target(status, response.headers))


def _single(original: Callable[..., Any]) -> Callable[..., Any]:
    def single(self: httpx.Client, request: httpx.Request) -> httpx.Response:
        begun = _begin_exchange(self, request)
        if begun is None:
            return cast("httpx.Response", original(self, request))
        try:
            response: httpx.Response = original(self, request)
        except BaseException:
            _end_exchange(begun, None)
            raise
        _end_exchange(begun, response)
        return response

    return single


def _async_single(original: Callable[..., Any]) -> Callable[..., Any]:
    async def single(self: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        begun = _begin_exchange(self, request)
        if begun is None:
            return cast("httpx.Response", await original(self, request))
        try:
            response: httpx.Response = await original(self, request)
        except BaseException:
            _end_exchange(begun, None)
            raise
        _end_exchange(begun, response)
        return response

    return single


@guarded("noting a trip over the wire")
def _begin_wire(request: httpx.Request) -> Wire | None:
    sending = outermost.get()
    return None if sending is None else begin_trip(view_of(request, sending.at))


@guarded("noting an answer")
def _end_wire(
    wire: Wire, response: httpx.Response | None, error: BaseException | None = None
) -> None:
    wire.ended(None if response is None else HttpxResponse(response), error)


def _wire(original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        wire = _begin_wire(request)
        if wire is None:
            return cast("httpx.Response", original(self, request))
        try:
            response: httpx.Response = original(self, request)
        except BaseException as error:
            _end_wire(wire, None, error)
            raise
        _end_wire(wire, response)
        return response

    return handle_request


def _async_wire(original: Callable[..., Any]) -> Callable[..., Any]:
    async def handle_async_request(
        self: httpx.AsyncHTTPTransport, request: httpx.Request
    ) -> httpx.Response:
        wire = _begin_wire(request)
        if wire is None:
            return cast("httpx.Response", await original(self, request))
        try:
            response: httpx.Response = await original(self, request)
        except BaseException as error:
            _end_wire(wire, None, error)
            raise
        _end_wire(wire, response)
        return response

    return handle_async_request
