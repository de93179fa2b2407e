"""Fetches and builds what the tests' services are made of, before the tests.

Run as `python -m tests.services.prepare`. A first build of the Collector outlasts a test's time
limit, and a suite that starts with everything in the cache has times that mean something.
"""

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from tests.services.cache import cache_directory
from tests.services.kafka_distribution import prepare_kafka
from tests.services.otelcol import otelcol_binary
from tests.services.prometheus_tools import prometheus_binaries
from tests.services.unavailable import UnavailableError, in_ci


class Part(NamedTuple):
    """A service and how to get it."""

    name: str
    bring: Callable[[], object]


PARTS = (
    Part("Kafka", prepare_kafka),
    Part("Prometheus and Alertmanager", prometheus_binaries),
    Part("OpenTelemetry Collector", otelcol_binary),
)


def prepare(parts: tuple[Part, ...] = PARTS) -> list[str]:
    """Bring every part, say what it took, and return the names of those that cannot be had."""
    print(f"cache: {cache_directory()}")
    missing: list[str] = []
    for part in parts:
        print(f"{part.name} ...", flush=True)
        began = time.monotonic()
        try:
            part.bring()
        except UnavailableError as error:
            print(f"{part.name}: missing: {error}")
            missing.append(part.name)
        else:
            print(f"{part.name}: ready after {time.monotonic() - began:.0f} s")
    return missing


def main() -> int:
    """Prepare all; the exit status is 1 when in CI a part is missing."""
    return int(bool(prepare()) and in_ci())


if __name__ == "__main__":
    sys.exit(main())
