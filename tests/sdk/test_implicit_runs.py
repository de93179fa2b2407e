"""With nothing but `instrument`, each task, thread or item that calls out is a run of its own."""

import asyncio
import contextvars
import gc
import io
import json
import logging
import multiprocessing
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from wsgiref.handlers import SimpleHandler

import anyio
import anyio.to_thread
import httpx
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased

from seekwatch.sdk import agent_run, flush, instrument, llm, retriever, tool, uninstrument
from seekwatch.sdk._context import attach, detach
from seekwatch.sdk._guard import reset_failures
from seekwatch.sdk._instrument import statistics
from seekwatch.sdk._runs.conversation import read_turn
from seekwatch.sdk._runs.open_runs import OpenRuns
from seekwatch.sdk._runtime import current
from tests.services.otlp_sink import HttpSink, SunkSpan
from tests.services.waiting import eventually
from tests.services.web import LocalWeb

Messages = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def clean_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG):
        yield
    told = [record.getMessage() for record in caplog.records]
    assert not [line for line in told if "different Context" in line or "detach" in line]


@pytest.fixture
def agent(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "50000")
    instrument("agent", endpoint=sink.url)
    runtime = current()
    assert runtime is not None
    # A thousand runs at once are more than what may wait: on a slow machine some lose their body.
    runtime.finisher._max_jobs = 50_000


@llm
def think(messages: Messages, answer: str | None = "It did.") -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if answer is None:
        call = {"id": "1", "function": {"name": "search", "arguments": "{}"}}
        message["tool_calls"] = [call]
    return {"choices": [{"message": message}]}


@retriever
def search(query: str) -> list[str]:
    return [f"https://a.example/{query}"]


@tool
def use(argument: str) -> str:
    return argument


def ask(question: str, system: str = "") -> Messages:
    told = [{"role": "system", "content": system}] if system else []
    return [*told, {"role": "user", "content": question}]


def run_once(number: int) -> None:
    think(ask(f"question {number}"), answer=None)
    search(f"{number}")
    use(f"{number}")
    think(ask(f"question {number}"))


async def run_async(number: int) -> None:
    think(ask(f"question {number}"), answer=None)
    await asyncio.sleep(0)
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(search, f"{number}"))
        group.create_task(asyncio.to_thread(use, f"{number}"))
    await asyncio.get_running_loop().run_in_executor(None, use, f"{number}")
    think(ask(f"question {number}"))


def sent(sink: HttpSink) -> list[SunkSpan]:
    """Return what was sent once every open run has ended."""
    gc.collect()
    runs = the_runs()
    eventually(lambda: not len(runs) or None, what="an end of every run")
    assert flush()
    return sink.spans


def the_runs() -> OpenRuns:
    runtime = current()
    assert runtime is not None
    assert runtime.runs is not None
    return runtime.runs


def assert_never_mixed(spans: list[SunkSpan], runs: int, spans_each: int) -> None:
    by_trace: dict[str, list[SunkSpan]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    assert len(by_trace) == runs
    assert Counter(map(len, by_trace.values())) == {spans_each: runs}
    questions: set[str] = set()
    for members in by_trace.values():
        roots = [span for span in members if not span.parent_id]
        (root,) = roots
        assert root.attributes["seekwatch.run.root"] == "implicit"
        number = root.attributes["seekwatch.run.question"].removeprefix("question ")
        queries = [each.attributes.get("search.query") for each in members]
        assert [query for query in queries if query is not None] == [number]
        questions.add(number)
    assert len(questions) == runs


@pytest.mark.usefixtures("agent")
def test_the_first_call_opens_a_run_and_later_ones_join_it(sink: HttpSink) -> None:
    threading.Thread(target=run_once, args=(1,)).start()
    spans = sent(sink)
    (root,) = sink.of_kind("AGENT")
    assert root.name == "invoke_agent agent"
    assert {span.parent_id for span in spans if span is not root} == {root.span_id}
    found = root.attributes
    assert found["gen_ai.operation.name"] == "invoke_agent"
    assert found["gen_ai.agent.name"] == "agent"
    assert found["seekwatch.run.question"] == found["input.value"] == "question 1"
    assert found["seekwatch.run.answer"] == found["output.value"] == "It did."
    assert found["seekwatch.run.stop_reason"] == "answered"
    assert found["seekwatch.sdk.version"]
    assert "seekwatch.run.questions" not in found


@pytest.mark.usefixtures("agent")
def test_a_run_ends_with_the_last_thing_that_went_on_in_it(sink: HttpSink) -> None:
    async def main() -> None:
        run_once(1)
        await asyncio.sleep(0.3)

    asyncio.run(main())
    spans = sent(sink)
    root = sink.one("AGENT")
    assert root.end_ns == max(span.end_ns for span in spans if span is not root)
    assert root.start_ns <= min(span.start_ns for span in spans)


@pytest.mark.usefixtures("agent")
def test_a_thousand_tasks_at_once_are_a_thousand_runs(sink: HttpSink) -> None:
    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(1000):
                group.create_task(run_async(number))

    asyncio.run(main())
    assert_never_mixed(sent(sink), 1000, 6)


@pytest.mark.usefixtures("agent")
def test_a_pool_of_eight_threads_serves_a_thousand_runs(sink: HttpSink) -> None:
    def serve(number: int) -> None:
        run_once(number)
        # Not faster than spans can be finished: what is in excess would be dropped, and counted.
        time.sleep(0.01)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(serve, range(1000)))
        assert_never_mixed(sent(sink), 1000, 5)


@pytest.mark.usefixtures("agent")
def test_worker_threads_of_anyio_keep_runs_apart(sink: HttpSink) -> None:
    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(anyio.to_thread.run_sync, run_once, number)

    anyio.run(main)
    assert_never_mixed(sent(sink), 100, 5)


@pytest.mark.usefixtures("agent")
def test_what_a_task_starts_after_its_first_call_joins_its_run(sink: HttpSink) -> None:
    async def request() -> None:
        think(ask("question 1"), answer=None)
        await asyncio.gather(
            asyncio.create_task(asyncio.to_thread(search, "1")),
            anyio.to_thread.run_sync(use, "1"),
            asyncio.wait_for(asyncio.to_thread(use, "2"), 10),
        )
        worker = threading.Thread(target=use, args=("3",))
        worker.start()
        worker.join()

    async def main() -> None:
        # A server's own task lives on; the request's does not.
        await asyncio.create_task(request())
        spans = await asyncio.to_thread(sent, sink)
        assert len({span.trace_id for span in spans}) == 1

    asyncio.run(main())
    assert sink.kinds() == ["AGENT", "LLM", "RETRIEVER", "TOOL", "TOOL", "TOOL"]


@pytest.mark.usefixtures("agent")
def test_a_child_task_does_not_end_the_run_and_may_outlive_it(sink: HttpSink) -> None:
    async def main() -> None:
        async def child() -> None:
            use("child")

        async def late() -> None:
            await asyncio.sleep(0.2)
            use("late")

        async def request() -> asyncio.Task[None]:
            think(ask("question 1"), answer=None)
            await asyncio.create_task(child())
            use("after the child")
            return asyncio.create_task(late())

        await (await asyncio.create_task(request()))

    asyncio.run(main())
    spans = sent(sink)
    assert len({span.trace_id for span in spans}) == 1
    assert sink.kinds() == ["AGENT", "LLM", "TOOL", "TOOL", "TOOL"]


@pytest.mark.usefixtures("agent")
def test_what_a_task_left_behind_opens_a_run_of_its_own_after_a_while(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(the_runs(), "quiet", 0.05)

    async def main() -> None:
        async def forever() -> None:
            await asyncio.sleep(0.3)
            run_once(2)

        async def request() -> asyncio.Task[None]:
            run_once(1)
            return asyncio.create_task(forever())

        await (await asyncio.create_task(request()))

    asyncio.run(main())
    assert_never_mixed(sent(sink), 2, 5)


@pytest.mark.usefixtures("agent")
def test_a_cancelled_task_and_a_generator_left_early_end_their_runs(sink: HttpSink) -> None:
    async def steps() -> AsyncIterator[int]:
        run_once(1)
        yield 1
        yield 2

    async def consume() -> None:
        async for _ in steps():
            break
        await asyncio.sleep(60)

    async def main() -> None:
        task = asyncio.create_task(consume())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert_never_mixed(await asyncio.to_thread(sent, sink), 1, 5)

    asyncio.run(main())


@pytest.mark.usefixtures("agent")
def test_a_context_that_is_gone_ends_its_run(sink: HttpSink) -> None:
    for number in range(3):
        contextvars.copy_context().run(run_once, number)
    assert_never_mixed(sent(sink), 3, 5)


def test_an_answer_and_a_quiet_time_end_a_run_on_a_bare_thread(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEEKWATCH_RUN_QUIET_SECONDS", "0.2")
    instrument("agent", endpoint=sink.url)
    think(ask("question 1"), answer=None)
    time.sleep(0.6)
    use("1")  # A tool was asked for: the run is not over, whatever the silence.
    search("1")
    think(ask("question 1"))
    assert_never_mixed(sent(sink), 1, 5)
    run_once(2)
    assert_never_mixed(sent(sink), 2, 5)


def test_a_run_ends_at_its_cap(sink: HttpSink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEKWATCH_RUN_MAX_SECONDS", "0.2")
    instrument("agent", endpoint=sink.url)
    think(ask("question 1"), answer=None)
    sent(sink)
    think(ask("question 2"), answer=None)
    sent(sink)
    assert [each.attributes["seekwatch.run.question"] for each in sink.of_kind("AGENT")] == [
        "question 1",
        "question 2",
    ]


@pytest.mark.parametrize("text", ["soon", "-1", "0", "inf"])
def test_a_limit_that_is_no_number_is_logged_and_not_used(
    text: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SEEKWATCH_RUN_QUIET_SECONDS", text)
    assert OpenRuns.from_environment().quiet == 30
    assert "SEEKWATCH_RUN_QUIET_SECONDS" in caplog.text


@pytest.mark.usefixtures("agent")
def test_a_flush_ends_the_answered_run_of_its_own_context(sink: HttpSink) -> None:
    run_once(1)
    assert flush()
    assert_never_mixed(sink.spans, 1, 5)
    think(ask("question 2"), answer=None)
    assert flush()
    assert len(sink.of_kind("AGENT")) == 1, "a run that is not answered goes on"


@pytest.mark.usefixtures("agent")
def test_what_is_open_at_the_end_is_sent(sink: HttpSink) -> None:
    think(ask("question 1"), answer=None)
    uninstrument()
    assert sink.one("AGENT").attributes["seekwatch.run.question"] == "question 1"
    names = [thread.name for thread in threading.enumerate()]
    eventually(
        lambda: "seekwatch-runs" not in {t.name for t in threading.enumerate()} or None,
        what=f"an end of the thread among {names}",
    )


def lose_endings(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(*_: object) -> None:
        raise RuntimeError("lost")

    monkeypatch.setattr(the_runs(), "finish", lose)


@pytest.mark.usefixtures("agent")
def test_a_run_whose_ending_was_lost_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = the_runs()
    monkeypatch.setattr(runs, "quiet", 0.05)
    lose_endings(monkeypatch)
    run_once(1)
    eventually(lambda: len(runs) == 0 or None, what="an end of what is open")
    reset_failures()


@pytest.mark.usefixtures("agent")
def test_the_thread_ends_with_the_sdk_whatever_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = the_runs()
    lose_endings(monkeypatch)
    think(ask("question 1"), answer=None)
    thread = runs._thread
    assert thread is not None, "an open run has a thread"
    uninstrument()
    thread.join(30)
    assert not thread.is_alive()
    reset_failures()


@pytest.mark.usefixtures("agent")
def test_two_questions_on_one_bare_thread_are_counted(sink: HttpSink) -> None:
    for number in range(3):
        run_once(number)
    assert flush()
    assert sink.one("AGENT").attributes["seekwatch.run.questions"] == 3


@pytest.mark.usefixtures("agent")
def test_questions_are_counted_whatever_the_models_were_told(sink: HttpSink) -> None:
    for question in (
        "How high is the new lighthouse on Utsira?",
        "Who designed the town library of Tampere?",
        "What does a ticket for the Lofoten ferry cost?",
    ):
        search(question)
        think(ask(question, f"Answer from what was found for {question}"), answer="It is [1].")
    assert flush()
    found = sink.one("AGENT").attributes
    assert found["seekwatch.run.questions"] == 3


@pytest.mark.usefixtures("agent")
def test_what_models_ask_each_other_is_no_question_of_a_person(sink: HttpSink) -> None:
    question = "When did the bridge over the fjord open?"
    think(ask(question, "You plan."), answer="1. What is its name? 2. Who owns the ferry line?")
    think(ask("What is its name?", "You search."), answer="Fjordbrua")
    think(ask("Who owns the ferry line?", "You search."), answer="Nordled")
    think(ask(f"Is this an answer to «{question}»?", "You judge."), answer="yes")
    think(ask(question, "Answer from: Fjordbrua, Nordled."))
    assert flush()
    assert "seekwatch.run.questions" not in sink.one("AGENT").attributes


@pytest.mark.usefixtures("agent")
def test_a_rewritten_query_and_its_answer_are_one_question(sink: HttpSink) -> None:
    question = "When did the bridge over the fjord open?"
    think(ask(f"Rewrite as a query. Only the query.\n\n{question}"), answer="bridge opening")
    search("bridge opening")
    think(ask(question, "Answer from what was found."))
    assert flush()
    assert "seekwatch.run.questions" not in sink.one("AGENT").attributes


@pytest.mark.usefixtures("agent")
def test_the_last_turn_of_a_chat_is_the_question_of_a_run(sink: HttpSink) -> None:
    history = [*ask("When did it open?"), {"role": "assistant", "content": "In 1932."}]
    think([*history, *ask("And when was it closed?")])
    assert flush()
    found = sink.one("AGENT").attributes
    assert found["seekwatch.run.question"] == "And when was it closed?"


@pytest.mark.usefixtures("agent")
def test_the_steps_of_one_run_are_not_taken_for_questions(sink: HttpSink) -> None:
    question = "When did the bridge over the fjord open?"
    think(ask(f"Rewrite for a search engine: {question}"), answer="bridge fjord opening")
    search("bridge fjord opening")
    think(ask("Sum up: the bridge opened.", "You sum up."), answer="It opened.")
    think(ask("Sum up: the tunnel opened.", "You sum up."), answer="It opened too.")
    think(ask(f"Sources: 1, 2. Answer with citations. Question: {question}"))
    assert flush()
    assert "seekwatch.run.questions" not in sink.one("AGENT").attributes


@pytest.mark.usefixtures("agent")
def test_an_explicit_run_ends_the_implicit_one_and_is_not_below_it(sink: HttpSink) -> None:
    think(ask("warm up"))
    with agent_run("What is it?") as run:
        use("1")
        run.answer("It is.")
    use("2")
    uninstrument()
    implicit, explicit, after = sink.of_kind("AGENT")
    assert implicit.attributes["seekwatch.run.root"] == "implicit"
    assert explicit.attributes["seekwatch.run.root"] == "agent_run"
    assert after.attributes["seekwatch.run.root"] == "implicit"
    assert len({each.trace_id for each in (implicit, explicit, after)}) == 3
    assert implicit.end_ns <= explicit.start_ns


@pytest.mark.usefixtures("agent")
def test_a_run_inside_a_run_is_no_root(sink: HttpSink) -> None:
    with agent_run("outer"), agent_run("inner"):
        pass
    assert flush()
    roots = [each.attributes.get("seekwatch.run.root") for each in sink.of_kind("AGENT")]
    assert roots == ["agent_run", None]


def test_a_span_above_is_the_parent_and_no_run_opens(sink: HttpSink) -> None:
    provider = TracerProvider()
    instrument("agent", endpoint=sink.url, tracer_provider=provider)
    with provider.get_tracer("web").start_as_current_span("GET /ask"):
        run_once(1)
    assert flush()
    assert sink.of_kind("AGENT") == []
    assert len({span.trace_id for span in sink.spans}) == 1


@pytest.mark.parametrize(
    "described",
    [
        {"openinference.span.kind": "LLM"},
        {"gen_ai.operation.name": "chat"},
        {"llm.request.type": "chat"},
    ],
)
def test_calls_that_others_see_open_and_join_runs_too(
    sink: HttpSink, described: dict[str, str]
) -> None:
    provider, elsewhere = TracerProvider(), TracerProvider()
    instrument("agent", endpoint=sink.url, tracer_provider=provider)
    theirs: Any = provider.get_tracer("theirs")
    unknown: Any = elsewhere.get_tracer("unknown")

    def call() -> None:
        with theirs.start_as_current_span("call", attributes=described) as span:
            span.set_attribute("llm.input_messages.0.message.role", "user")
            span.set_attribute("llm.input_messages.0.message.content", "question 1")
            span.set_attribute("llm.output_messages.0.message.role", "assistant")
            span.set_attribute("llm.output_messages.0.message.content", "It did.")
        search("1")
        with theirs.start_as_current_span("a root of theirs", attributes={"x": 1}) as span:
            assert span.parent is None
        with unknown.start_as_current_span("call", attributes=described) as span:
            assert span.parent is None

    contextvars.copy_context().run(call)
    spans = [span for span in sent(sink) if span.name != "a root of theirs"]
    assert len({span.trace_id for span in spans}) == 1
    root = sink.one("AGENT")
    assert {span.parent_id for span in spans if span is not root} == {root.span_id}
    assert root.attributes["seekwatch.run.question"] == "question 1"
    assert root.attributes["seekwatch.run.answer"] == "It did."


def test_calls_that_say_only_later_what_they_are_open_runs_by_their_names(sink: HttpSink) -> None:
    provider = TracerProvider()
    instrument("agent", endpoint=sink.url, tracer_provider=provider)
    theirs = provider.get_tracer("openinference.instrumentation.litellm")

    def call() -> None:
        with theirs.start_as_current_span("completion", attributes={}) as span:
            span.set_attribute("openinference.span.kind", "LLM")
            span.set_attribute("llm.input_messages.0.message.role", "user")
            span.set_attribute("llm.input_messages.0.message.content", "question 1")
            span.set_attribute("llm.output_messages.0.message.role", "assistant")
            span.set_attribute("llm.output_messages.0.message.content", "It did.")
        with theirs.start_as_current_span("CreateEmbeddings", attributes={}) as span:
            span.set_attribute("openinference.span.kind", "EMBEDDING")

    contextvars.copy_context().run(call)
    spans = {span.name: span for span in sent(sink)}
    root = sink.one("AGENT")
    assert spans["completion"].parent_id == root.span_id
    assert not spans["CreateEmbeddings"].parent_id


def abandon_a_run_here() -> None:
    """Leave an ended run in this thread's context: another thread closes the block around it."""

    def agent() -> Iterator[int]:
        with agent_run("abandoned"):
            yield 1

    steps = agent()
    next(steps)
    thread = threading.Thread(target=cast("Any", steps).close)
    thread.start()
    thread.join()


def test_calls_that_others_see_do_not_join_a_run_that_could_not_be_left(sink: HttpSink) -> None:
    provider = TracerProvider()
    instrument("agent", endpoint=sink.url, tracer_provider=provider)
    abandon_a_run_here()
    theirs = provider.get_tracer("theirs")

    def call() -> None:
        with theirs.start_as_current_span("call", attributes={"openinference.span.kind": "LLM"}):
            pass

    contextvars.copy_context().run(call)
    spans = {span.name: span for span in sent(sink)}
    roots = [span for span in sink.spans if not span.parent_id]
    assert len(roots) == 2
    (abandoned,) = [root for root in roots if "seekwatch.run.question" in root.attributes]
    assert spans["call"].trace_id != abandoned.trace_id


def test_requests_are_runs_of_their_own_beside_one_that_could_not_be_left(sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url)
    abandon_a_run_here()

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        search(environ["PATH_INFO"])
        start_response("200 OK", [])
        return [b"found"]

    for path in ("/1", "/2"):
        served = SimpleHandler(io.BytesIO(), io.BytesIO(), io.StringIO(), {"PATH_INFO": path})
        served.run(application)
    found = [span for span in sent(sink) if span.name == "retrieval search"]
    assert len({span.trace_id for span in found}) == 2


def remote(trace_id: int, *, sampled: bool = True) -> trace.SpanContext:
    flags = trace.TraceFlags(trace.TraceFlags.SAMPLED if sampled else 0)
    return trace.SpanContext(trace_id, 7, is_remote=True, trace_flags=flags)


class Unreadable:
    """Raises where its fields are read."""

    def model_dump(self) -> dict[str, Any]:
        raise AssertionError


def under(parent: trace.SpanContext, function: Callable[[], object]) -> None:
    token = attach(trace.set_span_in_context(trace.NonRecordingSpan(parent)))
    try:
        function()
    finally:
        detach(token)


@pytest.mark.usefixtures("agent")
def test_a_parent_in_another_process_tells_runs_apart(sink: HttpSink) -> None:
    under(remote(1), lambda: run_once(1))
    under(remote(2), lambda: run_once(2))
    uninstrument()
    roots = sink.of_kind("AGENT")
    assert [int(each.trace_id, 16) for each in roots] == [1, 2]
    assert [int(each.parent_id, 16) for each in roots] == [7, 7]
    for root in roots:
        below = [span for span in sink.spans if span.parent_id == root.span_id]
        assert len(below) == 4


@pytest.mark.usefixtures("agent")
def test_fetches_alone_are_no_run_of_an_agent(sink: HttpSink, web: LocalWeb) -> None:
    # As a server does when it starts: what it serves later inherits the context, not the run.
    httpx.get(f"{web.url}/page")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run_once, range(20)))
    uninstrument()
    (fetches,) = sink.of_kind("CHAIN")
    assert fetches.name == "fetches"
    kept = [span for span in sink.spans if span.trace_id != fetches.trace_id]
    assert_never_mixed(kept, 20, 5)


def fork_and_wait(work: Callable[[], None]) -> None:
    context: Any = multiprocessing.get_context("fork")
    child = context.Process(target=work)
    child.start()
    child.join(30)
    assert child.exitcode == 0


@pytest.mark.usefixtures("agent")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_joins_an_open_run_and_does_not_end_it(sink: HttpSink) -> None:
    think(ask("question 1"), answer=None)
    parent = os.getpid()

    def work() -> None:
        assert os.getpid() != parent
        use("in the child")
        uninstrument()

    fork_and_wait(work)
    search("1")
    think(ask("question 1"))
    uninstrument()
    assert_never_mixed(sink.spans, 1, 5)


@pytest.mark.usefixtures("agent")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_runs_of_its_own(sink: HttpSink) -> None:
    def work() -> None:
        worker = threading.Thread(target=run_once, args=(1,))
        worker.start()
        worker.join()
        uninstrument()

    fork_and_wait(work)
    sink.wait_for_spans(5)
    assert_never_mixed(sink.spans, 1, 5)


def test_withheld_content_is_on_no_run(sink: HttpSink) -> None:
    instrument("agent", endpoint=sink.url, capture_content=False)
    run_once(1)
    assert flush()
    found = json.dumps(sink.one("AGENT").attributes)
    assert "question 1" not in found
    assert "It did." not in found


def test_an_unsampled_parent_is_respected_and_counted(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    instrument("agent", endpoint=sink.url)
    for number in range(1, 4):
        under(remote(number, sampled=False), lambda: run_once(1))
    # Nor is it looked at: this argument would not survive it.
    under(remote(1, sampled=False), lambda: use(cast("str", Unreadable())))
    with agent_run("seen"):
        pass
    assert flush()
    assert statistics()["runs_unsampled"] == 3
    assert statistics()["runs_sampled"] == 1
    assert sink.kinds() == ["AGENT"]
    assert sink.one("AGENT").attributes["seekwatch.sdk.unsampled_runs"] == 3
    said = [r.getMessage() for r in caplog.records if "blind to" in r.getMessage()]
    assert len(said) == 1
    assert "blind to 1 of 1 runs" in said[0]
    assert "OTEL_TRACES_SAMPLER" in said[0]


def test_a_run_that_the_sampler_drops_is_one_run_that_is_not_seen(sink: HttpSink) -> None:
    provider = TracerProvider(sampler=ParentBased(ALWAYS_OFF))
    instrument("agent", endpoint=sink.url, tracer_provider=provider)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run_once, range(10)))
    assert flush()
    assert sink.spans == []
    assert statistics()["runs_unsampled"] == 10


@pytest.mark.usefixtures("agent")
def test_ten_thousand_contexts_leave_nothing_behind() -> None:
    for _ in range(10_000):
        contextvars.copy_context().run(use, "1")
    runs = the_runs()
    eventually(lambda: not len(runs) or None, what="an end of every run")


def tool_called(name: str, arguments: object) -> dict[str, Any]:
    call = {"id": "1", "function": {"name": name, "arguments": arguments}}
    return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]}


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("final_answer", '{"answer": "In 1889."}', "In 1889."),
        ("final_result", '{"year": 1889}', '{"year": 1889}'),
        ("final_result_Year", '{"response": "In 1889."}', "In 1889."),
        ("final_answer", "{cut", None),
        ("search", '{"answer": "In 1889."}', None),
    ],
)
@pytest.mark.usefixtures("agent")
def test_a_tool_by_which_a_framework_answers_ends_the_conversation(
    sink: HttpSink, name: str, arguments: str, answer: str | None
) -> None:
    @llm
    def call(messages: Messages) -> dict[str, Any]:
        return tool_called(name, arguments)

    def run() -> None:
        search("1")
        call(ask("New task:\nWhen?"))

    threading.Thread(target=run).start()
    sent(sink)
    root = sink.one("AGENT")
    assert root.attributes["seekwatch.run.question"] == "When?"
    assert root.attributes.get("seekwatch.run.answer") == answer
    assert ("seekwatch.run.stop_reason" in root.attributes) == (answer is not None)


def test_the_same_is_read_of_flattened_messages() -> None:
    start = "llm.output_messages.0.message."
    described = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "New task:\nWhen?",
        f"{start}role": "assistant",
        f"{start}tool_calls.0.tool_call.function.name": "final_answer",
        f"{start}tool_calls.0.tool_call.function.arguments": '{"answer": "In 1889."}',
    }
    turn = read_turn(described, 1, 2)
    assert (turn.asked, turn.answer, turn.final) == ("When?", "In 1889.", True)
