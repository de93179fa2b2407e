"""Exa's client for the search and the OpenAI SDK, both asynchronous."""

import os

from exa_py import AsyncExa
from openai import AsyncOpenAI

from seekwatch.sdk import instrument

instrument("my-agent")
web, model = AsyncExa(os.environ["EXA_API_KEY"]), AsyncOpenAI()


async def answer(question: str) -> str:
    found = await web.search(question, num_results=5, contents={"text": True})
    told = "Answer from these results, with links:\n"
    told += "\n".join(f"{result.url}: {result.text}" for result in found.results)
    reply = await model.responses.create(model="gpt-4o-mini", instructions=told, input=question)
    return reply.output_text
