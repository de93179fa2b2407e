"""What happens inside one call of the agent: answers on the way to its result.

An exchange is one request of the client and its answer: a redirect hop, an authentication round,
the final page. Below it a transport may go to the wire more than once (it retries) or not at all
(it is a cache), so each trip over the wire is noted too.
"""

import time

import httpx


class Wire:
    """One trip over the wire by one of httpx's own transports."""

    __slots__ = ("error", "headers", "request", "seconds", "started_ns", "status")

    def __init__(self, request: httpx.Request) -> None:
        self.request = request
        self.status: int | None = None
        self.headers: httpx.Headers | None = None
        self.error: BaseException | None = None
        self.seconds = 0.0
        self.started_ns = time.time_ns()

    def ended(self, response: httpx.Response | None, error: BaseException | None = None) -> None:
        """Note the answer, or why there was none."""
        self.seconds = (time.time_ns() - self.started_ns) / 1e9
        self.error = error
        if response is not None:
            self.status = response.status_code
            self.headers = response.headers


class Exchange:
    """One request of the client and its answer."""

    __slots__ = ("_started", "location", "seconds", "status", "url", "wires")

    def __init__(self, url: httpx.URL) -> None:
        self.url = url
        self.status: int | None = None
        self.location: str | None = None
        self.seconds = 0.0
        self.wires: list[Wire] = []
        self._started = time.perf_counter()

    def ended(self, response: httpx.Response | None) -> None:
        """Note the answer; None when there was none."""
        self.seconds = time.perf_counter() - self._started
        if response is None:
            return
        self.status = response.status_code
        if 300 <= response.status_code < 400:
            self.location = response.headers.get("location")

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
