"""An instrumented agent as a process: it asks the demo's questions under a name of its own."""

import argparse
import asyncio
import itertools
from datetime import UTC, datetime

import httpx

from demo.agent import Agent, Model
from demo.topics import TOPICS
from demo.web import MODEL_HOST, MODEL_NAME, SEARCH_HOST
from seekwatch.sdk import SearchApi, instrument

SEARCH = SearchApi(
    name="local-search",
    hosts=(SEARCH_HOST,),
    paths=("/search",),
    query=("param:q",),
    results=("results",),
)


async def ask(proxy: str, rate: float) -> None:
    """Ask `rate` questions a second until the process is ended."""
    year = datetime.now(UTC).year
    questions = itertools.cycle([topic.question.format(year=year) for topic in TOPICS])
    model = Model(f"http://{MODEL_HOST}/v1", MODEL_NAME, None)
    async with httpx.AsyncClient(proxy=proxy, timeout=10) as client, asyncio.TaskGroup() as runs:
        agent = Agent(client, client, model)
        while True:
            runs.create_task(agent.answer(next(questions)))
            await asyncio.sleep(1 / rate)


def main() -> None:
    """Instrument with the one call, and ask."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--proxy", required=True)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--rate", type=float, default=3.0)
    arguments = parser.parse_args()
    instrument(
        arguments.name,
        endpoint=arguments.endpoint,
        environment="production",
        release="1.0.0",
        search_apis=[SEARCH],
        entrypoint="demo.agent:Agent.answer",
    )
    asyncio.run(ask(arguments.proxy, arguments.rate))


if __name__ == "__main__":
    main()
