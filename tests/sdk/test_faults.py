"""Our own code is made to fail wherever the agent's calls into it; the agent must not notice."""

import asyncio
import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry import trace

from seekwatch.sdk import agent_run, flush, instrument, llm, retriever, tool
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.otlp_sink import HttpSink
from tests.services.waiting import eventually
from tests.services.web import PAGE, Answer, LocalWeb

POINTS = [
    "_http.call:calls.recognise",
    "_http.call:HttpCall.start",
    "_http.call:Exchange",
    "_http.call:HttpCall.end",
    "_stacks.httpx_streams:Tees.put",
    "_stacks.httpx_clients:HttpxRequest",
    "_stacks.httpx_clients:HttpxResponse",
    "_http.spans:finish_call",
    "_http.call:detach",
    "_http.exchanges:Exchange.ended",
    "_http.exchanges:Wire.ended",
    "_http.exchanges:Wire.__init__",
    "_search.apis:SearchApiIndex.find",
    "_finisher:Finisher.submit",
    "_runtime:Runtime.prepared",
    "_runs.run:set_span_in_context",
    "_runs.run:attach",
    "_runs.run:detach",
    "_runs.run:parent_context",
    "_runs.run:AgentRun._set",
    "_runs.decorators:parent_context",
    "_runs.decorators:_SpanScope.result",
    "_runs.decorators:_SpanScope.close",
    "_runs.recorded:to_json",
    "_runs.run:implicit.joined",
    "_runs.run:implicit.end_here",
    "_runs.executors:_Carried",
    "_runs.executors:get_current",
    "_runs.executors:attach",
    "_runs.executors:detach",
    "_runs.open_runs:ImplicitRun",
    "_runs.implicit:ImplicitRun.end",
    "_runs.open_runs:OpenRuns.open",
    "_runs.open_runs:OpenRuns._is_over",
    "_runs.open_runs:ImplicitRun.began",
    "_runs.open_runs:ImplicitRun.over",
    "_runs.open_runs:read_turn",
    "_runs.sampling:RunCount.add",
    "_runs.foreign_calls:_is_step",
    "_runs.foreign_calls:_scope",
    "_runs.wrapping:attach",
    "_runs.wrapping:detach",
    "_export.batching:estimated_size",
    "_export.stage:encoded_size",
]


MODEL_CALL = {"openinference.span.kind": "LLM"}


class OurFaultError(RuntimeError):
    """Raised by our own code."""


@pytest.fixture(params=POINTS)
def fault(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, sink: HttpSink
) -> Iterator[str]:
    monkeypatch.setenv("SEEKWATCH_RUN_QUIET_SECONDS", "0.1")
    instrument("faulty", endpoint=sink.url)
    point: str = request.param
    module, _, inside = point.partition(":")
    *path, name = inside.split(".")
    owner: Any = importlib.import_module(f"seekwatch.sdk.{module}")
    for part in path:
        owner = getattr(owner, part)

    def fail(*_: object, **__: object) -> None:
        raise OurFaultError(point)

    monkeypatch.setattr(owner, name, fail)
    yield point
    monkeypatch.undo()
    flush(0.5)
    reset_failures()


@retriever
def search(query: str) -> list[str]:
    return [query]


@tool
def use(argument: str) -> str:
    return argument


@llm
async def think(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt


async def work(url: str) -> list[object]:
    seen: list[object] = []
    with agent_run("q") as run:
        run.limits(deadline=1)
        with httpx.Client(base_url=url, follow_redirects=True) as client:
            seen.append(client.get("/redirect").text)
            with client.stream("GET", "/stream") as response:
                seen.append(len(response.read()))
            seen.append(
                client.post("/v1/chat/completions", json={"model": "m", "messages": []}).status_code
            )
            with pytest.raises(httpx.ConnectError):
                client.get("http://127.0.0.1:9/")
        async with httpx.AsyncClient(base_url=url) as other:
            seen.append((await other.get("/page")).text)
            async with other.stream("GET", "/page") as answer:
                seen.append((await answer.aread()).decode())
        seen += [search("s"), use("u"), await think("t"), await asyncio.to_thread(use, "v")]
        run.answer("a", ["https://a.example/"])
    return seen


async def work_unmarked() -> list[object]:
    """Do what opens a run by itself, in a task, an executor and a thread."""
    with trace.get_tracer("theirs").start_as_current_span("chat", attributes=MODEL_CALL):
        pass
    seen: list[object] = [await think("q"), search("s"), await asyncio.to_thread(use, "t")]
    thread = threading.Thread(target=lambda: seen.append(use("u")))
    thread.start()
    thread.join()
    with agent_run("explicit"):
        seen.append(use("v"))
    return seen


def test_the_agent_sees_the_same_whatever_fails_in_us(web: LocalWeb, fault: str) -> None:
    seen = asyncio.run(work(web.url))
    assert seen == [PAGE, len(PAGE) * 100, 200, PAGE, PAGE, ["s"], "u", "t", "v"]
    assert asyncio.run(work_unmarked()) == ["q", ["s"], "t", "u", "v"]
    use("on a bare thread")
    flush(2)
    eventually(failures, what=f"a failure of {fault}, which was never reached")


@pytest.mark.parametrize(
    "share",
    [
        pytest.param("25", id="every twenty-fifth"),
        pytest.param("1", id="all", marks=[pytest.mark.nightly, pytest.mark.timeout(3600)]),
    ],
)
def test_whatever_function_of_ours_fails_the_agent_does_the_same(
    web: LocalWeb, sink: HttpSink, share: str
) -> None:
    """The places are read from the source: see `tests/services/faults.py`."""
    web.pages["/stream"] = lambda _: Answer(200, PAGE.encode() * 100)
    ended = subprocess.run(
        [sys.executable, "-m", "tests.services.faults", web.url, sink.url, share],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads(ended.stdout.splitlines()[-1])
    assert found["places"]
    assert found["noticed"] == {}
    assert found["slow"] == {}
    assert found["uncounted"] == []
