import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest

from seekwatch.sdk import agent_run, current_run, flush, instrument
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.otlp_sink import HttpSink, SunkSpan


@pytest.fixture
def instrumented(sink: HttpSink) -> None:
    instrument("runner", endpoint=sink.url, release="1.2")


def the_run(sink: HttpSink) -> SunkSpan:
    assert flush()
    return sink.one("AGENT")


@pytest.mark.usefixtures("instrumented")
def test_a_run_is_an_agent_span_with_question_answer_and_citations(sink: HttpSink) -> None:
    with agent_run("Did it snow?") as run:
        run.answer(
            "It snowed [1].",
            [
                {"url": "https://a.example/", "title": "A", "quote": "snow", "start": 0, "end": 9},
                "https://b.example/",
            ],
        )
    span = the_run(sink)
    found = span.attributes
    assert span.name == "invoke_agent runner"
    assert found["openinference.span.kind"] == "AGENT"
    assert found["gen_ai.operation.name"] == "invoke_agent"
    assert found["gen_ai.agent.name"] == "runner"
    assert found["seekwatch.run.question"] == found["input.value"] == "Did it snow?"
    assert found["seekwatch.run.answer"] == found["output.value"] == "It snowed [1]."
    assert json.loads(found["seekwatch.run.citations"]) == [
        {"url": "https://a.example/", "title": "A", "quote": "snow", "start": 0, "end": 9},
        {"url": "https://b.example/"},
    ]
    assert found["seekwatch.run.stop_reason"] == "answered"
    assert found["seekwatch.sdk.version"]
    assert span.parent_id == ""
    assert span.status == 0


@pytest.mark.usefixtures("instrumented")
def test_limits_and_context_are_attributes_where_given(sink: HttpSink) -> None:
    with agent_run("q") as run:
        run.limits(
            deadline=30,
            budget=0.5,
            attempts=3,
            retries=2,
            requests=20,
            crawl_depth=2,
            escalations=1,
        )
        run.context(
            lane="canary",
            case="c-1",
            corpus="v3",
            region="de",
            as_of=datetime(2026, 11, 1, tzinfo=UTC),
            principal="alice@example.com",
        )
    found = the_run(sink).attributes
    assert {k: v for k, v in found.items() if k.startswith("seekwatch.limit.")} == {
        "seekwatch.limit.deadline": 30.0,
        "seekwatch.limit.budget": 0.5,
        "seekwatch.limit.attempts": 3,
        "seekwatch.limit.retries": 2,
        "seekwatch.limit.requests": 20,
        "seekwatch.limit.crawl_depth": 2,
        "seekwatch.limit.escalations": 1,
    }
    assert found["seekwatch.run.lane"] == "canary"
    assert found["seekwatch.run.case"] == "c-1"
    assert found["seekwatch.run.corpus"] == "v3"
    assert found["seekwatch.run.region"] == "de"
    assert found["seekwatch.run.as_of"] == "2026-11-01T00:00:00+00:00"
    assert "alice" not in found["seekwatch.run.principal"]


@pytest.mark.usefixtures("instrumented")
def test_one_principal_has_one_hash_and_another_has_another(sink: HttpSink) -> None:
    for name in ("alice", "alice", "bob"):
        with agent_run("q") as run:
            run.context(principal=name)
    assert flush()
    first, second, third = (s.attributes["seekwatch.run.principal"] for s in sink.of_kind("AGENT"))
    assert first == second != third


@pytest.mark.usefixtures("instrumented")
def test_an_exception_marks_the_run_and_goes_on_unchanged(sink: HttpSink) -> None:
    error = ValueError("no luck")
    with pytest.raises(ValueError, match="no luck") as raised, agent_run("q"):
        raise error
    assert raised.value is error
    span = the_run(sink)
    assert span.status == 2
    assert span.message == "ValueError: no luck"
    assert span.attributes["error.type"] == "ValueError"
    assert span.attributes["seekwatch.run.stop_reason"] == "crashed"
    ((name, event),) = span.events
    assert name == "exception"
    assert event["exception.message"] == "no luck"


@pytest.mark.usefixtures("instrumented")
@pytest.mark.parametrize(
    ("error", "reason"), [(TimeoutError(), "deadline"), (RuntimeError(), "crashed")]
)
def test_the_stop_reason_follows_from_the_exception(
    sink: HttpSink, error: Exception, reason: str
) -> None:
    with pytest.raises(type(error)), agent_run("q"):
        raise error
    assert the_run(sink).attributes["seekwatch.run.stop_reason"] == reason


@pytest.mark.usefixtures("instrumented")
def test_a_stop_reason_that_is_said_wins(sink: HttpSink) -> None:
    with agent_run("q") as run:
        run.answer("best so far")
        run.stop("budget")
    assert the_run(sink).attributes["seekwatch.run.stop_reason"] == "budget"


@pytest.mark.usefixtures("instrumented")
def test_a_refusal_is_a_stop_reason(sink: HttpSink) -> None:
    with agent_run("q") as run:
        run.answer("I cannot say.", refused=True)
    assert the_run(sink).attributes["seekwatch.run.stop_reason"] == "refused"


@pytest.mark.usefixtures("instrumented")
def test_a_run_without_an_answer_has_no_stop_reason(sink: HttpSink) -> None:
    with agent_run("q"):
        pass
    assert "seekwatch.run.stop_reason" not in the_run(sink).attributes


@pytest.mark.usefixtures("instrumented")
def test_async_with_is_the_same(sink: HttpSink) -> None:
    async def run_it() -> None:
        async with agent_run("q") as run:
            assert current_run() is run
            run.answer("a")

    asyncio.run(run_it())
    assert the_run(sink).attributes["output.value"] == "a"


@pytest.mark.usefixtures("instrumented")
def test_a_run_inside_a_run_is_its_child(sink: HttpSink) -> None:
    with agent_run("outer") as outer:
        with agent_run("inner", name="helper"):
            pass
        assert current_run() is outer
    assert current_run() is None
    assert flush()
    first, second = sink.of_kind("AGENT")
    assert second.parent_id == first.span_id
    assert second.attributes["gen_ai.agent.name"] == "helper"


def test_outside_an_instrumented_process_a_run_does_nothing() -> None:
    with agent_run("q") as run:
        run.limits(deadline=1)
        run.context(principal="x")
        run.answer("a")
        run.stop("answered")
    assert run.ended


@pytest.mark.usefixtures("instrumented")
def test_a_generator_left_early_logs_nothing_and_does_not_adopt_the_next_run(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    async def agent() -> AsyncIterator[int]:
        with agent_run("first"):
            for number in range(3):
                yield number

    async def use() -> None:
        async for _ in agent():
            break
        # The generator is closed by the loop, in another task.
        await asyncio.sleep(0.01)
        with agent_run("second"):
            pass

    with caplog.at_level(logging.WARNING):
        asyncio.run(use())
    assert [r.message for r in caplog.records if r.name.startswith("opentelemetry.context")] == []
    assert flush()
    first, second = sink.of_kind("AGENT")
    assert first.trace_id != second.trace_id
    assert second.parent_id == ""


@pytest.mark.usefixtures("instrumented")
def test_a_generator_collected_elsewhere_logs_nothing(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    import threading

    def agent() -> Iterator[int]:
        with agent_run("q"):
            yield 1
            yield 2

    steps = agent()
    next(steps)
    thread = threading.Thread(target=steps.close)  # type: ignore[attr-defined]
    with caplog.at_level(logging.WARNING):
        thread.start()
        thread.join()
    assert caplog.records == []
    assert the_run(sink).status == 0


@pytest.mark.usefixtures("instrumented")
def test_a_principal_that_utf_8_has_no_form_for_is_hashed_too(sink: HttpSink) -> None:
    with agent_run("q") as run:
        run.context(principal="\ud800", case="c")
    found = the_run(sink).attributes
    assert found["seekwatch.run.case"] == "c"
    assert len(found["seekwatch.run.principal"]) == 32


@pytest.mark.usefixtures("instrumented")
def test_an_exception_that_cannot_be_printed_still_marks_the_run(sink: HttpSink) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    with pytest.raises(MuteError), agent_run("q"):
        raise MuteError
    span = the_run(sink)
    assert (span.status, span.attributes["error.type"]) == (2, MuteError.__qualname__)
    assert failures() == {"marking an error": 1}
    reset_failures()
