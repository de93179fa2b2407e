"""Each request of a server and each task of a queue is a run of its own, on whatever thread."""

import contextlib
import importlib
import io
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any
from wsgiref.handlers import SimpleHandler
from wsgiref.util import FileWrapper

import pytest
import wrapt

from seekwatch.sdk import agent_run, flush, instrument, llm, retriever, uninstrument
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.waiting import eventually

Environ = dict[str, Any]


@llm
def think(question: str) -> str:
    return f"answer to {question}"


@retriever
def search(query: str) -> list[str]:
    return [f"https://a.example/{query}"]


def run_once(question: str) -> str:
    search(question)
    return think(question)


def whole(environ: Environ, _: object) -> list[bytes]:
    return [run_once(environ["question"]).encode()]


def streamed(environ: Environ, _: object) -> Iterator[bytes]:
    search(environ["question"])
    yield b"one "
    yield think(environ["question"]).encode()


def failing(environ: Environ, _: object) -> list[bytes]:
    run_once(environ["question"])
    raise LookupError("lost")


@pytest.fixture
def flask(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    """Serve an application by a class in the place of Flask's, which is here before the call."""

    class Flask:
        def __init__(self, application: Callable[..., Any]) -> None:
            self.application = application

        def __call__(self, environ: Environ, start_response: object) -> Any:
            return self.application(environ, start_response)

    module = types.ModuleType("flask.app")
    vars(module)["Flask"] = Flask
    monkeypatch.setitem(sys.modules, "flask", types.ModuleType("flask"))
    monkeypatch.setitem(sys.modules, "flask.app", module)
    # As its import would do.
    wrapt.notify_module_loaded(module)
    instrument("agent", endpoint=sink.url)
    return Flask


def ask(application: Any, question: str, **environ: object) -> bytes:
    """Call an application as a server does."""
    answer = application({"question": question, **environ}, None)
    try:
        return b"".join(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()


def runs(sink: HttpSink, number: int) -> list[SunkSpan]:
    """Return the roots, once so many have come."""

    def found() -> list[SunkSpan] | None:
        assert flush()
        roots = sink.of_kind("AGENT")
        return roots if len(roots) >= number else None

    return eventually(found, what="the runs")


def assert_apart(sink: HttpSink, *questions: str) -> None:
    roots = runs(sink, len(questions))
    assert sorted(each.attributes["seekwatch.run.question"] for each in roots) == sorted(questions)
    for root in roots:
        assert root.attributes["seekwatch.run.root"] == "implicit"
        members = [span for span in sink.spans if span.trace_id == root.trace_id]
        assert len(members) == 3
        question = root.attributes["seekwatch.run.question"]
        assert {span.attributes.get("search.query") for span in members} == {None, question}


@pytest.mark.parametrize("application", [whole, streamed])
def test_requests_on_one_thread_are_runs_of_their_own(
    flask: type[Any], sink: HttpSink, application: Callable[..., Any]
) -> None:
    app = flask(application)
    for question in ("first", "second"):
        assert ask(app, question).endswith(f"answer to {question}".encode())
    assert_apart(sink, "first", "second")


def test_what_a_request_opens_stays_in_it_though_another_begins_before_it_is_sent(
    flask: type[Any], sink: HttpSink
) -> None:
    answers = [flask(streamed)({"question": name}, None) for name in ("first", "second")]
    pieces = [iter(each) for each in answers]
    assert [next(each) for each in pieces] == [b"one ", b"one "]
    assert [next(each) for each in pieces] == [b"answer to first", b"answer to second"]
    for each in answers:
        each.close()
    assert_apart(sink, "first", "second")


def test_a_request_that_fails_or_is_left_ends_its_run(flask: type[Any], sink: HttpSink) -> None:
    with pytest.raises(LookupError, match="lost"):
        ask(flask(failing), "first")
    left = flask(streamed)({"question": "second"}, None)
    next(left)
    left.close()
    ask(flask(whole), "third")
    assert len(runs(sink, 3)) == 3


def test_what_a_thread_did_before_is_no_part_of_its_next_request(
    flask: type[Any], sink: HttpSink
) -> None:
    run_once("before")
    ask(flask(whole), "first")
    uninstrument()
    assert_apart(sink, "before", "first")


def test_an_application_within_another_is_one_request(flask: type[Any], sink: HttpSink) -> None:
    ask(flask(flask(whole)), "first")
    assert_apart(sink, "first")


def test_a_run_that_the_agent_marks_is_the_only_one(flask: type[Any], sink: HttpSink) -> None:
    def marked(environ: Environ, _: object) -> list[bytes]:
        with agent_run("marked"):
            return [run_once(environ["question"]).encode()]

    ask(flask(marked), "first")
    assert flush()
    root = sink.one("AGENT")
    assert root.attributes["seekwatch.run.root"] == "agent_run"


def test_a_server_gets_what_it_asks_for_back_as_it_is(flask: type[Any]) -> None:
    file = FileWrapper(io.BytesIO(b"sent by the kernel"))
    complete = [b"complete"]

    def constant(environ: Environ, _: object) -> Any:
        return environ["answer"]

    for answer in (file, complete):
        environ = {"answer": answer, "wsgi.file_wrapper": FileWrapper}
        assert flask(constant)(environ, None) is answer


def test_uninstrument_puts_the_application_back(flask: type[Any]) -> None:
    assert hasattr(flask.__call__, "__wrapped__")
    uninstrument()
    assert not hasattr(flask.__call__, "__wrapped__")


def test_any_application_under_a_server_of_the_standard_library(sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url)

    def application(environ: Environ, start_response: Callable[..., Any]) -> Iterator[bytes]:
        start_response("200 OK", [])
        return streamed(environ, None)

    for question in ("first", "second"):
        out = io.BytesIO()
        environ = {"question": question, "SERVER_PROTOCOL": "HTTP/1.0"}
        SimpleHandler(io.BytesIO(), out, io.StringIO(), environ).run(application)
        assert out.getvalue().endswith(f"answer to {question}".encode())
    assert_apart(sink, "first", "second")


def test_any_application_under_a_sync_worker_of_gunicorn() -> None:
    instrument("agent")
    worker = importlib.import_module("gunicorn.workers.sync").SyncWorker
    assert hasattr(worker.handle_request, "__wrapped__")
    uninstrument()
    assert not hasattr(worker.handle_request, "__wrapped__")


def test_each_task_of_celery_is_a_run_and_one_that_is_called_is_part_of_its_caller(
    sink: HttpSink,
) -> None:
    instrument("agent", endpoint=sink.url)
    app: Any = importlib.import_module("celery").Celery(
        "agents", broker="memory://", backend="cache+memory://"
    )

    def fail(question: str) -> None:
        run_once(question)
        raise LookupError("lost")

    def call(question: str) -> object:
        return asked.apply((question,)).get(disable_sync_subtasks=False)

    asked = app.task(run_once, name="asked")
    tasks = (asked, app.task(fail, name="failing"), app.task(call, name="calling"))
    trace = importlib.import_module("celery.app.trace")
    for task, question in zip(tasks, ("first", "second", "third"), strict=True):
        # What a worker of a prefork pool calls, on the one thread of its process.
        work = trace.build_tracer(task.name, task, app=app)
        with contextlib.suppress(LookupError):
            work(question, (question,), {}, request={"is_eager": False, "id": question})
    assert_apart(sink, "first", "second", "third")


def test_the_handler_of_a_function_of_lambda_is_a_request(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "agent")
    monkeypatch.setenv("_HANDLER", "lambda_agent.handler")
    module: Any = types.ModuleType("lambda_agent")

    def handler(event: str, _: object) -> str:
        return run_once(event)

    vars(module)["handler"] = handler
    monkeypatch.setitem(sys.modules, "lambda_agent", module)
    wrapt.notify_module_loaded(module)
    instrument("agent", endpoint=sink.url)
    assert [module.handler(name, None) for name in ("first", "second")] == [
        "answer to first",
        "answer to second",
    ]
    assert_apart(sink, "first", "second")
    uninstrument()
    assert module.handler is handler
