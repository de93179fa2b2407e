"""Real services as fixtures; none starts, and no client library loads, before a test asks for it.

A test keeps apart from its neighbours by fresh topic, group and transactional-id names, so one
broker serves the whole session.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.services.unavailable import UnavailableError, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.services.collected import CollectedTopics
    from tests.services.kafka_broker import Kafka
    from tests.services.otelcol import Collector
    from tests.services.prometheus_tools import PrometheusTools


# A machine that stands still for a moment is no defect.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")


def pytest_sessionstart() -> None:
    """Hear Ctrl-C where a shell started the tests in the background, which has it ignored.

    What is ignored stays so in every process that a test starts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave nightly tests out, unless a marker expression or a test's own id asks for them."""
    asked = config.option.markexpr or any("::" in argument for argument in config.args)
    nightly = [] if asked else [item for item in items if item.get_closest_marker("nightly")]
    if nightly:
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """One Kafka broker for the session. Do not kill it: make a `Kafka()` of your own for that."""
    from tests.services.kafka_broker import Kafka

    cluster = Kafka()
    try:
        cluster.start()
    except UnavailableError as error:
        cluster.stop()
        unavailable(error)
    yield cluster
    cluster.stop()


@pytest.fixture
def kafka_topic(kafka: Kafka) -> str:
    """A topic of four partitions that no other test uses."""
    return kafka.create_topic(partitions=4)


@pytest.fixture(scope="session")
def prometheus_tools() -> PrometheusTools:
    """Prometheus, promtool, Alertmanager and amtool."""
    from tests.services.prometheus_tools import prometheus_binaries

    try:
        return prometheus_binaries()
    except UnavailableError as error:
        unavailable(error)


@pytest.fixture(scope="session")
def otelcol_binary() -> Path:
    """The OpenTelemetry Collector with the components that `collector/otelcol.yaml` names."""
    from tests.services.otelcol import otelcol_binary

    try:
        return otelcol_binary()
    except UnavailableError as error:
        unavailable(error)


@pytest.fixture(scope="session")
def otelcol_topics(kafka: Kafka) -> CollectedTopics:
    """The two topics that the session's Collector writes."""
    from tests.services.collected import CollectedTopics

    return CollectedTopics(kafka)


@pytest.fixture(scope="session")
def otelcol(
    otelcol_binary: Path,
    otelcol_topics: CollectedTopics,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Collector]:
    """One Collector for the session, with the production configuration. Do not kill it."""
    from tests.services.otelcol import Collector
    from tests.services.ports import LOOPBACK, free_ports

    with Collector(
        otelcol_binary,
        directory=tmp_path_factory.mktemp("otelcol"),
        # Nobody listens at the first address: the second has to be found.
        brokers=f"{LOOPBACK}:{free_ports(1)[0]},{otelcol_topics.bootstrap}",
        traces_topic=otelcol_topics.traces,
        logs_topic=otelcol_topics.logs,
    ) as collector:
        yield collector


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the work tree."""
    return Path(__file__).resolve().parent.parent
