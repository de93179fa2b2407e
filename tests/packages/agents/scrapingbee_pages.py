"""ScrapingBee's client: a search by Google, then each page that it found; and the OpenAI SDK."""

import os

from openai import OpenAI
from scrapingbee import ScrapingBeeClient

from seekwatch.sdk import instrument

instrument("my-agent")
web, model = ScrapingBeeClient(os.environ["SCRAPINGBEE_API_KEY"]), OpenAI()


def answer(question: str) -> str:
    told = "Answer from these pages, with links:\n"
    for result in web.google_search(question).json()["organic_results"]:
        page = web.html_api(result["url"], params={"render_js": False})
        told += f"{result['url']}: {page.text}\n"
    reply = model.responses.create(model="gpt-4o-mini", instructions=told, input=question)
    return reply.output_text
