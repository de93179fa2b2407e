"""Exa's client and the OpenAI SDK, both synchronous."""

import os

from exa_py import Exa
from openai import OpenAI

from seekwatch.sdk import instrument

instrument("my-agent")
web, model = Exa(os.environ["EXA_API_KEY"]), OpenAI()


def answer(question: str) -> str:
    found = web.search(question, num_results=5, contents={"text": True})
    told = "Answer from these results, with links:\n"
    told += "\n".join(f"{result.url}: {result.text}" for result in found.results)
    reply = model.responses.create(model="gpt-4o-mini", instructions=told, input=question)
    return reply.output_text
