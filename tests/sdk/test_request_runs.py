"""A request to a web application is a run, though one thread serves them one after the other."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from seekwatch.sdk import flush, instrument, llm, retriever, uninstrument
from tests.services.otlp_sink import HttpSink

# What matters of the framework: where the class is, and that a request passes its `__call__`.
FRAMEWORK = """
class Flask:
    def __init__(self, view):
        self.view = view

    def __call__(self, environ, start_response):
        start_response("200 OK", [])
        return self.view(environ["question"])
"""


@llm
def think(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": "It did."}}]}


@retriever
def search(query: str) -> list[str]:
    return [f"https://a.example/{query}"]


def work(question: str) -> None:
    search(question)
    think([{"role": "user", "content": question}])


@pytest.fixture
def framework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "flask").mkdir()
    (tmp_path / "flask" / "__init__.py").write_text("from flask.app import Flask")
    (tmp_path / "flask" / "app.py").write_text(FRAMEWORK)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("flask", "flask.app"):
        sys.modules.pop(name, None)


def respond(application: Any, question: str) -> list[bytes]:
    """Call an application as a server does."""
    answer = application({"question": question}, lambda status, headers: None)
    try:
        return list(answer)
    finally:
        if hasattr(answer, "close"):
            answer.close()


def questions(sink: HttpSink) -> list[str]:
    assert flush()
    return sorted(
        str(span.attributes.get("seekwatch.run.question")) for span in sink.of_kind("AGENT")
    )


@pytest.mark.parametrize("first", ["imported first", "instrumented first"])
def test_each_request_on_one_thread_is_a_run(framework: None, sink: HttpSink, first: str) -> None:
    if first == "imported first":
        import_module("flask")
    instrument("agent", endpoint=sink.url)

    def view(question: str) -> list[bytes]:
        work(question)
        return [b"done"]

    application = import_module("flask").Flask(view)
    asked = [f"Did number {number} open?" for number in range(3)]
    assert [respond(application, question) for question in asked] == [[b"done"]] * 3
    assert questions(sink) == asked
    assert len({span.trace_id for span in sink.spans}) == 3


def test_a_streamed_answer_belongs_to_its_request(framework: None, sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url)

    def view(question: str) -> Iterator[bytes]:
        search(question)
        yield b"searching "
        think([{"role": "user", "content": question}])
        yield b"done"

    application = import_module("flask").Flask(view)
    asked = [f"Did number {number} open?" for number in range(2)]
    for question in asked:
        assert b"".join(respond(application, question)) == b"searching done"
    assert questions(sink) == asked
    assert len({span.trace_id for span in sink.spans}) == 2


def test_an_application_that_raises_ends_its_run_and_raises(
    framework: None, sink: HttpSink
) -> None:
    instrument("agent", endpoint=sink.url)

    def view(question: str) -> list[bytes]:
        work(question)
        raise LookupError(question)

    application = import_module("flask").Flask(view)
    for question in ("Did it open?", "Did it close?"):
        with pytest.raises(LookupError, match=r"Did it"):
            respond(application, question)
    assert questions(sink) == ["Did it close?", "Did it open?"]


def test_the_application_is_as_it_was_afterwards(framework: None, sink: HttpSink) -> None:
    class_ = import_module("flask").Flask
    original = vars(class_)["__call__"]
    instrument("agent", endpoint=sink.url)
    assert vars(class_)["__call__"] is not original
    uninstrument()
    assert vars(class_)["__call__"] is original
