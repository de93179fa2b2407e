"""Bringing the services before the tests."""

import pytest

from tests.services.prepare import Part, prepare
from tests.services.unavailable import UnavailableError


def fail() -> None:
    raise UnavailableError("no Java; apt-get install it")


def test_what_is_missing_is_named_and_the_others_are_still_brought(
    capsys: pytest.CaptureFixture[str],
) -> None:
    brought: list[str] = []
    parts = (Part("Kafka", fail), Part("Collector", lambda: brought.append("Collector")))
    assert prepare(parts) == ["Kafka"]
    assert brought == ["Collector"]
    assert "Kafka: missing: no Java; apt-get install it" in capsys.readouterr().out
