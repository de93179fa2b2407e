"""The world of an agent, and our SDK built once for all environments."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.packages.observed")

from tests.packages.environments import install_sdk  # noqa: E402 - registered before
from tests.packages.world import World  # noqa: E402


@pytest.fixture(scope="session")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_sdk(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with World(tmp_path) as servers:
        yield servers
