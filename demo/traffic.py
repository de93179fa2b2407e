"""Asks the demo's agent one question after the other; the process that is instrumented.

Everything about Seekwatch in this process is the one call of `instrument`.
"""

import argparse
import asyncio
import itertools
import time
from datetime import UTC, datetime

import httpx

from demo.agent import Agent, Model
from demo.topics import TOPICS
from demo.web import SEARCH_HOST
from seekwatch.sdk import SearchApi, instrument

LOCAL_SEARCH = SearchApi(
    name="demo-search",
    hosts=(SEARCH_HOST,),
    paths=("/search",),
    query=("param:q",),
    results=("results",),
)
"""The local web's search engine, described as a user describes one that we do not know."""


async def ask(agent: Agent, rate: float, seconds: float) -> None:
    """Ask `rate` questions a second for `seconds`, each while others are being answered."""
    year = datetime.now(UTC).year
    questions = itertools.cycle([topic.question.format(year=year) for topic in TOPICS])
    deadline = time.monotonic() + seconds
    async with asyncio.TaskGroup() as runs:
        while time.monotonic() < deadline:
            runs.create_task(_answer(agent, next(questions)))
            await asyncio.sleep(1 / rate)


async def _answer(agent: Agent, question: str) -> None:
    try:
        await agent.answer(question)
    except httpx.HTTPError as error:
        print(f"{type(error).__name__}: {error}", flush=True)


async def run(arguments: argparse.Namespace) -> None:
    """Make the agent with its clients and let it work."""
    model = Model.from_environment()
    async with (
        httpx.AsyncClient(proxy=arguments.proxy, timeout=10) as web,
        httpx.AsyncClient(proxy=None if model.key else arguments.proxy, timeout=60) as models,
    ):
        agent = Agent(web, models, model, forget_year_after=arguments.forget_year_after)
        await ask(agent, arguments.rate, arguments.seconds)


def main() -> None:
    """Let the demo's agent answer questions from the local web."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--proxy", required=True, help="URL of the local web")
    parser.add_argument("--endpoint", required=True, help="where OTLP goes: http://host:port")
    parser.add_argument("--rate", type=float, default=4.0, help="questions a second")
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long")
    parser.add_argument(
        "--forget-year-after",
        type=float,
        default=float("inf"),
        help="seconds since the epoch from which the rewriter drops the year",
    )
    arguments = parser.parse_args()

    instrument(
        "demo-agent",
        endpoint=arguments.endpoint,
        environment="production",
        release="1.4.0",
        search_apis=[LOCAL_SEARCH],
        entrypoint="demo.agent:Agent.answer",
    )
    asyncio.run(run(arguments))


if __name__ == "__main__":
    main()
