"""Settings of the test brokers: small, quick to start, quick to notice what a test does to them."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.services.ports import LOOPBACK

Settings = Mapping[str, str | int]

LOG4J = """\
status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{HH:mm:ss.SSS} %-5p %c{1} %m%n
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
"""

_SMALL: Settings = {
    "offsets.topic.num.partitions": 4,
    "transaction.state.log.num.partitions": 4,
    "share.coordinator.state.topic.num.partitions": 1,
    # The default of 128 MiB is taken from the heap at the start.
    "log.cleaner.dedupe.buffer.size": 8388608,
    "num.network.threads": 2,
    "num.io.threads": 4,
    "background.threads": 2,
    "auto.create.topics.enable": "false",
}

_QUICK: Settings = {
    # A group forms at once, and a test's member may have a session short enough to die in.
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 500,
    # Background work comes round within a test's patience.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
    "log.initial.task.delay.ms": 500,
    "log.retention.check.interval.ms": 1000,
    "log.segment.delete.delay.ms": 1000,
    "log.cleaner.backoff.ms": 500,
    # A dead node is fenced in 3 s instead of 9.
    "broker.heartbeat.interval.ms": 500,
    "broker.session.timeout.ms": 3000,
    "replica.lag.time.max.ms": 10000,
}


class NodePorts(NamedTuple):
    """A node's listeners, apart so that a proxy can stand before the clients alone."""

    client: int
    broker: int
    controller: int


def node_settings(
    node: int,
    ports: Mapping[int, NodePorts],
    *,
    data: Path,
    overrides: Mapping[str, str | int | None],
) -> str:
    """Return the text of `server.properties` for one node of the cluster that `ports` lists.

    An override of None leaves one of our settings out, so that Kafka's default holds.
    """
    settings = {
        **_listeners(node, ports),
        "log.dirs": str(data),
        **_replication(len(ports)),
        **_SMALL,
        **_QUICK,
        **overrides,
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items() if value is not None)


def _listeners(node: int, ports: Mapping[int, NodePorts]) -> Settings:
    own = ports[node]
    client, broker = f"CLIENT://{LOOPBACK}:{own.client}", f"BROKER://{LOOPBACK}:{own.broker}"
    voters = (f"{other}@{LOOPBACK}:{port.controller}" for other, port in ports.items())
    return {
        "process.roles": "broker,controller",
        "node.id": node,
        "listeners": f"{client},{broker},CONTROLLER://{LOOPBACK}:{own.controller}",
        "advertised.listeners": f"{client},{broker}",
        "listener.security.protocol.map": (
            "CLIENT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT"
        ),
        "inter.broker.listener.name": "BROKER",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": ",".join(voters),
    }


def _replication(nodes: int) -> Settings:
    factor = min(nodes, 3)
    in_sync = max(1, factor - 1)
    return {
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": factor,
        "share.coordinator.state.topic.min.isr": in_sync,
        "default.replication.factor": factor,
        "min.insync.replicas": in_sync,
    }
