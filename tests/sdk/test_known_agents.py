"""A call of a framework's agent is one run, in whatever tasks and threads it does its work."""

import asyncio
import contextlib
import gc
import importlib
import inspect
import sys
import types
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import wrapt
from opentelemetry import trace

from seekwatch.sdk import agent_run, flush, instrument, llm, retriever, uninstrument
from seekwatch.sdk._guard import failures, reset_failures
from seekwatch.sdk._runs.calls import Told
from seekwatch.sdk._runs.known_agents import AGENTS
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.waiting import eventually
from tests.services.web import LocalWeb


@llm
def think(question: str) -> str:
    return f"thoughts about {question}"


@retriever
def search(query: str) -> list[str]:
    return [f"https://a.example/{query}"]


def in_threads(question: str) -> str:
    """Work as LangGraph does: each step in an executor's item."""
    with ThreadPoolExecutor(2) as pool:
        pool.submit(search, question).result()
        return pool.submit(think, question).result()


async def in_tasks(question: str) -> str:
    """Work as workflows do: each step in a task of its own."""
    await asyncio.gather(asyncio.to_thread(search, question), asyncio.sleep(0))
    return await asyncio.create_task(asyncio.to_thread(think, question))


class Pregel:
    """As LangGraph's: a plain call, and streams."""

    def invoke(self, state: dict[str, Any]) -> dict[str, Any]:
        (_, question) = state["messages"][-1]
        for _ in self.stream(state):
            pass
        answer = {"role": "assistant", "content": f"answer to {question}"}
        return {"messages": [*state["messages"], answer]}

    async def ainvoke(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"answer": await in_tasks(state["messages"][-1][1])}

    def stream(self, state: dict[str, Any]) -> Generator[str]:
        (_, question) = state["messages"][-1]
        yield "one "
        yield in_threads(question)

    async def astream(self, state: dict[str, Any]) -> AsyncIterator[str]:
        yield await in_tasks(state["messages"][-1][1])


class Workflow:
    """As LlamaIndex's: the call returns a handle at once."""

    def run(self, user_msg: str) -> "asyncio.Task[str]":
        return asyncio.ensure_future(in_tasks(user_msg))


class MultiStepAgent:
    """As smolagents': a plain function that may return a generator."""

    def run(self, task: str, stream: bool = False) -> Any:
        if task == "fail":
            search(task)
            raise LookupError("lost")
        return self._steps(task) if stream else in_threads(task)

    def _steps(self, task: str) -> Iterator[str]:
        yield "first "
        yield in_threads(task)


class Runner:
    """As OpenAI Agents': class methods, and a handle that is read as a stream."""

    def __init__(self, task: "asyncio.Task[None]") -> None:
        self.run_loop_task = task
        self.final_output = "final"

    @classmethod
    async def run(cls, agent: object, question: str) -> object:
        return types.SimpleNamespace(final_output=await in_tasks(question))

    @classmethod
    def run_sync(cls, agent: object, question: str) -> object:
        return asyncio.run(cls.run(agent, question))

    @classmethod
    def run_streamed(cls, agent: object, question: str) -> "Runner":
        async def work() -> None:
            await in_tasks(question)

        return cls(asyncio.ensure_future(work()))


class Agent:
    """As Pydantic AI's: everything goes through a context manager."""

    def __init__(self, name: str | None = "finder") -> None:
        self.name = name
        self.awaited_by = ""

    @contextlib.asynccontextmanager
    async def iter(self, user_prompt: str) -> AsyncGenerator[str]:
        frame = inspect.currentframe()
        for _ in range(2):
            frame = frame and frame.f_back
        self.awaited_by = frame.f_code.co_name if frame else ""
        if user_prompt == "fail":
            raise LookupError("lost")
        yield user_prompt

    async def run(self, user_prompt: str) -> str:
        async with self.iter(user_prompt) as question:
            return await in_tasks(question)


STAND_INS = {
    "langgraph.pregel.main": Pregel,
    "workflows.workflow": Workflow,
    "smolagents.agents": MultiStepAgent,
    "agents.run": Runner,
    "pydantic_ai.agent": Agent,
}


@pytest.fixture(autouse=True)
def frameworks(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, found in STAND_INS.items():
        module = types.ModuleType(name)
        vars(module)[found.__name__] = found
        monkeypatch.setitem(sys.modules, name.partition(".")[0], types.ModuleType(name))
        monkeypatch.setitem(sys.modules, name, module)
        # As its import would do.
        wrapt.notify_module_loaded(module)
    instrument("agent", endpoint=sink.url)


def asked(question: str) -> dict[str, Any]:
    return {"messages": [("system", "be kind"), ("user", question)]}


async def handled(question: str) -> None:
    assert await Workflow().run(question) == f"thoughts about {question}"


async def streamed_to_the_end(question: str) -> None:
    await Runner.run_streamed(object(), question).run_loop_task


async def read_to_the_end(question: str) -> None:
    assert [each async for each in Pregel().astream(asked(question))]


CALLS: dict[str, Callable[[str], Any]] = {
    "langgraph": lambda question: Pregel().invoke(asked(question)),
    "langgraph-later": lambda question: asyncio.run(Pregel().ainvoke(asked(question))),
    "langgraph-streamed": lambda question: list(Pregel().stream(asked(question))),
    "langgraph-streamed-later": lambda question: asyncio.run(read_to_the_end(question)),
    "llamaindex": lambda question: asyncio.run(handled(question)),
    "smolagents": lambda question: MultiStepAgent().run(question),
    "smolagents-streamed": lambda question: list(MultiStepAgent().run(question, stream=True)),
    "openai-agents": lambda question: asyncio.run(Runner.run(object(), question)),
    "openai-agents-at-once": lambda question: Runner.run_sync(object(), question),
    "openai-agents-streamed": lambda question: asyncio.run(streamed_to_the_end(question)),
    "pydantic-ai": lambda question: asyncio.run(Agent().run(question)),
    "pydantic-ai-unnamed": lambda question: asyncio.run(Agent(None).run(question)),
}
ANSWERS = {
    "langgraph": "answer to {}",
    "langgraph-streamed": "one thoughts about {}",
    "smolagents-streamed": "first thoughts about {}",
    "openai-agents-streamed": "final",
}


def runs(sink: HttpSink, number: int) -> list[SunkSpan]:
    def found() -> list[SunkSpan] | None:
        assert flush()
        roots = sink.of_kind("AGENT")
        return roots if len(roots) >= number else None

    return eventually(found, what="the runs")


def assert_apart(sink: HttpSink, questions: Sequence[str]) -> list[SunkSpan]:
    roots = runs(sink, len(questions))
    assert sorted(each.attributes["seekwatch.run.question"] for each in roots) == sorted(questions)
    for root in roots:
        assert root.attributes["seekwatch.run.root"] == "implicit"
        members = [span for span in sink.spans if span.trace_id == root.trace_id]
        assert len(members) == 3
        assert {each.parent_id for each in members if each is not root} == {root.span_id}
        question = root.attributes["seekwatch.run.question"]
        assert {span.attributes.get("search.query") for span in members} == {None, question}
        assert all(root.start_ns <= each.start_ns for each in members)
        assert all(each.end_ns <= root.end_ns for each in members)
    return roots


@pytest.mark.parametrize("name", CALLS)
def test_each_call_is_a_run_with_its_question_and_answer(sink: HttpSink, name: str) -> None:
    for question in ("first", "second"):
        CALLS[name](question)
    for root in assert_apart(sink, ["first", "second"]):
        answer = ANSWERS.get(name, "thoughts about {}")
        question = root.attributes["seekwatch.run.question"]
        assert root.attributes["seekwatch.run.answer"] == answer.format(question)
        assert root.attributes["seekwatch.run.stop_reason"] == "answered"
        assert "seekwatch.run.questions" not in root.attributes


def test_calls_that_one_task_gathers_are_never_mixed(sink: HttpSink) -> None:
    questions = [f"question {number}" for number in range(20)]

    async def gather() -> None:
        await asyncio.gather(*(handled(each) for each in questions[:5]))
        workflows = [Workflow().run(each) for each in questions[5:10]]
        await asyncio.gather(*workflows, *(Agent().run(each) for each in questions[10:15]))
        # Without a task between them.
        for each in questions[15:]:
            await Agent().run(each)

    asyncio.run(gather())
    assert_apart(sink, questions)


def test_what_was_fetched_before_is_no_part_of_the_run(sink: HttpSink, web: LocalWeb) -> None:
    httpx.get(f"{web.url}/page")
    MultiStepAgent().run("first")
    assert_apart(sink, ["first"])


def test_a_call_within_a_run_opens_none(sink: HttpSink) -> None:
    with agent_run("marked"):
        MultiStepAgent().run("inner")
    with trace.get_tracer("theirs").start_as_current_span("request"):
        MultiStepAgent().run("inner")
    assert flush()
    assert sink.one("AGENT").attributes["seekwatch.run.question"] == "marked"


def test_an_agent_that_another_calls_is_part_of_its_run(sink: HttpSink) -> None:
    class Manager(MultiStepAgent):
        def run(self, task: str, stream: bool = False) -> Any:
            return super().run(task, stream)

    Manager().run("first")
    assert_apart(sink, ["first"])


def test_where_an_instrumentor_makes_the_spans_there_is_none_of_ours_above(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    def traced(question: str) -> str:
        with trace.get_tracer("theirs").start_as_current_span("agent"):
            return think(question)

    monkeypatch.setitem(globals(), "in_threads", traced)
    MultiStepAgent().run("first")
    assert flush()
    assert sink.of_kind("AGENT") == []


def test_an_exception_marks_the_run_and_goes_on(sink: HttpSink) -> None:
    with pytest.raises(LookupError, match="lost"):
        MultiStepAgent().run("fail")
    (root,) = runs(sink, 1)
    assert root.attributes["seekwatch.run.stop_reason"] == "crashed"
    assert root.attributes["error.type"] == "LookupError"


def test_one_that_fails_to_begin_holds_up_no_other(sink: HttpSink) -> None:
    async def both() -> None:
        with pytest.raises(LookupError, match="lost"):
            await Agent().run("fail")
        await Agent().run("first")

    asyncio.run(both())
    assert_apart(sink, ["first"])


def test_a_stream_that_is_left_ends_its_run(sink: HttpSink) -> None:
    stream = Pregel().stream(asked("first"))
    next(stream)
    next(stream)
    stream.close()
    left = MultiStepAgent().run("second", stream=True)
    next(left)
    next(left)
    del left, stream
    gc.collect()
    assert_apart(sink, ["first", "second"])


def test_pydantic_ai_still_finds_the_frame_that_names_its_agent() -> None:
    agent = Agent(None)

    async def asks() -> None:
        async with agent.iter("q"):
            pass

    asyncio.run(asks())
    assert agent.awaited_by == "asks"


def test_uninstrument_puts_the_functions_back() -> None:
    kept = {name: dict(vars(found)) for name, found in STAND_INS.items()}
    uninstrument()
    for name, found in STAND_INS.items():
        assert dict(vars(found)) != kept[name]
        assert not [
            each for each in vars(found).values() if "seekwatch" in getattr(each, "__module__", "")
        ]
    for agent in AGENTS:
        module = STAND_INS.get(agent.module)
        if module is not None:
            method = getattr(module, agent.attribute.partition(".")[2])
            assert getattr(method, "__module__", None) == __name__


@pytest.mark.parametrize(
    "point",
    [
        "known_agents:implicit.is_above",
        "known_agents:Told",
        "known_agents:_task_behind",
        "boundaries:set_value",
        "boundaries:boundary_of",
        "boundaries:Boundary.opened",
        "boundaries:Boundary.close",
        "wrapping:attach",
    ],
)
def test_the_agent_notices_no_failure_of_ours(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    module, _, inside = point.partition(":")
    *path, name = inside.split(".")
    owner: Any = importlib.import_module(f"seekwatch.sdk._runs.{module}")
    for part in path:
        owner = getattr(owner, part)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(point)

    monkeypatch.setattr(owner, name, fail)
    for call in CALLS.values():
        call("q")
    monkeypatch.undo()
    assert failures()
    flush(1)
    reset_failures()


class Message:
    """As LangChain's."""

    def __init__(self, kind: str, content: Any) -> None:
        self.type = kind
        self.content = content


@pytest.mark.parametrize(
    ("given", "question"),
    [
        (["q"], "q"),
        ([object(), "q"], "q"),
        ([{"messages": [("user", "earlier"), ("ai", "a"), ("user", "q")]}], "q"),
        ([{"messages": [{"role": "user", "content": "q"}]}], "q"),
        ([{"messages": [Message("human", "q"), Message("ai", "a")]}], "q"),
        ([{"messages": [Message("human", [{"type": "text", "text": "q"}])]}], "q"),
        ([[{"role": "user", "content": [{"type": "input_text", "text": "q"}]}]], "q"),
        ([["q", object()]], "q"),
        ([{"input": "q"}], "q"),
        ([None, type("MyStartEvent", (), {"user_msg": "q"})()], "q"),
        ([object(), None], None),
    ],
)
def test_the_question_is_found_where_frameworks_take_it(
    given: list[Any], question: str | None
) -> None:
    assert Told(tuple(given), {}, 0).question == question


@pytest.mark.parametrize(
    ("returned", "answer"),
    [
        ("a", "a"),
        (42, "42"),
        ({"messages": [Message("human", "q"), Message("ai", "a")]}, "a"),
        ({"messages": [Message("ai", "a"), Message("tool", "t")]}, None),
        (types.SimpleNamespace(final_output="a"), "a"),
        (types.SimpleNamespace(output={"year": 1889}), '{"year": 1889}'),
        (types.SimpleNamespace(response=types.SimpleNamespace(content="a")), "a"),
        ([{"step": 1}, {"messages": [("assistant", "a")]}], "a"),
        (None, None),
    ],
)
def test_the_answer_is_found_where_frameworks_give_it(returned: Any, answer: str | None) -> None:
    told = Told((), {}, 0)
    told.result = returned
    assert told.answer == answer
