"""What happens to a test whose service cannot be had on this machine."""

import os
from typing import NoReturn

import pytest


class UnavailableError(RuntimeError):
    """A service cannot be had here; the message says why and what would bring it."""


def in_ci() -> bool:
    """Whether `CI` is set to something other than an explicit no."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false", "no"}


def unavailable(reason: object) -> NoReturn:
    """Skip the test with the reason; in CI, where every service must be there, fail it."""
    if in_ci():
        pytest.fail(f"a service is missing in CI: {reason}", pytrace=False)
    pytest.skip(f"a service is missing: {reason}")
