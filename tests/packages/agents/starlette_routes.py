"""A Starlette application that streams what the model says while it says it."""

import json
from collections.abc import AsyncIterator

import httpx

from seekwatch.sdk import instrument

instrument("my-agent")

# An instrumentor of Starlette puts another class in the place of this one.
from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import StreamingResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

MODEL = "https://api.openai.com/v1/chat/completions"
KEYS = {"Authorization": "Bearer your-key"}
web = httpx.AsyncClient()


async def answer(question: str) -> AsyncIterator[str]:
    found = await web.get("https://searx.example/search", params={"q": question, "format": "json"})
    told = "Answer from these results, with links: " + found.text
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    asked = {"model": "gpt-4o-mini", "messages": messages, "stream": True}
    asked["stream_options"] = {"include_usage": True}
    async with web.stream("POST", MODEL, json=asked, headers=KEYS) as reply:
        async for line in reply.aiter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line.removeprefix("data: "))["choices"]:
                    yield choice["delta"].get("content") or ""


async def ask(request: Request) -> StreamingResponse:
    return StreamingResponse(answer(request.query_params["question"]), media_type="text/plain")


app = Starlette(routes=[Route("/ask", ask)])
