import asyncio
import inspect
import json
import logging
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from seekwatch.sdk import agent_run, flush, instrument, llm, retriever, tool
from tests.services.otlp_sink import HttpSink
from tests.services.web import LocalWeb


@pytest.fixture(autouse=True)
def instrumented(sink: HttpSink) -> None:
    instrument("decorated", endpoint=sink.url)


@retriever
def search(query: str, limit: int = 2) -> list[dict[str, Any]]:
    return [
        {"url": f"https://s{n}.example/", "title": f"T{n}", "score": 0.5, "content": query}
        for n in range(limit)
    ]


def test_a_retriever_notes_query_and_documents(sink: HttpSink) -> None:
    search("where does it snow")
    assert flush()
    found = sink.one("RETRIEVER").attributes
    assert found["search.query"] == found["input.value"] == "where does it snow"
    assert found["gen_ai.data_source.id"] == "search"
    assert found["retrieval.source_url"] == ["https://s0.example/", "https://s1.example/"]
    documents = json.loads(found["gen_ai.retrieval.documents"])
    assert documents[1] == {
        "url": "https://s1.example/",
        "title": "T1",
        "score": 0.5,
        "content": "where does it snow",
        "id": "https://s1.example/",
        "rank": 2,
    }
    assert found["retrieval.documents.1.document.id"] == "https://s1.example/"


@dataclass
class Document:
    page_content: str
    metadata: dict[str, Any]


@pytest.mark.parametrize(
    "results",
    [
        ["https://a.example/"],
        {"results": [{"link": "https://a.example/"}]},
        [Document("text", {"source": "https://a.example/", "title": "A"})],
        ({"href": "https://a.example/"},),
    ],
)
def test_many_shapes_of_results_are_read(sink: HttpSink, results: Any) -> None:
    @retriever(name="odd")
    def find(query: str) -> Any:
        return results

    find("q")
    assert flush()
    found = sink.one("RETRIEVER")
    assert found.name == "retrieval odd"
    assert found.attributes["retrieval.source_url"] == ["https://a.example/"]


def test_a_tool_notes_arguments_and_result_as_they_were(sink: HttpSink) -> None:
    @tool(name="calc")
    def add(numbers: list[int], *, bias: float = 0.0) -> dict[str, float]:
        numbers.append(99)
        return {"sum": sum(numbers) + bias}

    numbers = [1, 2]
    result = add(numbers, bias=0.5)
    result.clear()
    assert flush()
    found = sink.one("TOOL").attributes
    assert found["gen_ai.tool.name"] == found["tool.name"] == "calc"
    assert json.loads(found["gen_ai.tool.call.arguments"]) == {"numbers": [1, 2], "bias": 0.5}
    assert json.loads(found["gen_ai.tool.call.result"]) == {"sum": 102.5}


def test_a_method_is_a_tool_without_its_object(sink: HttpSink) -> None:
    class Box:
        @tool
        def open(self, key: str) -> str:
            return key

    Box().open("k")
    assert flush()
    found = sink.one("TOOL").attributes
    assert json.loads(found["gen_ai.tool.call.arguments"]) == {"key": "k"}


def test_an_llm_notes_model_messages_and_usage(sink: HttpSink) -> None:
    @llm(provider="local")
    def ask(messages: list[dict[str, str]], model: str) -> dict[str, Any]:
        return {
            "model": "m-1",
            "choices": [{"message": {"role": "assistant", "content": "hi"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }

    ask([{"role": "user", "content": "hello"}], model="m")
    assert flush()
    found = sink.one("LLM").attributes
    assert found["gen_ai.request.model"] == "m"
    assert found["gen_ai.provider.name"] == "local"
    assert found["gen_ai.usage.input_tokens"] == 3
    assert json.loads(found["gen_ai.input.messages"])[0]["parts"][0]["content"] == "hello"
    assert json.loads(found["gen_ai.output.messages"])[0]["parts"][0]["content"] == "hi"


def test_a_model_call_inside_an_llm_function_is_one_span(web: LocalWeb, sink: HttpSink) -> None:
    @llm
    def ask(prompt: str) -> str:
        httpx.post(f"{web.url}/v1/chat/completions", json={"model": "m", "messages": []})
        return "answer"

    ask("q")
    assert flush()
    assert len(sink.of_kind("LLM")) == 1


def test_calls_inside_belong_to_the_function(web: LocalWeb, sink: HttpSink) -> None:
    @tool
    def read(url: str) -> int:
        return httpx.get(url).status_code

    with agent_run("q"):
        read(f"{web.url}/page")
    assert flush()
    outer, inner = sink.of_kind("TOOL")
    assert inner.parent_id == outer.span_id
    assert outer.parent_id == sink.one("AGENT").span_id


def test_coroutines_stay_coroutines(sink: HttpSink) -> None:
    @tool
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "done"

    assert inspect.iscoroutinefunction(wait)
    assert asyncio.run(wait(0.01)) == "done"
    assert flush()
    span = sink.one("TOOL")
    assert json.loads(span.attributes["gen_ai.tool.call.result"]) == "done"
    assert span.end_ns - span.start_ns >= 10_000_000


def test_an_exception_marks_the_span_and_goes_on_unchanged(sink: HttpSink) -> None:
    error = KeyError("x")

    @tool
    def fail() -> None:
        raise error

    with pytest.raises(KeyError) as raised:
        fail()
    assert raised.value is error
    assert flush()
    span = sink.one("TOOL")
    assert span.attributes["error.type"] == "KeyError"
    assert span.status == 2


def test_wrong_arguments_raise_in_the_agents_own_call(sink: HttpSink) -> None:
    @tool
    def one(argument: int) -> int:
        return argument

    with pytest.raises(TypeError, match="argument"):
        one()  # type: ignore[call-arg]
    assert flush()
    assert sink.one("TOOL").attributes["error.type"] == "TypeError"


@llm
def tokens(prompt: str) -> Iterator[str]:
    yield "it "
    yield "snowed"


def test_a_generator_is_one_span_with_all_it_yielded(sink: HttpSink) -> None:
    assert inspect.isgeneratorfunction(tokens)
    assert list(tokens("q")) == ["it ", "snowed"]
    assert flush()
    messages = json.loads(sink.one("LLM").attributes["gen_ai.output.messages"])
    assert messages[0]["parts"][0]["content"] == "it snowed"


def test_nothing_is_attached_while_the_caller_holds_an_item(sink: HttpSink) -> None:
    for _ in tokens("q"):
        search("between")
    assert flush()
    run = sink.one("AGENT")
    assert {span.parent_id for span in sink.of_kind("RETRIEVER")} == {run.span_id}


def test_what_a_generators_body_does_belongs_to_it(sink: HttpSink) -> None:
    @tool
    def outer() -> Iterator[int]:
        search("inside")
        yield 1
        search("inside again")

    list(outer())
    assert flush()
    assert {s.parent_id for s in sink.of_kind("RETRIEVER")} == {sink.one("TOOL").span_id}


def test_generators_pass_sent_and_thrown_values_through(sink: HttpSink) -> None:
    @tool
    def echo() -> Any:
        received = []
        try:
            received.append((yield "a"))
        except ValueError:
            received.append("thrown")
        received.append((yield "b"))
        return received

    steps: Any = echo()
    assert next(steps) == "a"
    assert steps.throw(ValueError("x")) == "b"
    with pytest.raises(StopIteration) as stopped:
        steps.send("sent")
    assert stopped.value.value == ["thrown", "sent"]
    assert flush()
    assert len(sink.of_kind("TOOL")) == 1


def test_a_generator_left_early_ends_once_and_is_no_error(sink: HttpSink) -> None:
    for _ in tokens("q"):
        break
    assert flush()
    span = sink.one("LLM")
    assert span.status == 0
    messages = json.loads(span.attributes["gen_ai.output.messages"])
    assert messages[0]["parts"][0]["content"] == "it "


def test_async_generators_left_early_cancelled_or_collected_log_nothing(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    @llm
    async def stream(prompt: str) -> AsyncIterator[str]:
        for word in ("a", "b", "c"):
            await asyncio.sleep(0)
            yield word

    async def left_early() -> None:
        async for _ in stream("left"):
            break

    async def cancelled() -> None:
        async for _ in stream("cancelled"):
            await asyncio.sleep(10)

    async def use() -> None:
        await left_early()
        task = asyncio.create_task(cancelled())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert [word async for word in stream("whole")] == ["a", "b", "c"]

    assert inspect.isasyncgenfunction(stream)
    with caplog.at_level(logging.WARNING):
        asyncio.run(use())
    assert caplog.records == []
    assert flush()
    assert len(sink.of_kind("LLM")) == 3


def test_threads_that_get_the_context_join_the_run(sink: HttpSink) -> None:
    with agent_run("q"), ThreadPoolExecutor(2) as pool:
        pool.submit(copy_context().run, search, "in a thread").result()
    assert flush()
    assert sink.one("RETRIEVER").parent_id == sink.one("AGENT").span_id


def test_an_object_whose_repr_raises_does_no_harm(sink: HttpSink) -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    @tool
    def take(value: object) -> object:
        return value

    take(Hostile())
    assert flush()
    found = sink.one("TOOL").attributes
    assert "Hostile" in found["gen_ai.tool.call.arguments"]
