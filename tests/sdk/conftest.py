"""Each test starts from an uninstrumented process and leaves one behind."""

import os
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest
from opentelemetry.context import Context, attach

from seekwatch.sdk import _instrument, flush, uninstrument
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.otlp_sink import HttpSink
from tests.services.web import LocalWeb

_FOREIGN = ("OTEL_", "SEEKWATCH_")


PATIENCE = 60.0
"""Seconds: a machine may stand still for five, which is what an agent would wait for its spans."""


@pytest.fixture(scope="session")
def one_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A list of one authority: httpx reads it for every client, and the usual one is long."""
    end = "-----END CERTIFICATE-----"
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(certifi.contents().partition(end)[0] + end)
    return path


@pytest.fixture(autouse=True)
def clean_process(
    monkeypatch: pytest.MonkeyPatch, patient: pytest.MonkeyPatch, one_certificate: Path
) -> Iterator[None]:
    monkeypatch.setenv("SSL_CERT_FILE", str(one_certificate))
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    reset_failures()
    # A test in which something of ours fails may leave its context behind.
    attach(Context())
    yield
    uninstrument()
    assert failures() == {}, "our own code failed behind the guard"


@pytest.fixture(autouse=True)
def patient() -> Iterator[pytest.MonkeyPatch]:
    """Let `flush` and `uninstrument` take the time that a machine under load needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush, "__defaults__", (PATIENCE,))
        patch.setattr(_instrument, "SHUTDOWN_SECONDS", PATIENCE)
        yield patch


@pytest.fixture
def stated_deadlines(patient: pytest.MonkeyPatch) -> None:
    """Keep the deadlines as they are documented, where nobody takes the spans."""
    patient.undo()


@pytest.fixture
def web() -> Iterator[LocalWeb]:
    with LocalWeb() as server:
        yield server


@pytest.fixture
def sink() -> Iterator[HttpSink]:
    with HttpSink() as server:
        yield server
        # While the sink still answers: what is left is sent to it, not retried against nobody.
        uninstrument()
