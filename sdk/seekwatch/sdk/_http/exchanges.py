"""What happens inside one call of the agent: answers on the way to its result.

An exchange is one request of the client and its answer: a redirect hop, an authentication round,
the final page. Below it a transport may go to the wire more than once (it retries) or not at all
(it is a cache), so each trip over the wire is noted too.
"""

import time
from typing import Final

from .messages import RequestView, ResponseView

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class Wire:
    """One trip over the wire by one of the library's own transports."""

    __slots__ = ("error", "exchange", "request", "response", "seconds", "started_ns")

    def __init__(self, request: RequestView, exchange: "Exchange | None" = None) -> None:
        self.request = request
        self.exchange = exchange
        """Set where the trip is all that is known of an exchange."""
        self.response: ResponseView | None = None
        self.error: BaseException | None = None
        self.seconds = 0.0
        self.started_ns = time.time_ns()

    @property
    def status(self) -> int | None:
        """The status of the answer, if one came."""
        return None if self.response is None else self.response.status

    def ended(self, response: ResponseView | None, error: BaseException | None = None) -> None:
        """Note the answer, or why there was none."""
        self.seconds = (time.time_ns() - self.started_ns) / 1e9
        self.error = error
        self.response = response
        if self.exchange is not None:
            status = self.status
            location = response.header("location") if response and status in _REDIRECTS else None
            self.exchange.ended(status, location)


class Exchange:
    """One request of the client and its answer.

    Args:
        asked: the request, or its URL where that is all there is.
    """

    __slots__ = ("_asked", "_started", "location", "seconds", "status", "wires")

    def __init__(self, asked: RequestView | str) -> None:
        self._asked = asked
        self.status: int | None = None
        self.location: str | None = None
        self.seconds = 0.0
        self.wires: list[Wire] = []
        self._started = time.perf_counter()

    @property
    def url(self) -> str:
        """The URL that was asked; made a string only when it is needed."""
        return self._asked if isinstance(self._asked, str) else self._asked.url

    def ended(self, status: int | None, location: str | None = None) -> None:
        """Note the answer: its status, and where a redirect leads; None when there was none."""
        self.seconds = time.perf_counter() - self._started
        self.status = status
        self.location = location

    @property
    def hidden(self) -> list[Wire]:
        """Trips whose answer the client never got: failed tries, a cache's revalidation."""
        return self.wires[:-1] if self._answered_by_last() else self.wires

    @property
    def own_seconds(self) -> float:
        """How long the answer took that the client got, without the hidden trips."""
        if self._answered_by_last():
            return self.wires[-1].seconds
        return max(0.0, self.seconds - sum(wire.seconds for wire in self.wires))

    def _answered_by_last(self) -> bool:
        return bool(self.wires) and self.wires[-1].status == self.status
