"""Answers that come later: responses that OpenAI's API works on in the background.

The call that asks is answered at once, with an id and nothing else; the agent looks again by that
id until the answer is there. All of it is one model call, so its span waits here for its end.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from seekwatch.sdk._decoding import decode
from seekwatch.sdk._shapes import as_mapping, lookup

from .openai_responses import assemble
from .streams import events, is_stream
from .telling import word

if TYPE_CHECKING:
    from .exchange import ModelExchange

MAX_WAITING: Final = 256
MAX_BYTES: Final = 16 * 1024 * 1024
"""Bytes of requests and answers that the waiting calls keep alive."""
MAX_SECONDS: Final = 3600.0
"""How long an answer is waited for: research in the background takes tens of minutes."""
UNANSWERED: Final = "background"
"""Why there is no answer: the agent did not come back for it, as far as this process saw."""

_LOOK: Final = re.compile(r"/responses/(?P<id>resp_[\w-]{1,256})$", re.ASCII)
_CANCEL: Final = re.compile(r"/responses/(?P<id>resp_[\w-]{1,256})/cancel$", re.ASCII)
_OF_ONE: Final = "/responses/resp_"
"""What both of them hold: the cheap no of most requests."""
_ASKED: Final = b'"background"'
_OPEN: Final = ("queued", "in_progress")


class Waiting(Protocol):
    """A call whose answer is not there yet."""

    def answer(self, answered: "ModelExchange", /) -> None:
        """Tell the call with its answer, which another call brought."""
        ...

    def give_up(self) -> None:
        """Tell the call without its answer."""
        ...


def looked_for(method: str, path: str) -> str | None:
    """Return the id of the response that a call looks at, or cancels; None for any other call."""
    if _OF_ONE not in path:
        return None
    pattern = {"GET": _LOOK, "POST": _CANCEL}.get(method)
    found = None if pattern is None else pattern.search(path)
    return None if found is None else found["id"]


def unanswered(exchange: "ModelExchange") -> str | None:
    """Return the id of a response that was asked for in the background and is not there yet."""
    asked = exchange.asked
    if asked is None or _ASKED not in asked or lookup(decode(asked), "background") is not True:
        return None
    body = _answered(exchange)
    return word(body.get("id")) if body.get("status") in _OPEN else None


def is_answer(exchange: "ModelExchange") -> bool:
    """Tell whether a response has come to its end, be that a failure."""
    status = word(_answered(exchange).get("status"))
    return status is not None and status not in _OPEN


def _answered(exchange: "ModelExchange") -> Mapping[str, Any]:
    content_type, data = exchange.headers.get("content-type", ""), exchange.answered
    if is_stream(content_type, data):
        return assemble(events(content_type, data, exchange.tail))
    return as_mapping(decode(data))


@dataclass(frozen=True, slots=True)
class _Held:
    call: Waiting
    size: int
    since: float


class BackgroundCalls:
    """The calls of a process that wait for their answers, bounded in number, bytes and time."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._waiting: OrderedDict[str, _Held] = OrderedDict()
        self._bytes = 0
        self._lock = threading.RLock()

    def reset_after_fork(self) -> None:
        """Begin anew in a forked child: the calls are the parent's."""
        self._reset()

    def hold(self, identity: str, call: Waiting, size: int) -> None:
        """Keep a call until its answer is there; the oldest that there is no room for give up.

        Args:
            identity: of the response.
            call: that asked for it.
            size: bytes that it keeps alive.
        """
        now = time.monotonic()
        given_up: list[Waiting] = []
        with self._lock:
            self._waiting[identity] = _Held(call, size, now)
            self._bytes += size
            while self._waiting and self._is_too_much(now):
                given_up.append(self._remove(next(iter(self._waiting))))
        for each in given_up:
            each.give_up()

    def _is_too_much(self, now: float) -> bool:
        oldest = next(iter(self._waiting.values()))
        full = len(self._waiting) > MAX_WAITING or self._bytes > MAX_BYTES
        return full or now - oldest.since > MAX_SECONDS

    def _remove(self, identity: str) -> Waiting:
        held = self._waiting.pop(identity)
        self._bytes -= held.size
        return held.call

    def __contains__(self, identity: str) -> bool:
        return identity in self._waiting

    def take(self, identity: str) -> Waiting | None:
        """Return a call whose answer is there; it waits no longer."""
        with self._lock:
            return self._remove(identity) if identity in self._waiting else None

    def give_up(self) -> None:
        """Tell all calls without their answers, at the end of the process."""
        for identity in list(self._waiting):
            call = self.take(identity)
            if call is not None:
                call.give_up()
