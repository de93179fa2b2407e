"""Agents behind web servers: each request is a run, in whichever worker it ends up."""

import urllib.error
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.packages.drive import AT_ONCE
from tests.packages.environments import environment
from tests.packages.frameworks import block_under, check_said, write_agent
from tests.packages.observed import check_runs
from tests.packages.world import World
from tests.services.library import QUESTIONS
from tests.services.plain_http import get
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service

pytestmark = pytest.mark.nightly


@contextmanager
def served(world: World, sdk: Path, name: str, heading: str, *words: str) -> Iterator[str]:
    """Serve the agent of a heading by a command, and give its address."""
    [port] = free_ports(1)
    folder = write_agent(world, block_under(heading))
    place = environment(name, sdk)
    command = [str(place.python), "-m", *(word.format(port=port) for word in words)]
    variables = place.variables(world.variables)
    service = Service("server", command, directory=folder, environment=variables)
    url = f"http://{LOOPBACK}:{port}"
    service.start()
    try:
        service.wait_ready(lambda: _listens(url))
        yield url
    finally:
        service.stop()
    check_said(service.tail())


def _listens(url: str) -> bool:
    """Whether somebody answers, though there is no such page."""
    with suppress(urllib.error.HTTPError):
        get(f"{url}/ready")
    return True


def ask_all(url: str) -> None:
    def ask(question: str) -> bytes:
        return get(f"{url}/ask", {"question": question})

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert all(pool.map(ask, QUESTIONS))


def test_each_request_to_a_fastapi_app_under_uvicorn_is_a_run(world: World, sdk: Path) -> None:
    words = ("uvicorn", "agent:app", "--port", "{port}", "--log-level", "warning")
    with served(world, sdk, "fastapi", "FastAPI", *words) as url:
        ask_all(url)
    check_runs(world)


@pytest.mark.parametrize("preload", [False, True], ids=["forked-first", "instrumented-first"])
def test_each_request_to_a_flask_app_under_gunicorn_is_a_run(
    world: World, sdk: Path, preload: bool
) -> None:
    words = ["gunicorn", "agent:app", "--bind", f"{LOOPBACK}:{{port}}", "--workers", "2"]
    words += ["--log-level", "warning", *(["--preload"] if preload else [])]
    with served(world, sdk, "flask", "Flask", *words) as url:
        ask_all(url)
    check_runs(world)
