"""What `tests.services.faults` lets an agent do beside its calls: begin and end to be watched.

Libraries that are not installed here are stood in for by classes with their names.
"""

import asyncio
import contextlib
import io
import sys
import types
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, Self
from wsgiref.handlers import SimpleHandler


def answer(question: str) -> str:
    """Stand for the agent's entrypoint."""
    return f"answer to {question}"


ENTRYPOINT = f"{__name__}:answer"


class DDGS:
    """As of ddgs."""

    def text(self, query: str, **_: Any) -> list[dict[str, str]]:
        """Find one page, or none."""
        if query == "nothing":
            raise LookupError(query)
        return [{"href": "https://a.example/", "title": query, "body": "snow"}]


class Pregel:
    """As of LangGraph."""

    def invoke(self, question: str) -> dict[str, str]:
        """Answer at once."""
        return {"answer": question}

    def stream(self, question: str) -> Iterator[str]:
        """Answer in pieces."""
        yield from (question, "!")

    async def ainvoke(self, question: str) -> dict[str, str]:
        """Answer in a while."""
        await asyncio.sleep(0)
        return {"answer": question}


class _Handle:
    def __init__(self) -> None:
        self.result = "result"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0)


class Agent:
    """As of Pydantic AI."""

    name = "theirs"

    def iter(self, question: str) -> contextlib.AbstractAsyncContextManager[Any]:
        """Open a run."""
        return _Handle()


class Workflow:
    """As of LlamaIndex."""

    def run(self, user_msg: str) -> "asyncio.Task[str]":
        """Answer in a task."""

        async def work() -> str:
            await asyncio.sleep(0)
            return user_msg

        return asyncio.create_task(work())


def put_libraries() -> None:
    """Make the stand-ins importable."""
    for name, owner in (
        ("ddgs.ddgs", DDGS),
        ("langgraph.pregel.main", Pregel),
        ("pydantic_ai.agent", Agent),
        ("workflows.workflow", Workflow),
    ):
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            module = types.ModuleType(".".join(parts[:length]))
            module.__path__ = []
            sys.modules[module.__name__] = module
        setattr(sys.modules[name], owner.__name__, owner)


def _application(environ: Any, start_response: Any) -> Iterator[bytes]:
    start_response("200 OK", [("content-type", "text/plain")])
    yield environ["PATH_INFO"].encode()


def _served() -> bytes:
    sent = io.BytesIO()
    handler = SimpleHandler(io.BytesIO(), sent, io.StringIO(), {"PATH_INFO": "/page"})
    handler.run(_application)
    return sent.getvalue().rpartition(b"\r\n")[2]


async def _frameworks(seen: list[Any]) -> None:
    seen.append(await Pregel().ainvoke("q"))
    async with Agent().iter("q") as handle:
        seen.append(handle.result)
    seen.append(await Workflow().run("q"))

    async def left(count: int) -> AsyncGenerator[int]:
        for number in range(count):
            yield number

    async for number in left(3):
        seen.append(number)
        break


def around_of(sink: str) -> Callable[[], list[Any]]:
    """Return the work: to be watched anew, to use what is watched at its edges, to flush."""
    import httpx

    from seekwatch.sdk import SearchApi, flush, instrument, uninstrument

    put_libraries()
    own = SearchApi(name="own", hosts=("own.example",), query=("param:q",), results=("hits",))
    pages = httpx.MockTransport(lambda _: httpx.Response(200, json={"data": {"markdown": "snow"}}))

    def work() -> list[Any]:
        uninstrument()
        instrument(
            "faulty",
            endpoint=sink,
            entrypoint=ENTRYPOINT,
            redact=["never", str.strip],
            search_apis=[own],
        )
        instrument("faulty", endpoint=sink, environment="other")
        seen: list[Any] = [answer("q"), _served(), list(Pregel().stream("q"))]
        seen += [Pregel().invoke("q"), DDGS().text("fair")]
        try:
            DDGS().text("nothing")
        except LookupError as error:
            seen.append(repr(error))
        asyncio.run(_frameworks(seen))
        with httpx.Client(transport=pages) as client:
            for url in ("https://r.jina.ai/https://a.example/", "https://own.example/?q=fair"):
                seen.append(client.get(url).json())
            asked = {"url": "https://a.example/"}
            seen.append(client.post("https://api.firecrawl.dev/v2/scrape", json=asked).json())
        flush(1)
        return seen

    return work
