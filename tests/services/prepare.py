"""Fetches and builds what the tests' services are made of, before the tests.

Run as `python -m tests.services.prepare`. A first build of the Collector outlasts a test's time
limit, and a suite that starts with everything in the cache has times that mean something.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from tests.packages.environments import prepare_environments
from tests.services.cache import cache_directory
from tests.services.chromium import chromium
from tests.services.kafka_distribution import prepare_kafka
from tests.services.otelcol import otelcol_binary
from tests.services.prometheus_tools import prometheus_binaries
from tests.services.unavailable import UnavailableError, in_ci

_STILL_AT_IT_SECONDS = 30.0


class Part(NamedTuple):
    """A service and how to get it."""

    name: str
    bring: Callable[[], object]


PARTS = (
    Part("OpenTelemetry Collector", otelcol_binary),
    Part("Kafka", prepare_kafka),
    Part("Prometheus and Alertmanager", prometheus_binaries),
    Part("Environments of agent frameworks", prepare_environments),
    Part("Chromium", chromium),
)

DEBIAN_PACKAGES: Mapping[str, str] = {
    "chromium": "chromium",
    "java": "openjdk-17-jre-headless",
    "mvn": "maven",
    "prometheus": "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
}
"""Commands that the parts need, and what brings them where packages may be installed."""


def prepare(
    parts: tuple[Part, ...] = PARTS, *, still_at_it: float = _STILL_AT_IT_SECONDS
) -> list[str]:
    """Bring every part, all at once, and return the names of those that cannot be had.

    Each is told when it begins and ends, and what is still at work every `still_at_it` seconds.
    """
    _say(f"cache: {cache_directory()}")
    missing: list[str] = []
    began = time.monotonic()
    # One builds, one downloads, one unpacks: side by side they take as long as the slowest.
    with ThreadPoolExecutor(len(parts)) as pool:
        waiting: dict[Future[object], str] = {}
        for part in parts:
            _say(f"{part.name} ...")
            waiting[pool.submit(part.bring)] = part.name
        while waiting:
            done, _ = wait(waiting, timeout=still_at_it, return_when=FIRST_COMPLETED)
            took = time.monotonic() - began
            if not done:
                _say(f"{took:4.0f} s: still at work on {', '.join(waiting.values())}")
            for future in done:
                name = waiting.pop(future)
                if not _told(name, future, took):
                    missing.append(name)
    return missing


def packages_to_install(
    root: bool, ci: bool, found: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """Return Debian's packages that are missing and that we may install: as root, in CI alone."""
    if not (root and ci) or found("apt-get") is None:
        return []
    return [package for command, package in DEBIAN_PACKAGES.items() if found(command) is None]


def install(packages: list[str]) -> None:
    """Install Debian packages without the services that they would start."""
    _say(f"installing {', '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        result = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            _say(f"{' '.join(command[:2])} failed:\n{result.stderr[-1000:]}")
            return


def _told(name: str, future: Future[object], took: float) -> bool:
    try:
        future.result()
    except UnavailableError as error:
        _say(f"{took:4.0f} s: {name}: missing: {error}")
        return False
    _say(f"{took:4.0f} s: {name}: ready")
    return True


def _say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    """Prepare all; the exit status is 1 when in CI a part is missing."""
    packages = packages_to_install(root=os.geteuid() == 0, ci=in_ci())
    if packages:
        install(packages)
    return int(bool(prepare()) and in_ci())


if __name__ == "__main__":
    sys.exit(main())
