"""Wraps the sessions of requests, above every adapter.

`Session.send` is one fetch of the agent; it calls itself for each redirect. The hooks of a
response run inside it, once an answer is there: what they send goes by the rule of `sending`.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final

from seekwatch.sdk._guard import guarded
from seekwatch.sdk._http.bodies import Capture
from seekwatch.sdk._http.exchanges import Exchange
from seekwatch.sdk._http.messages import Hop
from seekwatch.sdk._replacing import replace_all

from . import urllib3_bodies
from .sending import Sending, begin, covering, leave, outermost, redirect_target
from .texts import TextAnswer, TextRequest

_Begun = tuple[Sending, Exchange, bool]
"""A call, the request of it that is sent now, and whether that is not its first."""

_sent: Final[ContextVar[list[int] | None]] = ContextVar("seekwatch_requests_sent", default=None)
"""Answers (by identity) that `Session.send` of requests gave to the `Session.request` of now."""


def install(library: Any) -> Callable[[], None]:
    """Wrap requests; returns what puts the originals back.

    Args:
        library: the module `requests`.
    """
    return replace_all(
        (
            (library.sessions.Session, "send", _send),
            (library.sessions.Session, "request", _request),
            (library.sessions, "dispatch_hook", _hooks),
        )
    )


def _send(original: Callable[..., Any]) -> Callable[..., Any]:
    def send(self: Any, request: Any, **options: Any) -> Any:
        begun = _begin(self, request)
        if begun is None:
            return original(self, request, **options)
        sending, _, is_hop = begun
        if is_hop:
            try:
                return original(self, request, **options)
            except BaseException:
                _unanswered(begun)
                raise
        token = outermost.set(sending)
        try:
            response = original(self, request, **options)
        except BaseException as error:
            _unanswered(begun)
            sending.call.failed(error)
            raise
        finally:
            leave(sending, token)
        _answered(sending, response)
        return response

    return send


def _view(request: Any) -> TextRequest:
    return TextRequest(request.method, request.url, request.headers, request.body)


@guarded("the start of a request")
def _begin(session: Any, request: Any) -> _Begun | None:
    """Begin a call, or a hop of the session's own; None for what is neither."""
    view = _view(request)
    sending = covering(view, session)
    if sending is None:
        sending = begin(view, session)
    elif sending.clients[0] is not session:
        return None
    if sending is None:
        return None
    is_hop = bool(sending.call.exchanges)
    return sending, sending.begin_exchange(view), is_hop


@guarded("noting an answer")
def _unanswered(begun: _Begun) -> None:
    """Note that there was no answer, where the hooks were not reached."""
    sending, exchange, _ = begun
    if sending.is_open and sending.call.exchanges[-1] is exchange:
        sending.end_exchange(exchange, None, None)


def _hooks(original: Callable[..., Any]) -> Callable[..., Any]:
    def dispatch_hook(key: str, hooks: Any, hook_data: Any, **options: Any) -> Any:
        sending = outermost.get()
        if sending is None or key != "response":
            return original(key, hooks, hook_data, **options)
        _end_answered(sending, hook_data)
        before, sending.in_hook = sending.in_hook, True
        try:
            return original(key, hooks, hook_data, **options)
        finally:
            sending.in_hook = before

    return dispatch_hook


@guarded("noting an answer")
def _end_answered(sending: Sending, response: Any) -> None:
    if sending.is_open and not sending.by_trips and _is_session(sending.clients[0]):
        status = response.status_code
        location = redirect_target(status, response.headers)
        sending.end_exchange(sending.call.exchanges[-1], status, location)


def _is_session(client: object) -> bool:
    return hasattr(client, "get_adapter")


@guarded("an answered request")
def _answered(sending: Sending, response: Any) -> None:
    sent = _sent.get()
    if sent is not None:
        sent.append(id(response))
    call = sending.call
    if not call.recording:
        return
    if response._content is not False:
        call.answered(_answer(response))
        return
    answer = _answer(response)
    if not urllib3_bodies.can_note(response.raw):
        # An adapter of the user's own, with a file of its own: what is read there is not seen.
        call.answered(answer)
        return

    def over(capture: Capture, error: BaseException | None) -> None:
        call.over(answer, capture, error)

    urllib3_bodies.put(response.raw, over)


def _answer(response: Any) -> TextAnswer:
    raw = response.raw
    content = response._content
    return TextAnswer(
        response.status_code,
        response.url,
        # requests folds repeated headers into one.
        getattr(raw, "headers", None) or response.headers,
        held=content if isinstance(content, bytes) else None,
        counted=urllib3_bodies.counted(raw),
        earlier=tuple(response.history),
        hop=_told_hop,
        cached=getattr(response, "from_cache", None),
    )


def _told_hop(response: Any) -> Hop:
    return Hop(response.url, response.status_code, response.headers.get("location"))


def _request(original: Callable[..., Any]) -> Callable[..., Any]:
    def request(self: Any, *args: Any, **options: Any) -> Any:
        sent: list[int] = []
        token = _sent.set(sent)
        try:
            response = original(self, *args, **options)
        finally:
            _sent.reset(token)
        _answered_unsent(self, response, sent)
        return response

    return request


@guarded("an answered request")
def _answered_unsent(session: Any, response: Any, sent: list[int]) -> None:
    """Tell a page that a session took from a cache of its own, without a `send` of requests."""
    if not getattr(response, "from_cache", False) or id(response) in sent:
        return
    if outermost.get() is not None:
        return
    sending = begin(_view(response.request), session)
    if sending is not None:
        leave(sending)
        sending.call.answered(_answer(response))
