"""An agent's work: every kind of call that the SDK has a hand in, the same every time.

It imports the SDK as agents do, at its top: `faults` imports it when the SDK's checks are in place.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import aiohttp
import httpx
import requests
import urllib3

from seekwatch.sdk import agent_run, current_run, llm, retriever, tool

CHAT: Final = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
NOBODY: Final = "http://127.0.0.1:9/"


@retriever
def search(query: str) -> list[dict[str, str]]:
    return [{"url": "https://a.example/", "title": query}]


@tool(name="used")
def use(argument: str) -> str:
    return argument


@tool
def fail(argument: str) -> str:
    raise LookupError(argument)


@tool
def steps(count: int) -> Iterator[int]:
    yield from range(count)


@tool
async def ticks(count: int) -> AsyncIterator[int]:
    for number in range(count):
        await asyncio.sleep(0)
        yield number


@llm
async def think(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt


def agent_of(web: str) -> Callable[[], list[Any]]:
    """Return an agent's work, on pages of a local web."""

    def work() -> list[Any]:
        seen: list[Any] = []
        try:
            with agent_run("q") as run:
                by_httpx(web, seen)
                by_requests(web, seen)
                by_urllib3_and_a_pool(web, seen)
                seen.extend([search("s"), use("u"), list(steps(3)), next(iter(steps(3)))])
                run.stop("budget")
                fail("x")
        except LookupError as error:
            seen.append(repr(error))
        asyncio.run(asynchronous(web, seen))
        # Without a root of its own.
        seen.append(use("alone"))
        seen.append(httpx.get(f"{web}/page").status_code)
        return seen

    return work


def by_httpx(web: str, seen: list[Any]) -> None:
    with httpx.Client(base_url=web, follow_redirects=True) as client:
        seen.append(client.get("/redirect").text)
        seen.append(client.get("/search/none", params={"q": "x", "format": "json"}).json())
        with client.stream("GET", "/stream") as response:
            seen.append(len(response.read()))
        with client.stream("GET", "/stream") as response:
            seen.append(next(response.iter_bytes(64)))
        seen.append(client.post("/v1/chat/completions", json=CHAT).json())
        try:
            client.get(NOBODY)
        except httpx.HTTPError as error:
            seen.append(repr(error))


def by_requests(web: str, seen: list[Any]) -> None:
    with requests.Session() as session:
        seen.append(session.get(f"{web}/redirect").text)
        seen.append(sum(map(len, session.get(f"{web}/stream", stream=True).iter_content(99))))
        seen.append(session.post(f"{web}/v1/chat/completions", json=CHAT).json())
        try:
            session.get(NOBODY)
        except requests.RequestException as error:
            seen.append(type(error).__name__)


def by_urllib3_and_a_pool(web: str, seen: list[Any]) -> None:
    with urllib3.PoolManager() as pool:
        seen.append(pool.request("GET", f"{web}/page").data)
    with ThreadPoolExecutor(2) as executor:
        seen.append(sorted(executor.map(use, ["b", "a"])))


async def asynchronous(web: str, seen: list[Any]) -> None:
    async with agent_run("q", name="n") as run:
        run.limits(deadline=1)
        run.context(lane="canary", principal="p")
        current_run()
        await by_asynchronous_clients(web, seen)
        await by_asynchronous_functions(seen)
        run.answer("a", ["https://a.example/"])


async def by_asynchronous_clients(web: str, seen: list[Any]) -> None:
    async with httpx.AsyncClient(base_url=web) as client:
        seen.append((await client.get("/page")).text)
        async with client.stream("GET", "/page") as answer:
            seen.append((await answer.aread()).decode())
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{web}/redirect") as response:
            seen.append(await response.text())
        async with session.post(f"{web}/v1/chat/completions", json=CHAT) as response:
            seen.append(await response.json())
        async with session.get(f"{web}/stream") as response:
            seen.append(len(await response.content.read(10)))


async def by_asynchronous_functions(seen: list[Any]) -> None:
    seen.append(await think("t"))
    seen.append([number async for number in ticks(3)])
    async for number in ticks(3):
        seen.append(number)
        break
    seen.append(await asyncio.to_thread(use, "thread"))
    seen.append(await asyncio.gather(think("x"), think("y")))
