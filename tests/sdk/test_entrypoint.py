import asyncio
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from seekwatch.sdk import flush, instrument, uninstrument
from tests.services.otlp_sink import HttpSink

SOURCE = """
from dataclasses import dataclass, field

@dataclass
class Reply:
    content: str
    sources: list = field(default_factory=list)

def text(question): return "answer to " + question
def mapping(session, question): return {"answer": "m", "citations": [{"url": "https://a.example/"}]}
def thing(question): return Reply("t", ["https://b.example/"])
def other(question): return 42
async def later(question): return "later"
def pieces(question):
    yield "one "
    yield "two"
def failing(question): raise LookupError("lost")

class Agent:
    def ask(self, question): return "method"
    @staticmethod
    def fixed(question): return "static"
    @classmethod
    def built(cls, question): return cls.__name__
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "someagent").mkdir()
    (tmp_path / "someagent" / "__init__.py").write_text("")
    (tmp_path / "someagent" / "main.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield "someagent.main"
    for name in ("someagent", "someagent.main"):
        sys.modules.pop(name, None)


CASES: list[tuple[str, tuple[Any, ...], str | None, list[str]]] = [
    ("text", ("q",), "answer to q", []),
    ("mapping", (object(), "q"), "m", ["https://a.example/"]),
    ("thing", ("q",), "t", ["https://b.example/"]),
    ("other", ("q",), None, []),
]


@pytest.mark.parametrize(("name", "arguments", "answer", "urls"), CASES)
@pytest.mark.parametrize("when", ["before", "after"])
def test_question_and_answer_are_read_from_the_function(
    module: str,
    sink: HttpSink,
    when: str,
    name: str,
    arguments: tuple[Any, ...],
    answer: str | None,
    urls: list[str],
) -> None:
    if when == "before":
        importlib.import_module(module)
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:{name}")
    getattr(importlib.import_module(module), name)(*arguments)
    assert flush()
    found = sink.one("AGENT").attributes
    assert found["seekwatch.run.question"] == "q"
    assert found.get("seekwatch.run.answer") == answer
    cited = json.loads(found.get("seekwatch.run.citations", "[]"))
    assert [each["url"] for each in cited] == urls


def test_a_coroutine_and_a_generator_are_runs_too(module: str, sink: HttpSink) -> None:
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:later")
    assert asyncio.run(importlib.import_module(module).later("q")) == "later"
    uninstrument()
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:pieces")
    assert list(importlib.import_module(module).pieces("q")) == ["one ", "two"]
    assert flush()
    answers = [span.attributes["seekwatch.run.answer"] for span in sink.of_kind("AGENT")]
    assert answers == ["later", "one two"]


@pytest.mark.parametrize(
    ("attribute", "answer"),
    [("Agent.ask", "method"), ("Agent.fixed", "static"), ("Agent.built", "Agent")],
)
def test_methods_of_every_kind_can_be_named(
    module: str, sink: HttpSink, attribute: str, answer: str
) -> None:
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:{attribute}")
    agent = importlib.import_module(module).Agent()
    assert getattr(agent, attribute.partition(".")[2])("q") == answer
    assert flush()
    assert sink.one("AGENT").attributes["seekwatch.run.answer"] == answer


def test_an_exception_marks_the_run_and_goes_on(module: str, sink: HttpSink) -> None:
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:failing")
    with pytest.raises(LookupError, match="lost"):
        importlib.import_module(module).failing("q")
    assert flush()
    assert sink.one("AGENT").attributes["seekwatch.run.stop_reason"] == "crashed"


def test_uninstrument_puts_the_function_back(module: str, sink: HttpSink) -> None:
    imported = importlib.import_module(module)
    before = dict(vars(imported.Agent))
    original = imported.text
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:text")
    assert imported.text is not original
    uninstrument()
    assert imported.text is original
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:Agent.built")
    uninstrument()
    assert dict(vars(imported.Agent)) == before


def test_a_function_imported_after_uninstrument_is_as_it_was_written(
    module: str, sink: HttpSink
) -> None:
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:text")
    uninstrument()
    assert not hasattr(importlib.import_module(module).text, "__wrapped__")


@pytest.mark.parametrize("entrypoint", ["module", "module.function", "a:b c", ":f", "m:"])
def test_a_malformed_entrypoint_is_refused_with_the_form(entrypoint: str) -> None:
    with pytest.raises(ValueError, match="module:function"):
        instrument("a", entrypoint=entrypoint)


def test_an_entrypoint_that_is_not_there_is_said_and_harmless(
    module: str, sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    instrument("a", endpoint=sink.url, entrypoint=f"{module}:nowhere")
    assert importlib.import_module(module).text("q") == "answer to q"
    assert "someagent.main:nowhere is not there" in caplog.text


AT_ITS_TOP = """
from seekwatch.sdk import instrument
instrument("a", entrypoint=f"{__name__}:answer")
def answer(question): return "answer to " + question
"""


def test_a_module_may_call_instrument_above_the_function_that_it_names(
    module: str, sink: HttpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url)
    (tmp_path / "someagent" / "main.py").write_text(AT_ITS_TOP)
    importlib.import_module(module).answer("q")
    assert flush()
    assert sink.one("AGENT").attributes["seekwatch.run.answer"] == "answer to q"


BELOW = """
from seekwatch.sdk import flush, instrument
def answer(question): return "answer to " + question
instrument("a", entrypoint="agent:answer")
print(answer("q"))
assert flush()
"""


def test_a_script_may_be_named_by_its_file(
    sink: HttpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.url)
    (tmp_path / "agent.py").write_text(BELOW)
    ended = subprocess.run(
        [sys.executable, "agent.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "entrypoint" not in ended.stderr
    root = sink.one("AGENT").attributes
    assert root["seekwatch.run.root"] == "entrypoint"
    assert root["seekwatch.run.answer"] == "answer to q"


def test_a_script_that_is_named_by_another_name_is_told_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(BELOW.replace("assert flush()", "flush()"))
    ended = subprocess.run(
        [sys.executable, "other.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "answer to q\n"
    assert "there is no module agent to import" in ended.stderr
    assert 'entrypoint="__main__:answer"' in ended.stderr


@pytest.mark.parametrize("words", [["someagent/main.py"], ["-m", "someagent.main"]])
def test_a_script_is_told_to_call_instrument_below_the_function(
    module: str, tmp_path: Path, words: list[str]
) -> None:
    named = "__main__" if words[0] != "-m" else module
    source = AT_ITS_TOP.replace("{__name__}", named) + 'print(answer("q"))'
    (tmp_path / "someagent" / "main.py").write_text(source)
    ended = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ended.stdout == "answer to q\n"
    assert f"entrypoint {named}:answer is not there yet" in ended.stderr
    assert "call instrument() below the function" in ended.stderr
