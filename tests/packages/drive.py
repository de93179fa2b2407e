"""Runs an agent of `docs/frameworks.md` inside its own environment: five questions, two at once.

Not a part of the tests' process: it imports the standard library, our SDK and the agent alone.
"""

import argparse
import asyncio
import functools
import importlib
import importlib.util
import inspect
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from seekwatch.sdk import agent_run

AT_ONCE = 2


def marked(answer: Any) -> Any:
    """Mark each run, as an agent does that says itself where its runs begin and end."""
    if inspect.iscoroutinefunction(answer):

        async def ask_soon(question: str) -> str:
            async with agent_run(question) as run:
                text = str(await answer(question))
                run.answer(text)
            return text

        return ask_soon

    def ask(question: str) -> str:
        with agent_run(question) as run:
            text = str(answer(question))
            run.answer(text)
        return text

    return ask


def ask_all(answer: Any, questions: list[str]) -> list[str]:
    """Ask every question, two at a time: in tasks, or in the items of an executor."""
    if inspect.iscoroutinefunction(answer):
        return asyncio.run(_ask_in_tasks(answer, questions))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(answer, questions))


async def _ask_in_tasks(answer: Any, questions: list[str]) -> list[str]:
    turn = asyncio.Semaphore(AT_ONCE)

    async def ask(question: str) -> str:
        async with turn:
            return str(await answer(question))

    # `gather` gives each run a task of its own, as a server does.
    return await asyncio.gather(*map(ask, questions))


def use_local_chromium() -> None:
    """Have Playwright start the Chromium of this machine, by the same proxy as everybody else."""
    if importlib.util.find_spec("playwright") is None:
        return
    kinds = [
        importlib.import_module(f"playwright.{kind}_api").BrowserType for kind in ("sync", "async")
    ]
    for kind in kinds:
        kind.launch = functools.partialmethod(
            kind.launch,
            executable_path=os.environ["CHROMIUM"],
            proxy={"server": os.environ["HTTPS_PROXY"]},
            # The authority of the proxy's certificates is not in the browser's own list.
            args=["--no-sandbox", "--ignore-certificate-errors"],
        )


def main() -> None:
    """Import the agent, ask, and print the answers as one line of JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--agent", type=Path, required=True, help="folder of agent.py")
    parser.add_argument("--marked", action="store_true", help="mark the runs by agent_run")
    parser.add_argument("--instrumentor", help="module:Class to turn on as well")
    parser.add_argument("questions", nargs="+")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.agent))
    use_local_chromium()
    agent = importlib.import_module("agent")
    if arguments.instrumentor:
        module, _, name = arguments.instrumentor.partition(":")
        getattr(importlib.import_module(module), name)().instrument()
    answer = marked(agent.answer) if arguments.marked else agent.answer
    print(json.dumps(ask_all(answer, arguments.questions)))


if __name__ == "__main__":
    main()
