"""Handlers, filters and formatters are the agent's code; what they raise must not come back."""

import ast
import asyncio
import io
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from seekwatch import sdk
from seekwatch.sdk import agent_run, flush, instrument, tool, uninstrument
from seekwatch.sdk._guard import failures, reset_failures, say
from tests.services.otlp_sink import HttpSink
from tests.services.waiting import eventually
from tests.services.web import PAGE, LocalWeb

LEVELS = {"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"}
SOURCES = Path(next(iter(sdk.__path__)))
FENCED = "_guard.py"


class HandlerError(RuntimeError):
    """Raised by the agent's own handler, filter or formatter."""


class Raising(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise HandlerError


class RaisingFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        raise HandlerError


def raising_handler(logger: logging.Logger) -> logging.Handler:
    handler = Raising()
    logger.addHandler(handler)
    return handler


def raising_filter(logger: logging.Logger) -> logging.Handler:
    handler = logging.StreamHandler(io.StringIO())
    handler.addFilter(RaisingFilter())
    logger.addHandler(handler)
    return handler


@pytest.fixture(params=[raising_handler, raising_filter], ids=["handler", "filter"])
def broken_logging(request: pytest.FixtureRequest) -> Iterator[None]:
    """Break the logging of everyone, ours at every level."""
    ours = logging.getLogger("seekwatch.sdk")
    before = ours.level
    ours.setLevel(logging.DEBUG)
    root = logging.getLogger()
    handler = request.param(root)
    yield
    root.removeHandler(handler)
    ours.setLevel(before)
    reset_failures()


def logging_calls(source: str) -> list[int]:
    """Return the lines that log by themselves: a method of a logger, or `logging.warning(…)`."""
    lines: list[int] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = ast.unparse(node.func.value)
        if node.func.attr in LEVELS and ("log" in owner.lower()):
            lines.append(node.lineno)
    return lines


def test_a_call_that_logs_is_found() -> None:
    assert logging_calls("logger.warning('x')\nlogging.getLogger('a').log(10, 'x')") == [1, 2]
    assert logging_calls("say(logging.WARNING, 'x')") == []


@pytest.mark.parametrize(
    "module", sorted(SOURCES.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCES))
)
def test_every_line_is_logged_through_the_fence(module: Path) -> None:
    lines = logging_calls(module.read_text())
    assert len(lines) == (1 if module.name == FENCED else 0), f"{module}: {lines}"


def threads_of_ours() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("seekwatch-")}


@tool
def use(argument: str) -> str:
    return argument


def redact_badly(text: str) -> str:
    """Make every span fail to be finished, which is logged on a thread of ours."""
    raise KeyError(text)


async def work(url: str) -> list[object]:
    with agent_run("q") as run:
        run.limits(deadline="soon")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        run.context(lane=3)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        run.stop("bogus")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        with httpx.Client(base_url=url) as client:
            seen: list[object] = [client.get("/page").text, use("u")]
        async with httpx.AsyncClient(base_url=url) as other:
            seen.append((await other.get("/page")).text)
        run.answer(5, citations=7)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    return seen


@pytest.mark.usefixtures("broken_logging")
def test_an_agent_whose_logging_raises_does_the_same(web: LocalWeb, sink: HttpSink) -> None:
    before = threads_of_ours()
    instrument("agent", endpoint=sink.url, redact=redact_badly)
    instrument("another")
    assert asyncio.run(work(web.url)) == [PAGE, "u", PAGE]
    flush()
    alive = {each.name for each in threads_of_ours() - before}
    assert alive == {"seekwatch-finisher", "seekwatch-export"}
    assert asyncio.run(work(web.url)) == [PAGE, "u", PAGE]
    flush()
    alive = {each.name for each in threads_of_ours() - before}
    assert alive == {"seekwatch-finisher", "seekwatch-export"}
    uninstrument()
    assert failures()["logging"] > 1


@pytest.mark.usefixtures("broken_logging")
def test_spans_arrive_although_logging_raises(web: LocalWeb, sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url)
    asyncio.run(work(web.url))
    flush()
    eventually(lambda: len(sink.spans) >= 4, what="the spans of a run")


@pytest.mark.usefixtures("broken_logging")
def test_what_cannot_be_formatted_is_counted() -> None:
    class Unspeakable:
        def __str__(self) -> str:
            raise HandlerError

    reset_failures()
    say(logging.WARNING, "%s", Unspeakable())
    assert failures() == {"logging": 1}
