"""Bringing the services before the tests."""

import threading

import pytest

from tests.services.prepare import DEBIAN_PACKAGES, Part, packages_to_install, prepare
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


def test_parts_are_brought_side_by_side() -> None:
    # Each waits for the other; one after the other they would break the barrier.
    meeting = threading.Barrier(2, timeout=60)
    parts = (Part("one", meeting.wait), Part("other", meeting.wait))
    assert prepare(parts) == []


def test_a_slow_part_is_said_to_be_still_at_work(capsys: pytest.CaptureFixture[str]) -> None:
    release = threading.Event()
    parts = (Part("Collector", lambda: release.wait(60)),)
    helper = threading.Timer(0.5, release.set)
    helper.start()
    prepare(parts, still_at_it=0.01)
    helper.join()
    assert "still at work on Collector" in capsys.readouterr().out


def test_an_error_that_is_no_missing_service_is_not_swallowed() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        prepare((Part("broken", broken),))


@pytest.mark.parametrize(
    ("root", "ci", "expected"),
    [
        (True, True, list(DEBIAN_PACKAGES.values())),
        (False, True, []),
        (True, False, []),
    ],
)
def test_packages_are_installed_as_root_in_ci_alone(
    root: bool, ci: bool, expected: list[str]
) -> None:
    bare = {"apt-get": "/usr/bin/apt-get"}.get
    assert packages_to_install(root, ci, bare) == expected


def test_what_is_there_is_not_installed_again() -> None:
    assert packages_to_install(True, True, lambda command: f"/usr/bin/{command}") == []
