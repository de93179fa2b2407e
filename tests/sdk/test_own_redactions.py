"""A `redact` callable may do anything: nothing leaves by it, no thread ends, the log names it."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from seekwatch.sdk import agent_run, flush, instrument, tool, uninstrument
from seekwatch.sdk._config import build_config
from seekwatch.sdk._guard import failures, reset_failures
from seekwatch.sdk._instrument import statistics
from tests.services.otlp_sink import HttpSink
from tests.services.waiting import eventually
from tests.services.web import PAGE, LocalWeb

CANARY = "canary-4711"


class UnknownError(BaseException):
    """Neither an error nor one of the interpreter's own ways to stop."""


def raises(error: BaseException) -> Callable[[str], Any]:
    def redact_by_raising(text: str) -> Any:
        raise error

    return redact_by_raising


def returns(value: Any) -> Callable[[str], Any]:
    return lambda _: value


BROKEN = {
    "an error": (raises(KeyError("x")), "raised KeyError"),
    "exit": (raises(SystemExit(3)), "raised SystemExit"),
    "interrupt": (raises(KeyboardInterrupt()), "raised KeyboardInterrupt"),
    "generator exit": (raises(GeneratorExit()), "raised GeneratorExit"),
    "neither": (raises(UnknownError()), "raised UnknownError"),
    "none": (returns(None), "returned NoneType in place of str"),
    "number": (returns(5), "returned int in place of str"),
    "bytes": (returns(b"x"), "returned bytes in place of str"),
}


@tool
def use(argument: str) -> str:
    return argument


def work(url: str) -> None:
    with agent_run(f"who is {CANARY}") as run:
        assert httpx.get(f"{url}/page?x={CANARY}").text == PAGE
        assert use(CANARY) == CANARY
        run.answer(f"{CANARY} it is")


def threads_of_ours() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name.startswith("seekwatch-")}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_redaction_keeps_the_text_and_the_threads_and_is_named_once(
    web: LocalWeb, sink: HttpSink, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    redact, what = BROKEN[broken]
    before = threads_of_ours()
    instrument("agent", endpoint=sink.url, redact=redact)
    work(web.url)
    assert flush()
    work(web.url)
    assert flush()
    # The run, its fetch and the request of it, its tool; twice.
    assert statistics()["spans_refused"] == 8
    alive = {each.name for each in threads_of_ours() - before}
    assert alive == {"seekwatch-export", "seekwatch-finisher"}
    uninstrument()
    assert not any(CANARY.encode() in request for request in sink.requests)
    named = [record.getMessage() for record in caplog.records if what in record.getMessage()]
    assert len(named) == 1
    assert redact.__qualname__ in named[0]
    assert "stay in the process" in named[0]
    # What is said of it elsewhere would only hide that.
    assert "finishing a span failed" not in caplog.text
    assert failures()
    reset_failures()


def test_ctrl_c_is_the_users_on_the_main_thread() -> None:
    config = build_config(
        "agent",
        endpoint=None,
        environment=None,
        release=None,
        capture_content=True,
        capture_pages=True,
        redact=raises(KeyboardInterrupt()),
        search_apis=(),
        entrypoint=None,
    )
    with pytest.raises(KeyboardInterrupt):
        config.redactor.text("x")


class Odd(str):
    __slots__ = ()

    def encode(self, *_: Any, **__: Any) -> bytes:
        raise RuntimeError


def test_a_text_of_a_class_of_its_own_arrives_as_text(web: LocalWeb, sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url, redact=lambda text: Odd(text.replace(CANARY, "")))
    work(web.url)
    flush()
    eventually(lambda: len(sink.spans) == 4, what="all of a run")
    assert not any(CANARY.encode() in request for request in sink.requests)


def slowly(text: str) -> str:
    time.sleep(0.2)
    return text


@pytest.mark.usefixtures("stated_deadlines")
def test_what_a_slow_redaction_loses_is_counted_exactly_and_then_there_is_silence(
    web: LocalWeb,
    sink: HttpSink,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("seekwatch.sdk._instrument.SHUTDOWN_SECONDS", 0.6)
    before = threads_of_ours()
    instrument("agent", endpoint=sink.url, redact=slowly)
    for _ in range(4):
        work(web.url)
    uninstrument()
    [told] = [each for each in caplog.records if "not everything reached" in each.getMessage()]
    lost: Any = told.args
    assert sum(lost.values()) + len(sink.spans) == 16
    said = len(caplog.records)
    eventually(lambda: threads_of_ours() <= before, what="the end of our threads")
    assert [record.getMessage() for record in caplog.records[said:]] == []
    assert logging.getLogger("urllib3.connectionpool").filters == []
