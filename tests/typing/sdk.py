"""A user's code, type-checked and never run: what they write must keep its types."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import assert_type

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider

from seekwatch.sdk import (
    AgentRun,
    Citation,
    SearchApi,
    agent_run,
    current_run,
    flush,
    instrument,
    llm,
    retriever,
    tool,
    uninstrument,
)

instrument("my-agent")
instrument(
    "my-agent",
    endpoint="http://localhost:4318",
    environment="production",
    release="1.4.2",
    capture_content=True,
    capture_pages=100_000,
    redact=[r"CASE-\d+", str.strip],
    search_apis=[
        SearchApi(
            name="intranet",
            hosts=("search.example.com",),
            query=("param:q",),
            results=("hits",),
        )
    ],
    entrypoint="my_agent.main:answer",
    tracer_provider=TracerProvider(),
    meter_provider=MeterProvider(),
)
instrument("my-agent", redact=str.strip, capture_pages=False)
instrument("my-agent", redact=r"CASE-\d+")


@retriever
def search(query: str, limit: int = 3) -> list[dict[str, str]]:
    return [{"url": query}] * limit


@tool(name="open")
def read(url: str) -> str:
    return url


@llm(provider="local")
async def ask(messages: list[dict[str, str]], *, model: str) -> str:
    return model


@llm
async def stream(prompt: str) -> AsyncIterator[str]:
    yield prompt


assert_type(search("q", limit=2), list[dict[str, str]])
assert_type(read("u"), str)


async def answer(question: str) -> str:
    async with agent_run(question) as run:
        assert_type(run, AgentRun)
        run.limits(deadline=30.0, budget=0.25, attempts=3)
        run.context(lane="live", as_of=datetime.now(UTC), principal="user-1")
        assert_type(await ask([], model="m"), str)
        async for piece in stream("p"):
            assert_type(piece, str)
        cited: list[Citation] = [{"url": "https://a.example/", "start": 0, "end": 4}]
        run.answer("Snow.", citations=cited)
        run.answer("Snow.", ["https://a.example/"])
        run.stop("deadline")
    return "Snow."


def work(question: str) -> None:
    with agent_run(question, name="helper") as run:
        run.answer("a", refused=True)
    assert_type(current_run(), AgentRun | None)
    assert_type(flush(2.0), bool)
    uninstrument()


# What is wrong must be told.
search(1)  # type: ignore[arg-type]
with agent_run("q") as wrong:
    wrong.stop("tired")  # type: ignore[arg-type]
    wrong.context(lane="production")  # type: ignore[arg-type]
