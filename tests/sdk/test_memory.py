"""What the SDK holds is bounded, and what is over is let go: runs, responses, generators."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import httpx
import pytest

from seekwatch.sdk import agent_run, flush, instrument, retriever, tool, uninstrument
from seekwatch.sdk._instrument import statistics
from seekwatch.sdk._runtime import current
from tests.services.otlp_sink import BlackHole, HttpSink

PAGE = b"<p>" + b"snow " * 400 + b"</p>"
PER_RUN = 64
"""Bytes that a run may leave behind at most; 10^5 runs then leave 6 MB. A leaked span has 2,000."""
WINDOWS = 4


class Chunks(httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(PAGE), 256):
            yield PAGE[start : start + 256]


def answer(request: httpx.Request) -> httpx.Response:
    if request.url.path == "/stream":
        return httpx.Response(200, stream=Chunks())
    return httpx.Response(200, content=PAGE, headers={"content-type": "text/html"})


@tool
def use(argument: str) -> dict[str, str]:
    return {"used": argument}


@retriever
def search(query: str) -> list[dict[str, str]]:
    return [{"url": f"https://a.example/{query}", "title": query}]


@tool
def steps(count: int) -> Iterator[int]:
    yield from range(count)


@tool
async def ticks(count: int) -> AsyncIterator[int]:
    for number in range(count):
        yield number


Work = Callable[[httpx.Client, int], None]


def run(client: httpx.Client, number: int) -> None:
    with agent_run(f"question {number}") as started:
        search(f"query {number}")
        client.get(f"http://a.example/{number}")
        started.answer("a", [f"https://a.example/{number}"])


def leave_responses_open(client: httpx.Client, number: int) -> None:
    with agent_run(f"question {number}"):
        request = client.build_request("GET", "http://a.example/stream", params={"n": number})
        response = client.send(request, stream=True)
        next(response.iter_raw())


def leave_generators(client: httpx.Client, number: int) -> None:
    with agent_run(f"question {number}"):
        next(iter(steps(3)))

    async def asynchronously() -> None:
        async for _ in ticks(3):
            break

    if number % 20 == 0:
        asyncio.run(asynchronously())


def raise_errors(client: httpx.Client, number: int) -> None:
    try:
        with agent_run(f"question {number}"):
            raise ValueError(str(number))
    except ValueError:
        pass


def without_a_root(client: httpx.Client, number: int) -> None:
    async def task() -> None:
        use(str(number))

    if number % 20 == 0:
        asyncio.run(task())
    use(str(number))


def in_an_executor(client: httpx.Client, number: int) -> None:
    if number % 20:
        return
    with ThreadPoolExecutor(2) as pool, agent_run(f"question {number}"):
        list(pool.map(use, map(str, range(20))))


WORK: list[Work] = [
    run,
    leave_responses_open,
    leave_generators,
    raise_errors,
    without_a_root,
    in_an_executor,
]


def least_growth(do: Callable[[int], object], count: int) -> float:
    """Bytes that one `do(number)` leaves behind, in the best of four windows of `count`.

    What leaks grows in every window. What grows in one alone is a cache that fills or a table that
    is made larger, at a moment that nobody chooses: 40 KB at once are nothing that a run leaves.
    """

    def held_after(window: int) -> int:
        for number in range(window * count, (window + 1) * count):
            do(number)
            if number % 200 == 0:
                flush()
        flush()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        held = [held_after(window) for window in range(WINDOWS + 1)]
    finally:
        tracemalloc.stop()
    return min(after - before for before, after in pairwise(held)) / count


def grown(work: Work, count: int) -> float:
    """Bytes that a piece of work leaves behind on an instrumented client."""
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        return least_growth(lambda number: work(client, number), count)


class Forgetful(HttpSink):
    """Keeps nothing of what it gets: it lives in the process that is measured."""

    def take_traces(self, body: bytes) -> None:
        """Forget it."""

    def take_metrics(self, body: bytes) -> None:
        """Forget it."""


def test_a_leak_is_found() -> None:
    kept: list[bytes] = []
    assert least_growth(lambda _: kept.append(bytes(200)), 250) > 200


@pytest.mark.parametrize("moment", [300, 600, 900])
def test_what_grows_once_is_no_leak(moment: int) -> None:
    kept: list[bytes] = []

    def do(number: int) -> None:
        if number == moment:
            kept.append(bytes(40_000))

    assert least_growth(do, 250) < PER_RUN


@pytest.fixture
def small_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered of the last runs, within a bound, is full at once and grows no more."""
    from seekwatch.sdk import _runtime
    from seekwatch.sdk._runs import sampling

    monkeypatch.setattr(_runtime, "_MAX_ATTEMPT_KEYS", 100)
    monkeypatch.setattr(sampling, "_REMEMBERED", 100)


@pytest.mark.usefixtures("small_memories")
@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_what_is_over_is_let_go(work: Work) -> None:
    with Forgetful() as sink:
        instrument("lasting", endpoint=sink.url)
        left = grown(work, 250)
        assert statistics()["spans_dropped"] == 0
        uninstrument()
    assert left < PER_RUN, f"{left:.0f} bytes a run"


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_runs_leave_nothing_behind() -> None:
    def all_of_it(client: httpx.Client, number: int) -> None:
        WORK[number % len(WORK)](client, number)

    with Forgetful() as sink:
        instrument("lasting", endpoint=sink.url)
        left = grown(all_of_it, 20_000)
        uninstrument()
    assert left < PER_RUN, f"{left:.0f} bytes a run"


@pytest.mark.usefixtures("stated_deadlines")
def test_a_collector_that_takes_nothing_costs_no_more_than_the_stated_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from seekwatch.sdk._export import batching

    bound = 4 * 1024 * 1024
    monkeypatch.setattr(batching, "QUEUE_BYTES", bound)
    monkeypatch.setattr(batching.BatchingProcessor.__init__, "__kwdefaults__", {
        "before_flush": None, "max_bytes": bound,
    })  # fmt: skip
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000000")
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    with BlackHole() as hole:
        instrument("lasting", endpoint=hole.url)
        runtime = current()
        assert runtime is not None
        tracemalloc.start()
        try:
            for number in range(4000):
                with agent_run("x" * 2000) as started:
                    started.answer(f"{number} " + "y" * 2000)
            # What waits to be finished has a bound of its own; this is about what is finished.
            # A run and its context hold each other: what is garbage is not held.
            assert runtime.finisher.drain(60)
            gc.collect()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        dropped = statistics()["spans_dropped"]
        uninstrument()
    assert dropped > 0
    # A string is counted as often as it is named; the objects around it cost as much again.
    assert held < 3 * bound


def test_bodies_that_wait_are_bounded() -> None:
    from seekwatch.sdk._finisher import MAX_BYTES, Finisher

    class Body:
        size = 1024 * 1024

        def __init__(self) -> None:
            self.abandoned = 0

        def finish(self) -> None:
            raise AssertionError("never reached")

        open_spans = 1

        def abandon(self, reason: str) -> None:
            self.abandoned += 1

    finisher: Any = Finisher()
    finisher._start = lambda: None
    bodies = [Body() for _ in range(100)]
    for body in bodies:
        finisher.submit(body)
    assert sum(body.abandoned for body in bodies) == 100 - MAX_BYTES // Body.size
