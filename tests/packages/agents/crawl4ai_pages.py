"""Crawl4AI in the agent's own process: its browser loads the pages that a search found."""

import os

import httpx
from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig
from openai import AsyncOpenAI

from seekwatch.sdk import instrument

instrument("my-agent")
model = AsyncOpenAI()
once = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, verbose=False)
browser = BrowserConfig(
    verbose=False,
    proxy_config={"server": os.environ["HTTPS_PROXY"]},
    extra_args=["--ignore-certificate-errors"],
)


async def answer(question: str) -> str:
    asked = {"q": question, "format": "json"}
    async with httpx.AsyncClient() as web:
        found = (await web.get("https://searx.example/search", params=asked)).json()["results"]
    told = "Answer from these pages, with links:\n"
    async with AsyncWebCrawler(config=browser) as crawler:
        for result in found:
            page = await crawler.arun(result["url"], config=once)
            told += f"{result['url']}: {page.markdown}\n"
    reply = await model.responses.create(model="gpt-4o-mini", instructions=told, input=question)
    return reply.output_text
