"""A missing service is a skip at home and a failure in CI."""

import pytest
from _pytest.outcomes import Failed, Skipped

from tests.services.unavailable import unavailable


@pytest.mark.parametrize("value", ["true", "1"])
def test_in_ci_it_is_a_failure(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    with pytest.raises(Failed, match="no Java"):
        unavailable("no Java")


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_elsewhere_the_test_is_skipped(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    with pytest.raises(Skipped, match="no Java"):
        unavailable("no Java")
