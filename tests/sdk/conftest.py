"""Each test starts from an uninstrumented process and leaves one behind."""

from collections.abc import Iterator

import pytest

from seekwatch.sdk import uninstrument
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.otlp_sink import HttpSink
from tests.services.web import LocalWeb

_FOREIGN = ("OTEL_", "SEEKWATCH_")


@pytest.fixture(autouse=True)
def clean_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import os

    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    reset_failures()
    yield
    uninstrument()
    assert failures() == {}, "our own code failed behind the guard"


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
