"""A real Apache Kafka cluster of one to three KRaft nodes on loopback.

The product's promises are about kills, rebalances and restarts; only the real broker shows them.
"""

import shutil
import signal
import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.services import kafka_client
from tests.services.kafka_distribution import JVM_OPTIONS, class_path, format_storage, java
from tests.services.kafka_metadata import cluster_view
from tests.services.kafka_settings import LOG4J, NodePorts, node_settings
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service, ServiceDiedError

_START_ATTEMPTS = 3


class Kafka:
    """Nodes 1 to `nodes`, each broker and controller; a context manager.

    Args:
        nodes: with three, replication is 3 and `min.insync.replicas` 2.
        settings: broker settings on top of ours; None leaves one of ours out.
        directory: where the nodes live; by default a temporary folder, removed at the end.
    """

    def __init__(
        self,
        nodes: int = 1,
        *,
        settings: Mapping[str, str | int | None] | None = None,
        directory: Path | None = None,
    ) -> None:
        self.nodes = tuple(range(1, nodes + 1))
        self._settings = dict(settings or {})
        self._directory = directory or Path(tempfile.mkdtemp(prefix="seekwatch-kafka-"))
        self._temporary = directory is None
        self._ports: dict[int, NodePorts] = {}
        self._services: dict[int, Service] = {}

    @property
    def bootstrap(self) -> str:
        """Addresses for `bootstrap_servers`, joined by commas."""
        return ",".join(f"{LOOPBACK}:{ports.client}" for ports in self._ports.values())

    def start(self) -> Self:
        """Start every node and wait until each sees all of them.

        Raises:
            UnavailableError: Java, Maven or the JARs cannot be had.
            ServiceDiedError: a node did not start; the message has its log's tail.
        """
        for attempt in range(1, _START_ATTEMPTS + 1):
            self._prepare()
            try:
                for node in self.nodes:
                    self._services[node].start()
                self._wait(self.nodes)
            except ServiceDiedError as error:
                self._kill_all()
                # Somebody took a port between our look and the start: others, then.
                if attempt == _START_ATTEMPTS or "Address already in use" not in str(error):
                    raise
            else:
                break
        return self

    def stop(self) -> None:
        """Kill every node and remove a temporary folder; a test needs no clean end."""
        self._kill_all()
        if self._temporary:
            shutil.rmtree(self._directory, ignore_errors=True)

    def kill(self, node: int = 1) -> None:
        """End a node as a crash would (SIGKILL)."""
        self._services[node].kill()

    def shut_down(self, node: int = 1) -> None:
        """End a node cleanly (SIGTERM)."""
        self._services[node].stop()

    def restart(self, node: int = 1) -> None:
        """Start a dead node on its data and port; wait until the living see each other."""
        self._services[node].start()
        self._wait(other for other in self.nodes if self.alive(other))

    def signal(self, number: signal.Signals, node: int = 1) -> None:
        """Send a signal: SIGSTOP makes a broker that hangs, SIGCONT wakes it."""
        self._services[node].signal(number)

    def alive(self, node: int = 1) -> bool:
        """Whether the node's process runs."""
        return self._services[node].alive

    def log(self, node: int = 1) -> Path:
        """Return the file that the node logs to."""
        return self._services[node].log

    def create_topic(
        self,
        name: str | None = None,
        *,
        partitions: int = 1,
        configuration: Mapping[str, str | int] | None = None,
    ) -> str:
        """Create a topic, by default under a name never used before, and return its name."""
        return kafka_client.create_topic(
            self.bootstrap, name, partitions=partitions, configuration=configuration
        )

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _prepare(self) -> None:
        """Choose ports and write each node's configuration and storage."""
        ports = free_ports(3 * len(self.nodes))
        self._ports = {
            node: NodePorts(*ports[3 * index : 3 * index + 3])
            for index, node in enumerate(self.nodes)
        }
        self._services = {node: self._service(node) for node in self.nodes}

    def _service(self, node: int) -> Service:
        directory = self._directory / f"node{node}"
        directory.mkdir(parents=True, exist_ok=True)
        logging, server = directory / "log4j2.properties", directory / "server.properties"
        logging.write_text(LOG4J)
        data = directory / "data"
        server.write_text(node_settings(node, self._ports, data=data, overrides=self._settings))
        format_storage(data, node)
        command = [java(), *JVM_OPTIONS, f"-Dlog4j2.configurationFile={logging}"]
        command += ["-cp", class_path(), "kafka.Kafka", str(server)]
        return Service("broker", command, directory=directory)

    def _wait(self, nodes: Iterable[int]) -> None:
        expected = set(nodes)

        def sees_all(port: int) -> bool:
            view = cluster_view(port)
            return expected <= view.nodes and view.has_controller

        for node in expected:
            self._services[node].wait_ready(partial(sees_all, self._ports[node].broker))

    def _kill_all(self) -> None:
        # All get the signal before any is waited for: three nodes end as quickly as one.
        for service in self._services.values():
            service.signal(signal.SIGKILL)
        for service in self._services.values():
            service.kill()
