"""Wraps the clients of httpx, and of httpx2, above every transport.

At the level of the client a call is seen whatever answers it: a custom or mounted transport, a
cache, a mock. The stock instrumentation wraps two transport classes and sees none of these.
`send` is one fetch of the agent; `_send_single_request` is each request and answer inside it
(redirect hops, authentication rounds). The library's own transports are wrapped only to note trips
over the wire that a transport above them makes and keeps to itself (retries, revalidations).
"""

import functools
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, cast

import httpx

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._http.call import HttpCall, begin
from seekwatch.sdk._http.exchanges import Exchange, Wire

from .httpx_messages import HttpxRequest, HttpxResponse
from .httpx_streams import Tees


@dataclass(frozen=True, slots=True)
class _Sending:
    """A call that is being sent, and by whom."""

    call: HttpCall
    client: object
    request: httpx.Request
    tees: Tees


_sending: ContextVar[_Sending | None] = ContextVar("seekwatch_httpx_sending", default=None)


def install(library: Any) -> Callable[[], None]:
    """Wrap the clients of a library; returns what puts the originals back.

    Args:
        library: the module, `httpx` or `httpx2`.
    """
    tees = Tees(library)
    wrapped: Final = (
        (library.Client, "send", functools.partial(_send, tees=tees)),
        (library.Client, "_send_single_request", _single),
        (library.AsyncClient, "send", functools.partial(_async_send, tees=tees)),
        (library.AsyncClient, "_send_single_request", _async_single),
        (library.HTTPTransport, "handle_request", _wire),
        (library.AsyncHTTPTransport, "handle_async_request", _async_wire),
    )
    undo = [_wrap(owner, name, wrap) for owner, name, wrap in wrapped]

    def restore() -> None:
        for each in reversed(undo):
            each()

    return restore


def _wrap(
    owner: type[Any], name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[[], None]:
    original = owner.__dict__.get(name)
    if original is None:
        # A private method that another httpx does not have: hops are then read from the history.
        return lambda: None
    replacement = wrap(original)
    replacement.__name__ = name
    replacement.__qualname__ = getattr(original, "__qualname__", name)
    replacement.__doc__ = original.__doc__
    replacement.__wrapped__ = original  # type: ignore[attr-defined]
    setattr(owner, name, replacement)

    def restore() -> None:
        # Where someone wrapped us in the meantime, theirs stays; ours is inert without a runtime.
        if owner.__dict__.get(name) is replacement:
            setattr(owner, name, original)

    return restore


@guarded("the start of a request")
def _begin(client: object, request: httpx.Request, tees: Tees) -> _Sending | None:
    sending = _sending.get()
    if sending is not None and sending.request is request:
        # A wrapper of ours further out has this very call already. There are two when somebody
        # wrapped ours, we were taken out and put in again: theirs keeps the first.
        return None
    call = begin(HttpxRequest(request))
    return None if call is None else _Sending(call, client, request, tees)


@guarded("an answered request")
def _answered(sending: _Sending, response: httpx.Response) -> None:
    call = sending.call
    if not call.recording:
        return
    answer = HttpxResponse(response)
    if response.is_closed:
        call.answered(answer)
        return

    def over(capture: Capture, error: BaseException | None) -> None:
        call.over(answer, capture, error)

    sending.tees.put(response, over)


def _send(original: Callable[..., Any], tees: Tees) -> Callable[..., Any]:
    def send(self: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        sending = _begin(self, request, tees)
        if sending is None:
            return cast("httpx.Response", original(self, request, **options))
        token = _sending.set(sending)
        try:
            response: httpx.Response = original(self, request, **options)
        except BaseException as error:
            sending.call.failed(error)
            raise
        finally:
            _sending.reset(token)
            sending.call.leave()
        _answered(sending, response)
        return response

    return send


def _async_send(original: Callable[..., Any], tees: Tees) -> Callable[..., Any]:
    async def send(
        self: httpx.AsyncClient, request: httpx.Request, **options: Any
    ) -> httpx.Response:
        sending = _begin(self, request, tees)
        if sending is None:
            return cast("httpx.Response", await original(self, request, **options))
        token = _sending.set(sending)
        try:
            response: httpx.Response = await original(self, request, **options)
        except BaseException as error:
            sending.call.failed(error)
            raise
        finally:
            _sending.reset(token)
            sending.call.leave()
        _answered(sending, response)
        return response

    return send


@guarded("noting a request")
def _begin_exchange(client: object, request: httpx.Request) -> Exchange | None:
    sending = _sending.get()
    if sending is None or sending.client is not client:
        return None
    return sending.call.exchange(request.url)


@guarded("noting an answer")
def _end_exchange(exchange: Exchange, response: httpx.Response | None) -> None:
    if response is None:
        exchange.ended(None)
        return
    status = response.status_code
    exchange.ended(status, response.headers.get("location") if 300 <= status < 400 else None)


def _single(original: Callable[..., Any]) -> Callable[..., Any]:
    def single(self: httpx.Client, request: httpx.Request) -> httpx.Response:
        exchange = _begin_exchange(self, request)
        if exchange is None:
            return cast("httpx.Response", original(self, request))
        try:
            response: httpx.Response = original(self, request)
        except BaseException:
            _end_exchange(exchange, None)
            raise
        _end_exchange(exchange, response)
        return response

    return single


def _async_single(original: Callable[..., Any]) -> Callable[..., Any]:
    async def single(self: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        exchange = _begin_exchange(self, request)
        if exchange is None:
            return cast("httpx.Response", await original(self, request))
        try:
            response: httpx.Response = await original(self, request)
        except BaseException:
            _end_exchange(exchange, None)
            raise
        _end_exchange(exchange, response)
        return response

    return single


@guarded("noting a trip over the wire")
def _begin_wire(request: httpx.Request) -> Wire | None:
    sending = _sending.get()
    if sending is None or not sending.call.exchanges:
        return None
    wire = Wire(HttpxRequest(request))
    sending.call.exchanges[-1].wires.append(wire)
    return wire


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
