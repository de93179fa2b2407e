"""Agents behind web servers and task queues: each request, event and task is a run."""

import subprocess
import urllib.error
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.packages.drive import AT_ONCE
from tests.packages.environments import environment
from tests.packages.frameworks import check_said, source_of, write_agent
from tests.packages.lambda_runtime import LambdaRuntime
from tests.packages.observed import check_runs
from tests.packages.world import World
from tests.services.library import QUESTIONS
from tests.services.plain_http import get
from tests.services.ports import LOOPBACK, free_ports
from tests.services.process import Service

pytestmark = pytest.mark.nightly

_TASKS_SECONDS: Final = 120
_ASK_BY_TASKS: Final = """
import sys
from agent import ask
sent = [ask.delay(question) for question in sys.argv[1:]]
print([each.get(timeout=60) for each in sent])
"""


@dataclass(frozen=True)
class Served:
    """An application and the command that serves it."""

    name: str
    environment: str
    agent: str
    """A heading of the page, or a file in `agents/`."""
    words: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


_GUNICORN: Final = ("gunicorn", "--bind", f"{LOOPBACK}:{{port}}", "--log-level", "warning")
_UVICORN: Final = ("uvicorn", "--port", "{port}", "--log-level", "warning")
_WAITRESS: Final = ("waitress", f"--listen={LOOPBACK}:{{port}}", "--threads=2")
_TWO_WORKERS: Final = ("--workers", "2")

FASTAPI: Final = Served("fastapi", "fastapi", "FastAPI", (*_UVICORN, "agent:app"))
FLASK: Final = Served("flask", "flask", "Flask", (*_GUNICORN, "agent:app"))
DJANGO: Final = Served(
    "django", "django", "django_views.py", (*_GUNICORN, *_TWO_WORKERS, "agent:application")
)
STARLETTE: Final = Served("starlette", "starlette", "starlette_routes.py", (*_UVICORN, "agent:app"))
AIOHTTP: Final = Served(
    "aiohttp",
    "aiohttp",
    "aiohttp_handlers.py",
    ("aiohttp.web", "-H", LOOPBACK, "-P", "{port}", "agent:create"),
)
SERVED: Final = (
    FASTAPI,
    DJANGO,
    Served(
        "django-threads",
        "django",
        "django_views.py",
        (*_GUNICORN, "--worker-class", "gthread", "--threads", "2", "agent:application"),
    ),
    Served(
        "bottle",
        "bottle",
        "bottle_routes.py",
        ("bottle", "--bind", f"{LOOPBACK}:{{port}}", "agent:app"),
    ),
    Served("pyramid-waitress", "pyramid", "pyramid_views.py", (*_WAITRESS, "agent:app")),
    Served("function-waitress", "pyramid", "wsgi_function.py", (*_WAITRESS, "agent:app")),
    STARLETTE,
    AIOHTTP,
)


@contextmanager
def served(world: World, sdk: Path, app: Served, *options: str, beside: str = "") -> Generator[str]:
    """Serve an application by its command, and give its address.

    Args:
        world: what it meets.
        sdk: where our SDK is installed.
        app: the application.
        options: of the command, beside its own.
        beside: ending of the environment with an instrumentor in it.
    """
    [port] = free_ports(1)
    folder = write_agent(world, source_of(app.agent))
    place = environment(app.environment + beside, sdk)
    words = [word.format(port=port) for word in (*app.words, *options)]
    variables = place.variables(world.variables)
    url = f"http://{LOOPBACK}:{port}"
    with _running([str(place.python), "-m", *words], folder, variables) as service:
        service.wait_ready(lambda: _listens(url))
        yield url


@contextmanager
def _running(
    command: Sequence[str], folder: Path, variables: Mapping[str, str], name: str = "server"
) -> Generator[Service]:
    service = Service(name, command, directory=folder, environment=variables)
    service.start()
    try:
        yield service
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


@pytest.mark.parametrize("app", SERVED, ids=str)
def test_each_request_is_a_run(world: World, sdk: Path, app: Served) -> None:
    with served(world, sdk, app) as url:
        ask_all(url)
    check_runs(world)


@pytest.mark.parametrize("preload", [False, True], ids=["forked-first", "instrumented-first"])
def test_each_request_to_forked_workers_is_a_run(world: World, sdk: Path, preload: bool) -> None:
    options = (*_TWO_WORKERS, *(["--preload"] if preload else []))
    with served(world, sdk, FLASK, *options) as url:
        ask_all(url)
    check_runs(world)


@pytest.mark.parametrize("app", [DJANGO, STARLETTE, AIOHTTP], ids=str)
def test_the_span_of_a_servers_instrumentor_is_the_root_of_the_run(
    world: World, sdk: Path, app: Served
) -> None:
    with served(world, sdk, app, beside="-opentelemetry") as url:
        ask_all(url)
    check_runs(world)
    assert "AGENT" not in world.sink.kinds(), "no root beside the server's"


@pytest.mark.parametrize("beside", ["", "-opentelemetry"], ids=["alone", "instrumentor"])
def test_each_event_of_an_aws_lambda_function_is_a_run(
    world: World, sdk: Path, beside: str
) -> None:
    folder = write_agent(world, source_of("aws_lambda.py"))
    place = environment(f"aws-lambda{beside}", sdk)
    with LambdaRuntime("agent.handler") as runtime, ExitStack() as stack:
        variables = place.variables({**world.variables, **runtime.variables})
        command = [str(place.python), "-m", "awslambdaric", "agent.handler"]
        for number in range(AT_ONCE):
            stack.enter_context(_running(command, folder, variables, f"environment-{number}"))
        answers = runtime.invoke([{"question": question} for question in QUESTIONS])
        runtime.end(AT_ONCE)
    assert all(answers)
    check_runs(world)


@pytest.mark.parametrize("pool", ["prefork", "threads"])
@pytest.mark.parametrize("beside", ["", "-opentelemetry"], ids=["alone", "instrumentor"])
def test_each_task_of_a_celery_worker_is_a_run(
    world: World, sdk: Path, pool: str, beside: str
) -> None:
    folder = write_agent(world, source_of("celery_tasks.py"))
    place = environment(f"celery{beside}", sdk)
    variables = place.variables(world.variables)
    words = ["celery", "--app", "agent", "worker", "--pool", pool, "--concurrency", str(AT_ONCE)]
    command = [str(place.python), "-m", *words, "--loglevel", "warning"]
    with _running(command, folder, variables, "worker"):
        asked = subprocess.run(
            [str(place.python), "-c", _ASK_BY_TASKS, *QUESTIONS],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=_TASKS_SECONDS,
        )
    check_said(asked.stderr)
    assert asked.returncode == 0, asked.stderr
    check_runs(world)
