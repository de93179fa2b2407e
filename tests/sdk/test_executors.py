"""Threads and executors carry what was current over, and are as they were afterwards."""

import contextvars
import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import wrapt
from opentelemetry.trace import get_current_span

from seekwatch.sdk import agent_run, current_run, flush, instrument, tool, uninstrument
from seekwatch.sdk._runs.implicit import held
from seekwatch.sdk._runtime import current
from tests.services.otlp_sink import HttpSink
from tests.services.waiting import eventually

mine: contextvars.ContextVar[str] = contextvars.ContextVar("mine", default="default")


@tool
def use(argument: str) -> str:
    return argument


def current_span_id() -> int:
    return get_current_span().get_span_context().span_id


def in_thread(function: Callable[[], Any]) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def agent(sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url)


@pytest.mark.usefixtures("agent")
def test_a_thread_of_any_class_sees_the_span_and_the_run_that_started_it() -> None:
    seen: list[object] = []

    class Worker(threading.Thread):
        def run(self) -> None:
            seen.append((current_span_id(), current_run()))

    with agent_run("q") as run:
        expected = (current_span_id(), run)
        worker = Worker()
        worker.start()
        worker.join()
        assert in_thread(lambda: (current_span_id(), current_run())) == expected
        timer = threading.Timer(0, lambda: seen.append((current_span_id(), current_run())))
        timer.start()
        timer.join()
    assert seen == [expected, expected]
    assert "run" not in vars(worker)


@pytest.mark.usefixtures("agent")
def test_an_item_sees_what_was_current_at_its_submission_and_the_next_one_does_not() -> None:
    with ThreadPoolExecutor(1) as pool:
        with agent_run("q") as run:
            inside = pool.submit(current_run)
            assert inside.result() is run
        assert pool.submit(current_run).result() is None
        assert pool.submit(current_span_id).result() == 0


@pytest.mark.usefixtures("agent")
def test_nothing_leaks_from_an_item_to_the_next_one_of_its_thread(sink: HttpSink) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(use, "1").result()
        assert pool.submit(held.get).result() is None
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: (use("2"), 1 / 0)).result()
        assert pool.submit(held.get).result() is None
    uninstrument()
    assert len({span.trace_id for span in sink.of_kind("TOOL")}) == 2


@pytest.mark.usefixtures("agent")
def test_a_pool_that_a_run_creates_does_not_keep_it(sink: HttpSink) -> None:
    with ThreadPoolExecutor(1) as pool:
        with agent_run("first"):
            pool.submit(use, "1").result()
        with agent_run("second"):
            pool.submit(use, "2").result()
        pool.submit(use, "3").result()
    uninstrument()
    first, second, third = sink.of_kind("TOOL")
    roots = {span.trace_id: span for span in sink.of_kind("AGENT")}
    assert roots[first.trace_id].attributes["seekwatch.run.question"] == "first"
    assert roots[second.trace_id].attributes["seekwatch.run.question"] == "second"
    assert roots[third.trace_id].attributes["seekwatch.run.root"] == "implicit"


@pytest.mark.usefixtures("agent")
def test_context_variables_of_others_stay_where_they_are() -> None:
    mine.set("changed")
    with agent_run("q"):
        assert in_thread(mine.get) == "default"
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(mine.get).result() == "default"


@pytest.mark.usefixtures("agent")
def test_arguments_results_and_exceptions_pass_unchanged() -> None:
    def work(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    def missing(key: str) -> None:
        raise KeyError(key)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work, 1, fn=2, self=3).result() == ((1,), {"fn": 2, "self": 3})
        assert list(pool.map(functools.partial(pow, 2), [1, 2])) == [2, 4]
        with pytest.raises(KeyError, match="gone"):
            pool.submit(missing, "gone").result()
        with pytest.raises(TypeError):
            pool.submit()  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(work)
    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(RuntimeError, match="once"):
        thread.start()
    thread.join()


def test_everything_is_restored_and_ours_is_inert_below_somebody_elses(sink: HttpSink) -> None:
    pools: Any = ThreadPoolExecutor
    submit, start = pools.submit, threading.Thread.start
    for _ in range(3):
        instrument("agent", endpoint=sink.url)
        uninstrument()
    assert ThreadPoolExecutor.submit is submit
    assert threading.Thread.start is start

    instrument("agent", endpoint=sink.url)
    ours: Any = ThreadPoolExecutor.submit

    def theirs(self: ThreadPoolExecutor, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return ours(self, fn, *args, **kwargs)

    pools.submit = theirs
    try:
        uninstrument()
        assert ThreadPoolExecutor.submit is theirs
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(use, "1").result() == "1"
        instrument("agent", endpoint=sink.url)
        with ThreadPoolExecutor(1) as pool, agent_run("q"):
            assert pool.submit(use, "2").result() == "2"
        assert flush()
        assert sink.kinds() == ["AGENT", "TOOL"]
        assert len({span.trace_id for span in sink.spans}) == 1
    finally:
        uninstrument()
        pools.submit = submit


def test_a_wrapper_of_a_thread_that_was_there_first_still_knows_its_thread(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[object] = []

    def theirs(wrapped: Any, instance: object, args: Any, options: Any) -> Any:
        threads.append(instance)
        return wrapped(*args, **options)

    wrapper = wrapt.FunctionWrapper(vars(threading.Thread)["start"], theirs)
    monkeypatch.setattr(threading.Thread, "start", wrapper)
    instrument("agent", endpoint=sink.url)
    thread = threading.Thread(target=list)
    thread.start()
    thread.join()
    uninstrument()
    assert thread in threads
    assert None not in threads


@pytest.mark.usefixtures("agent")
def test_a_thread_that_a_run_leaves_behind_does_not_keep_it_open(sink: HttpSink) -> None:
    stop = threading.Event()

    def request() -> None:
        use("1")
        threading.Thread(target=stop.wait, daemon=True).start()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(request).result()
        runtime = current()
        assert runtime is not None
        runs = runtime.runs
        assert runs is not None
        eventually(lambda: not len(runs) or None, what="an end of the run")
        assert flush()
        assert sink.kinds() == ["AGENT", "TOOL"]
    stop.set()
