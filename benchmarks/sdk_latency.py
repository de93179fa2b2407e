"""What an agent's requests wait for the SDK: wall time, with real sockets and many at once.

`python -m benchmarks.sdk_latency` (four to five minutes) fetches pages from a server in another
process and times each request on the caller's side. The server takes its time for each, as the
network does, and says how long it was; what is left is the agent's own time in the request, and
rows compare that.

* Ours beside the stock httpx instrumentation, with 1, 10 and 100 requests at a time, in threads
  and in asyncio. About 100 requests a second at 10 and 100: what is measured is what a request
  waits, not how many a saturated interpreter can do.
* With a collector that swallows, delays, refuses or rejects what it is sent, beside a healthy one
  and beside no SDK at all: the difference at p99, requests that failed, spans that were lost
  without being counted, and how long the shutdown took.

All sides take turns in one run. A percentile is that of all requests of a side; its interval comes
from drawing whole rounds again.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Final

import httpx
from opentelemetry.metrics import NoOpMeterProvider

from benchmarks.answering import WAITED, answering
from benchmarks.rows import Row, argument_parser, interleaved, report
from benchmarks.sdk import encoding_exporters, stock
from seekwatch.sdk import agent_run, instrument, uninstrument
from seekwatch.sdk._export import exporters
from seekwatch.sdk._runtime import current

WIDTHS: Final = (1, 10, 100)
WAIT_MS: Final = 20
"""The least that the server takes for a page."""
WAIT_MS_EACH: Final = 10
"""What it takes for each request at a time, so that about 100 a second are asked for."""
DEAD: Final = ("black hole", "slow", "refusing", "4xx", "5xx")
DEAD_WIDTH: Final = 10
DEAD_ROUNDS: Final = 3
"""At most: four of these collectors hold the shutdown until its deadline."""
DEAD_GOAL_MS: Final = 1.0
SHUTDOWN_GOAL_SECONDS: Final = 5.0
_SHUTDOWN_MARGIN: Final = 0.25
"""What closing sockets and threads may take beyond the deadline."""
_NOBODY: Final = "http://127.0.0.1:9"
_LIMITS: Final = httpx.Limits(max_connections=None, max_keepalive_connections=None)


@dataclass(frozen=True)
class Waits:
    """The agent's own time in requests, in milliseconds, and how many failed."""

    taken: list[float]
    failed: int


class Clock:
    """Times requests; what the server took is taken off."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.failed = 0

    def note(self, started: float, response: httpx.Response) -> None:
        """Note a request that was answered."""
        taken = (time.perf_counter() - started) * 1000
        self.taken.append(taken - float(response.headers[WAITED]))


def delays(width: int) -> list[float]:
    """Return when each of so many callers begins, in seconds: they must not run in step."""
    return [wait_of(width) / 1000 * number / width for number in range(width)]


def in_threads(url: str, width: int, count: int) -> Waits:
    """Fetch `count` pages, `width` at a time, a thread each."""
    clock = Clock()
    with httpx.Client(limits=_LIMITS, timeout=30) as client, ThreadPoolExecutor(width) as pool:

        def worker(clock: Clock, requests: int, delay: float) -> None:
            time.sleep(delay)
            for _ in range(requests):
                started = time.perf_counter()
                try:
                    clock.note(started, client.get(url))
                except httpx.HTTPError:
                    clock.failed += 1

        def run(clock: Clock, requests: int) -> None:
            # In the caller's context, so beneath its span, as tasks are.
            contexts = [(copy_context(), delay) for delay in delays(width)]
            submitted = [
                pool.submit(context.run, worker, clock, requests, delay)
                for context, delay in contexts
            ]
            for done in submitted:
                done.result()

        # Connections are opened and threads started first.
        run(Clock(), 1)
        run(clock, count // width)
    return Waits(clock.taken, clock.failed)


def in_asyncio(url: str, width: int, count: int) -> Waits:
    """Fetch `count` pages, `width` at a time, a task each."""
    clock = Clock()

    async def main() -> None:
        async with httpx.AsyncClient(limits=_LIMITS, timeout=30) as client:

            async def worker(clock: Clock, requests: int, delay: float) -> None:
                await asyncio.sleep(delay)
                for _ in range(requests):
                    started = time.perf_counter()
                    try:
                        clock.note(started, await client.get(url))
                    except httpx.HTTPError:
                        clock.failed += 1

            # Connections are opened first.
            await asyncio.gather(*(worker(Clock(), 1, delay) for delay in delays(width)))
            each = count // width
            await asyncio.gather(*(worker(clock, each, delay) for delay in delays(width)))

    asyncio.run(main())
    return Waits(clock.taken, clock.failed)


Fetch = Callable[[str, int, int], Waits]


def wait_of(width: int) -> int:
    """Return how many milliseconds the server takes with so many requests at a time."""
    return max(WAIT_MS, WAIT_MS_EACH * width)


def requests_in(seconds: float, width: int) -> int:
    """Return how many requests take about so long, a multiple of the width."""
    return width * max(1, round(seconds * 1000 / wait_of(width)))


def percentile(samples: Sequence[Waits], share: float) -> float:
    """Return the time that this share of the requests of all samples stayed below."""
    taken = sorted(each for sample in samples for each in sample.taken)
    return taken[min(len(taken) - 1, int(len(taken) * share))]


def added_row(
    name: str,
    above: Sequence[Waits],
    below: Sequence[Waits],
    share: float,
    *,
    goal: float | None = None,
) -> Row:
    """Return the row of the difference between two sides at a percentile."""
    source = random.Random(0)
    rounds = range(len(above))
    drawn: list[float] = []
    for _ in range(500):
        chosen = source.choices(rounds, k=len(rounds))
        high = percentile([above[each] for each in chosen], share)
        drawn.append(high - percentile([below[each] for each in chosen], share))
    drawn.sort()
    baseline = percentile(below, share)
    return Row(
        name=name,
        value=percentile(above, share) - baseline,
        unit="ms",
        better="lower",
        goal=goal,
        baseline=baseline,
        n=sum(len(sample.taken) for sample in above),
        ci_low=drawn[int(len(drawn) * 0.025)],
        ci_high=drawn[int(len(drawn) * 0.975)],
    )


@contextmanager
def ours() -> Generator[None]:
    """Instrument, with a run around the requests."""
    instrument("benchmark", meter_provider=NoOpMeterProvider())
    try:
        with agent_run("What is measured here?"):
            yield
    finally:
        uninstrument()


def beside_stock(address: str, fetch: Fetch, width: int, seconds: float, rounds: int) -> list[Row]:
    """Compare ours with the stock instrumentation at one width."""
    url, count = f"{address}/page/{wait_of(width)}", requests_in(seconds, width)
    waits: dict[str, list[Waits]] = {"ours": [], "stock": []}

    def of_ours() -> float:
        with ours():
            waits["ours"].append(fetch(url, width, count))
        return 0.0

    def of_stock() -> float:
        with stock() as provider, provider.get_tracer("bare").start_as_current_span("around"):
            waits["stock"].append(fetch(url, width, count))
        return 0.0

    interleaved({"ours": of_ours, "stock": of_stock}, rounds=rounds, warm_up=0)
    how = "asyncio" if fetch is in_asyncio else "threads"
    return [
        added_row(
            f"{width} at a time, {how}: added to the stock's {label}",
            waits["ours"],
            waits["stock"],
            share,
        )
        for label, share in (("p50", 0.5), ("p99", 0.99))
    ]


@dataclass(frozen=True)
class Told:
    """What the SDK says about itself after a shutdown."""

    exported: int
    lost: int
    """Spans that it counted as dropped or refused."""
    shutdown_seconds: float


class Collectors:
    """The same requests with every kind of collector, and what became of the spans."""

    def __init__(self, address: str, seconds: float) -> None:
        self._address = address
        self._url = f"{address}/page/{wait_of(DEAD_WIDTH)}"
        self.count = requests_in(seconds, DEAD_WIDTH)
        self.waits: dict[str, list[Waits]] = {}
        self.told: dict[str, list[Told]] = {}

    def measure(self, rounds: int) -> None:
        """Measure all kinds in turns."""
        kinds = ("no SDK", "healthy", *DEAD)
        interleaved({kind: self._subject(kind) for kind in kinds}, rounds=rounds, warm_up=0)

    def _subject(self, kind: str) -> Callable[[], float]:
        endpoint = _NOBODY if kind == "refusing" else f"{self._address}/{kind.replace(' ', '-')}"

        def fetch() -> None:
            fetched = in_asyncio(self._url, DEAD_WIDTH, self.count)
            self.waits.setdefault(kind, []).append(fetched)

        def once() -> float:
            if kind == "no SDK":
                fetch()
                return 0.0
            instrument("benchmark", endpoint=endpoint, meter_provider=NoOpMeterProvider())
            with agent_run("What is measured here?"):
                fetch()
            self.told.setdefault(kind, []).append(shut_down())
            return 0.0

        return once

    def rows(self) -> list[Row]:
        """Return the rows of all dead collectors."""
        return [row for kind in DEAD for row in self._rows(kind)]

    def _rows(self, kind: str) -> list[Row]:
        waits, told = self.waits[kind], self.told[kind]
        made = [each.exported + each.lost for each in self.told["healthy"]]
        gone = [max(0, a - b.exported - b.lost) for a, b in zip(made, told, strict=True)]
        name = f"collector, {kind}"
        slower = (("a healthy one", "healthy", DEAD_GOAL_MS), ("no SDK", "no SDK", None))
        return [
            *(
                added_row(
                    f"{name}: slower at p99 than with {other}",
                    waits,
                    self.waits[side],
                    0.99,
                    goal=goal,
                )
                for other, side, goal in slower
            ),
            self._row(f"{name}: failed requests", sum(each.failed for each in waits), "requests"),
            self._row(f"{name}: spans lost and not counted", sum(gone), "spans"),
            self._row(
                f"{name}: longest shutdown",
                max(each.shutdown_seconds for each in told),
                "s",
                SHUTDOWN_GOAL_SECONDS + _SHUTDOWN_MARGIN,
            ),
        ]

    def _row(self, name: str, value: float, unit: str, goal: float = 0) -> Row:
        return Row(name=name, value=value, unit=unit, better="lower", goal=goal, n=self.count)


def shut_down() -> Told:
    """Shut the SDK down; returns what it has to say then."""
    runtime = current()
    processors = [] if runtime is None else list(runtime.processors)
    started = time.perf_counter()
    uninstrument()
    seconds = time.perf_counter() - started
    lost = sum(each.dropped + each.refused for each in processors)
    return Told(sum(each.exported for each in processors), lost, seconds)


def measure(rounds: int, seconds: float) -> list[Row]:
    """Measure everything and return the rows."""
    rows: list[Row] = []
    with answering() as address:
        real = exporters.span_exporters
        exporters.span_exporters = encoding_exporters
        try:
            for width in WIDTHS:
                for fetch in (in_threads, in_asyncio):
                    rows += beside_stock(address, fetch, width, seconds, rounds)
        finally:
            exporters.span_exporters = real
        collectors = Collectors(address, seconds)
        collectors.measure(min(rounds, DEAD_ROUNDS))
        rows += collectors.rows()
    return rows


def main() -> int:
    """Measure and report."""
    parser = argument_parser("Wall time that the SDK adds to requests")
    parser.add_argument("--rounds", type=int, default=4, help="samples of each (default 4)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a sample (default 2)")
    arguments = parser.parse_args()
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "http"
    # Often enough that every sample meets its collector.
    os.environ["OTEL_BSP_SCHEDULE_DELAY"] = "200"
    return report(measure(arguments.rounds, arguments.seconds), arguments)


if __name__ == "__main__":
    sys.exit(main())
