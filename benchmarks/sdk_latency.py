"""What an agent's requests wait for the SDK: wall time, with real sockets and many at once.

`python -m benchmarks.sdk_latency` fetches pages from a server in another process and times each
request on the caller's side:

* ours beside the stock httpx instrumentation, at p50 and p99, with 1, 10 and 100 requests at a
  time, in threads and in asyncio. The server takes 4 ms for each request at a time, so that about
  250 a second are asked for at every width: a busy agent, not a saturated interpreter.
* with a collector that swallows, delays, refuses or rejects what it is sent, beside a healthy one:
  the difference at p99, requests that failed, and how long the shutdown took.

A row is the median over rounds of the difference between the two sides of a round.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Final

import httpx
from opentelemetry.metrics import NoOpMeterProvider

from benchmarks.answering import answering
from benchmarks.rows import Row, argument_parser, interleaved, median_row, report
from benchmarks.sdk import encoding_exporters, stock
from seekwatch.sdk import agent_run, instrument, uninstrument
from seekwatch.sdk._export import exporters

WIDTHS: Final = (1, 10, 100)
MILLISECONDS_EACH: Final = 4
DEAD: Final = ("black hole", "slow", "refusing", "4xx", "5xx")
DEAD_GOAL_MS: Final = 1.0
SHUTDOWN_GOAL_SECONDS: Final = 5.0
_SHUTDOWN_MARGIN: Final = 0.25
"""What closing sockets and threads may take beyond the deadline."""
_NOBODY: Final = "http://127.0.0.1:9"
_NO_KEEPALIVE_LIMIT: Final = httpx.Limits(max_connections=None, max_keepalive_connections=None)


@dataclass(frozen=True)
class Waits:
    """How long requests took, in milliseconds, sorted; and how many failed."""

    taken: list[float]
    failed: int

    def percentile(self, share: float) -> float:
        """Return the time that this share of the requests stayed below."""
        return self.taken[min(len(self.taken) - 1, int(len(self.taken) * share))]


def in_threads(url: str, width: int, count: int) -> Waits:
    """Fetch `count` pages, `width` at a time, a thread each."""
    taken: list[float] = []
    failures: list[Exception] = []
    with httpx.Client(limits=_NO_KEEPALIVE_LIMIT, timeout=30) as client:

        def one() -> None:
            started = time.perf_counter()
            try:
                client.get(url)
            except httpx.HTTPError as error:
                failures.append(error)
            taken.append((time.perf_counter() - started) * 1000)

        with ThreadPoolExecutor(width) as pool:

            def run(requests: int) -> None:
                # In the caller's context, so beneath its span, as tasks are.
                contexts = [copy_context() for _ in range(requests)]
                for done in [pool.submit(context.run, one) for context in contexts]:
                    done.result()

            # Connections are opened and threads started first.
            run(width)
            taken.clear()
            run(count)
    return Waits(sorted(taken), len(failures))


def in_asyncio(url: str, width: int, count: int) -> Waits:
    """Fetch `count` pages, `width` at a time, a task each."""
    taken: list[float] = []
    failures: list[Exception] = []

    async def main() -> None:
        async with httpx.AsyncClient(limits=_NO_KEEPALIVE_LIMIT, timeout=30) as client:

            async def worker(requests: int) -> None:
                for _ in range(requests):
                    started = time.perf_counter()
                    try:
                        await client.get(url)
                    except httpx.HTTPError as error:
                        failures.append(error)
                    taken.append((time.perf_counter() - started) * 1000)

            await asyncio.gather(*(worker(1) for _ in range(width)))
            taken.clear()
            await asyncio.gather(*(worker(count // width) for _ in range(width)))

    asyncio.run(main())
    return Waits(sorted(taken), len(failures))


@contextmanager
def ours(endpoint: str | None = None) -> Generator[None]:
    """Instrument, with a run around the requests."""
    instrument("benchmark", endpoint=endpoint, meter_provider=NoOpMeterProvider())
    try:
        with agent_run("What is measured here?"):
            yield
    finally:
        uninstrument()


Fetch = Callable[[str, int, int], Waits]


def beside_stock(address: str, fetch: Fetch, width: int, count: int, rounds: int) -> list[Row]:
    """Compare ours with the stock instrumentation at one width."""
    url = f"{address}/page/{MILLISECONDS_EACH * width}"
    waits: dict[str, list[Waits]] = {"ours": [], "stock": []}

    def of_ours() -> float:
        with ours():
            waits["ours"].append(fetch(url, width, count))
        return 0.0

    def of_stock() -> float:
        with stock() as provider, provider.get_tracer("bare").start_as_current_span("around"):
            waits["stock"].append(fetch(url, width, count))
        return 0.0

    interleaved({"ours": of_ours, "stock": of_stock}, rounds=rounds)
    how = "asyncio" if fetch is in_asyncio else "threads"
    rows: list[Row] = []
    for label, share in (("p50", 0.5), ("p99", 0.99)):
        pairs = zip(waits["ours"][1:], waits["stock"][1:], strict=True)
        added = [a.percentile(share) - b.percentile(share) for a, b in pairs]
        below = sorted(each.percentile(share) for each in waits["stock"][1:])
        rows.append(
            median_row(
                f"{width} at a time, {how}: added at {label}",
                added,
                unit="ms",
                better="lower",
                baseline=below[len(below) // 2],
            )
        )
    return rows


def beside_healthy(address: str, count: int, rounds: int) -> list[Row]:
    """Compare every dead collector with a healthy one."""
    url, width = f"{address}/page/{MILLISECONDS_EACH * 10}", 10
    waits: dict[str, list[Waits]] = {}
    shutdowns: dict[str, list[float]] = {}

    def subject(kind: str) -> Callable[[], float]:
        endpoint = _NOBODY if kind == "refusing" else f"{address}/{kind.replace(' ', '-')}"

        def once() -> float:
            instrument("benchmark", endpoint=endpoint, meter_provider=NoOpMeterProvider())
            with agent_run("What is measured here?"):
                waits.setdefault(kind, []).append(in_asyncio(url, width, count))
            started = time.perf_counter()
            uninstrument()
            shutdowns.setdefault(kind, []).append(time.perf_counter() - started)
            return 0.0

        return once

    interleaved({kind: subject(kind) for kind in ("healthy", *DEAD)}, rounds=rounds)
    rows: list[Row] = []
    for kind in DEAD:
        pairs = zip(waits[kind][1:], waits["healthy"][1:], strict=True)
        rows.append(
            median_row(
                f"collector, {kind}: slower at p99",
                [dead.percentile(0.99) - healthy.percentile(0.99) for dead, healthy in pairs],
                unit="ms",
                better="lower",
                goal=DEAD_GOAL_MS,
            )
        )
        failed = sum(each.failed for each in waits[kind])
        rows.append(
            Row(
                name=f"collector, {kind}: failed requests",
                value=failed,
                unit="requests",
                better="lower",
                goal=0,
                n=count * rounds,
            )
        )
        rows.append(
            Row(
                name=f"collector, {kind}: longest shutdown",
                value=max(shutdowns[kind]),
                unit="s",
                better="lower",
                goal=SHUTDOWN_GOAL_SECONDS + _SHUTDOWN_MARGIN,
                n=len(shutdowns[kind]),
            )
        )
    return rows


def measure(rounds: int, count: int) -> list[Row]:
    """Measure everything and return the rows."""
    rows: list[Row] = []
    with answering() as address:
        real = exporters.span_exporters
        exporters.span_exporters = encoding_exporters
        for width in WIDTHS:
            for fetch in (in_threads, in_asyncio):
                rows += beside_stock(address, fetch, width, count, rounds)
        exporters.span_exporters = real
        rows += beside_healthy(address, count, max(3, rounds // 3))
    return rows


def main() -> int:
    """Measure and report."""
    parser = argument_parser("Wall time that the SDK adds to requests")
    parser.add_argument("--rounds", type=int, default=15, help="samples of each (default 15)")
    parser.add_argument("--count", type=int, default=400, help="requests a sample (default 400)")
    arguments = parser.parse_args()
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "http"
    # Often enough that every sample meets its collector.
    os.environ["OTEL_BSP_SCHEDULE_DELAY"] = "200"
    return report(measure(arguments.rounds, arguments.count), arguments)


if __name__ == "__main__":
    sys.exit(main())
