"""The Kafka log over TLS with a password: the user's options reach every client."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from seekwatch.collector.kafka_topics import create_topics
from seekwatch.core.records import Output
from tests.collector.log_contract import (
    PATIENCE,
    Reading,
    append,
    new,
    read_outputs,
    score,
    start_worker,
    values,
)
from tests.services.kafka_broker import Kafka
from tests.services.log_worlds import KafkaWorld
from tests.services.ports import LOOPBACK

pytestmark = pytest.mark.nightly

_LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_seekwatch="{0}";'
_PASSWORD = "tell-nobody"


def _keystore(authority: trustme.CA, path: Path) -> Path:
    """Write key and chain as the broker reads them: PEM, the key in PKCS #8."""
    issued = authority.issue_cert(LOOPBACK)
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    encoded = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(encoded + b"".join(item.bytes() for item in issued.cert_chain_pems))
    return path


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a user writes under `kafka.options`; the authority lies beside it."""
    return {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(tmp_path_factory.mktemp("tls") / "ca.pem"),
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "seekwatch",
        "sasl_plain_password": _PASSWORD,
        "bootstrap_timeout_ms": 5000,
    }


@pytest.fixture(scope="module")
def world(kafka: Kafka, options: dict[str, Any]) -> Iterator[KafkaWorld]:
    """A log on a broker whose clients need TLS and a password."""
    authority = trustme.CA()
    ca_file = Path(options["ssl_cafile"])
    authority.cert_pem.write_to_path(ca_file)
    listener = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(_keystore(authority, ca_file.with_name("broker.pem"))),
        "sasl.enabled.mechanisms": "PLAIN",
        "plain.sasl.jaas.config": _LOGIN.format(_PASSWORD),
    }
    settings = {
        "listener.security.protocol.map": "CLIENT:SASL_SSL,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT",
        **{f"listener.name.client.{name}": value for name, value in listener.items()},
    }
    with Kafka(settings=settings) as broker:
        made = KafkaWorld(broker.bootstrap, "secure", 4, options)
        create_topics(made.settings, partitions=4, replication=1)
        yield made


def test_every_client_of_the_log_speaks_tls_and_logs_in(world: KafkaWorld) -> None:
    append(world, new(1))
    reading = Reading(world.trace_log()).until_assigned(4).until_records(1)
    partition = reading.records[0].partition
    reading.log.commit({partition: reading.end_position(partition)}, [score(partition, b"s")])
    reading.log.close()
    reader = world.output_reader([Output.SCORES])
    assert values(read_outputs(reader, 1)) == [b"s"]
    reader.close()


@pytest.mark.parametrize("wrong", [{"sasl_plain_password": "guessed"}, {"ssl_cafile": None}])
def test_a_wrong_password_or_an_unknown_authority_stops_the_start(
    world: KafkaWorld, options: dict[str, Any], wrong: dict[str, Any], tmp_path: Path
) -> None:
    stranger = KafkaWorld(world.settings.bootstrap_servers, "secure", 4, {**options, **wrong})
    said = tmp_path / "worker.log"
    # In a process of its own: kafka-python leaves the sockets of failed handshakes unclosed.
    worker = start_worker(stranger, said)
    assert worker.wait(PATIENCE) == 1
    assert "seekwatch.core.errors." in said.read_text().splitlines()[-1]
    assert _PASSWORD not in said.read_text()
