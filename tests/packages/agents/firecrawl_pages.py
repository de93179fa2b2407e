"""Firecrawl's client: a search for news, then each page that it found; and the OpenAI SDK."""

import os

from firecrawl import Firecrawl
from openai import OpenAI

from seekwatch.sdk import instrument

instrument("my-agent")
web, model = Firecrawl(os.environ["FIRECRAWL_API_KEY"]), OpenAI()


def answer(question: str) -> str:
    found = web.search(question, sources=["news"], limit=5)
    told = "Answer from these pages, with links:\n"
    for result in found.news:
        page = web.scrape(result.url, formats=["rawHtml"])
        told += f"{result.url}: {page.raw_html}\n"
    reply = model.responses.create(model="gpt-4o-mini", instructions=told, input=question)
    return reply.output_text
