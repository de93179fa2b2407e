"""Wraps `httpx.Client` and `httpx.AsyncClient`, above every transport.

At the level of the client a call is seen whatever answers it: a custom or mounted transport, a
cache, a mock. The stock instrumentation wraps two transport classes and sees none of these.
`send` is one fetch of the agent; `_send_single_request` is each request and answer inside it
(redirect hops, authentication rounds). httpx's own transports are wrapped only to note trips over
the wire that a transport above them makes and keeps to itself (retries, revalidations).
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, cast

import httpx

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.call import HttpCall, begin
from seekwatch.sdk._http.exchanges import Exchange, Wire

_call_of_context: ContextVar[HttpCall | None] = ContextVar("seekwatch_http_call", default=None)


def install() -> Callable[[], None]:
    """Wrap both clients; returns what puts the originals back."""
    wrapped: Final = (
        (httpx.Client, "send", _send),
        (httpx.Client, "_send_single_request", _single),
        (httpx.AsyncClient, "send", _async_send),
        (httpx.AsyncClient, "_send_single_request", _async_single),
        (httpx.HTTPTransport, "handle_request", _wire),
        (httpx.AsyncHTTPTransport, "handle_async_request", _async_wire),
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


def _is_seen(request: httpx.Request) -> bool:
    """Whether a wrapper of ours further out has this very call already.

    There are two when somebody wrapped ours, we were taken out and put in again: theirs keeps
    the first.
    """
    call = _call_of_context.get()
    return call is not None and call.request is request


def _send(original: Callable[..., Any]) -> Callable[..., Any]:
    def send(self: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        call = None if _is_seen(request) else begin(self, request)
        if call is None:
            return cast("httpx.Response", original(self, request, **options))
        token = _call_of_context.set(call)
        try:
            response: httpx.Response = original(self, request, **options)
        except BaseException as error:
            call.failed(error)
            raise
        finally:
            _call_of_context.reset(token)
            call.leave()
        call.answered(response)
        return response

    return send


def _async_send(original: Callable[..., Any]) -> Callable[..., Any]:
    async def send(
        self: httpx.AsyncClient, request: httpx.Request, **options: Any
    ) -> httpx.Response:
        call = None if _is_seen(request) else begin(self, request)
        if call is None:
            return cast("httpx.Response", await original(self, request, **options))
        token = _call_of_context.set(call)
        try:
            response: httpx.Response = await original(self, request, **options)
        except BaseException as error:
            call.failed(error)
            raise
        finally:
            _call_of_context.reset(token)
            call.leave()
        call.answered(response)
        return response

    return send


def _single(original: Callable[..., Any]) -> Callable[..., Any]:
    def single(self: httpx.Client, request: httpx.Request) -> httpx.Response:
        call = _call_of_context.get()
        if call is None or call.client is not self:
            return cast("httpx.Response", original(self, request))
        exchange = call.exchange(request)
        try:
            response: httpx.Response = original(self, request)
        except BaseException:
            _note(exchange, None)
            raise
        _note(exchange, response)
        return response

    return single


def _async_single(original: Callable[..., Any]) -> Callable[..., Any]:
    async def single(self: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        call = _call_of_context.get()
        if call is None or call.client is not self:
            return cast("httpx.Response", await original(self, request))
        exchange = call.exchange(request)
        try:
            response: httpx.Response = await original(self, request)
        except BaseException:
            _note(exchange, None)
            raise
        _note(exchange, response)
        return response

    return single


@guarded("noting an answer")
def _note(trip: Exchange | Wire | None, *ended: Any) -> None:
    if trip is not None:
        trip.ended(*ended)


@guarded("noting a trip over the wire")
def _begin_wire(request: httpx.Request) -> Wire | None:
    call = _call_of_context.get()
    if call is None or not call.exchanges:
        return None
    wire = Wire(request)
    call.exchanges[-1].wires.append(wire)
    return wire


def _wire(original: Callable[..., Any]) -> Callable[..., Any]:
    def handle_request(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        wire = _begin_wire(request)
        if wire is None:
            return cast("httpx.Response", original(self, request))
        try:
            response: httpx.Response = original(self, request)
        except BaseException as error:
            _note(wire, None, error)
            raise
        _note(wire, response)
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
            _note(wire, None, error)
            raise
        _note(wire, response)
        return response

    return handle_async_request
