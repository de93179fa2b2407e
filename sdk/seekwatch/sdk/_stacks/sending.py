"""The call that is being sent in a context, whatever libraries it goes through.

HTTP libraries stand on each other: requests sends through urllib3, a transport of httpx may send
through aiohttp or requests. The outermost is the call of the agent; what the others do for it is
part of it. What decides is where the request goes: one that a library makes while it waits for an
answer from the same host, or to the same URL, is a trip of the outer call; one that a hook, an
authentication flow or a middleware makes to elsewhere (a token, say) is a call of its own.
"""

from contextvars import ContextVar, Token
from typing import Any
from urllib.parse import unquote

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http import call as calls
from seekwatch.sdk._http.call import HttpCall
from seekwatch.sdk._http.exchanges import Exchange, Wire
from seekwatch.sdk._http.messages import RequestView, ResponseView


class Sending:
    """A call that is being sent, and how far it is.

    Args:
        call: the spans.
        client: the library's object that sends it.
        request: what it sends first.
        by_trips: the library tells no hops apart; each trip over the wire that follows a redirect
            begins one.
    """

    __slots__ = ("at", "by_trips", "call", "clients", "in_hook", "is_open", "is_over")

    def __init__(
        self, call: HttpCall, client: object, request: RequestView, *, by_trips: bool
    ) -> None:
        self.call = call
        self.clients = [client]
        """The sender, and those of other libraries that it sends through."""
        self.at = request
        """The request that was sent last."""
        self.by_trips = by_trips
        self.is_open = False
        """A library waits for an answer; what runs now is not the user's code."""
        self.in_hook = False
        self.is_over = False

    def covers(self, request: RequestView, client: object | None) -> bool:
        """Tell whether a request that begins now is part of this call."""
        if self.is_over:
            # The context was copied into a task or thread that outlives the call.
            return False
        if client is not None and not self.in_hook and any(client is it for it in self.clients):
            self.at = request
            return True
        if not (_same_url(request, self.at) or (self.is_open and _same_host(request, self.at))):
            return False
        if client is not None:
            self.clients.append(client)
        return True

    def begin_exchange(self, request: RequestView) -> Exchange:
        """Note that the client sends a request."""
        self.at = request
        self.is_open = True
        return self.call.exchange(request)

    def end_exchange(self, exchange: Exchange, status: int | None, location: str | None) -> None:
        """Note what the client got for it; see `redirect_target`."""
        self.is_open = False
        exchange.ended(status, location)


outermost: ContextVar[Sending | None] = ContextVar("seekwatch_sending", default=None)


def covering(request: RequestView, client: object | None = None) -> Sending | None:
    """Return the call of this context where a request that begins now is part of it.

    Args:
        request: what is sent.
        client: the library's object that sends it, where that object follows redirects by sending
            again: then they are part of the call wherever they lead.
    """
    sending = outermost.get()
    return sending if sending is not None and sending.covers(request, client) else None


def begin(
    request: RequestView,
    client: object,
    *,
    by_trips: bool = False,
) -> Sending | None:
    """Begin a call that is part of no other; None when it is to go through unseen.

    Args:
        request: what is sent.
        client: the library's object that sends it.
        by_trips: see `Sending`.
    """
    call = calls.begin(request)
    return None if call is None else Sending(call, client, request, by_trips=by_trips)


@guarded("leaving a request")
def leave(sending: Sending, token: Token[Sending | None] | None = None) -> None:
    """Note that the library has handed over an answer or an error.

    Args:
        sending: the call.
        token: what undoes that it is the outermost of its context.
    """
    sending.is_over = True
    if token is not None:
        try:  # noqa: SIM105 - `suppress` costs several times as much
            outermost.reset(token)
        except ValueError:
            # A coroutine that is dropped while it waits is closed in another context: nothing is
            # wrong then, that one never had our call.
            pass
    sending.call.leave()


def begin_trip(request: RequestView) -> Wire | None:
    """Note a trip over the wire, where it belongs to a call."""
    sending = outermost.get()
    if sending is None or sending.is_over:
        return None
    exchanges = sending.call.exchanges
    exchange: Exchange | None = None
    if sending.by_trips:
        if exchanges and exchanges[-1].location is None:
            exchange = exchanges[-1]
        else:
            exchange = sending.call.exchange(request)
            sending.at = request
    elif not exchanges or not sending.is_open:
        # A hook sends again, past the client: an authentication round.
        exchange = sending.call.exchange(request)
    wire = Wire(request, exchange)
    (exchange or exchanges[-1]).wires.append(wire)
    return wire


@guarded("noting an answer")
def end_trip(wire: Wire, answer: ResponseView | None, error: BaseException | None = None) -> None:
    """Note the answer that a trip brought, or why there was none."""
    wire.ended(answer, error)


def redirect_target(status: int, headers: Any) -> str | None:
    """Return where an answer leads; its headers are looked at only where it may lead anywhere."""
    found: str | None = headers.get("location") if 300 <= status < 400 else None
    return found


def _same_url(one: RequestView, other: RequestView) -> bool:
    if one.url == other.url:
        return True
    return (
        _same_host(one, other)
        and unquote(one.path or "/") == unquote(other.path or "/")
        and unquote(one.query) == unquote(other.query)
    )


def _same_host(one: RequestView, other: RequestView) -> bool:
    return one.host == other.host and one.port == other.port and one.scheme == other.scheme
