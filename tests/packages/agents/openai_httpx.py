"""The last OpenAI SDK on httpx, asynchronous and streaming, with Brave's search API by httpx."""

import json
import os
from typing import Any

import httpx
from openai import AsyncOpenAI

from seekwatch.sdk import instrument

instrument("my-agent")
BRAVE = "https://api.search.brave.com/res/v1/web/search"
SEARCH: Any = {
    "type": "function",
    "function": {
        "name": "web_search",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
    },
}


async def search(q: str) -> str:
    key = {"X-Subscription-Token": os.environ["BRAVE_API_KEY"]}
    async with httpx.AsyncClient() as client:
        found = await client.get(BRAVE, params={"q": q, "count": 5}, headers=key)
    return found.text


async def answer(question: str) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    async with AsyncOpenAI() as model:
        while True:
            text, call = "", {"id": "", "name": "", "arguments": ""}
            async for chunk in await model.chat.completions.create(
                model="gpt-4o-mini",
                messages=messages,
                tools=[SEARCH],
                stream=True,
                stream_options={"include_usage": True},
            ):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for part in choice.delta.tool_calls or ():
                        assert part.function is not None
                        call["id"] += part.id or ""
                        call["name"] += part.function.name or ""
                        call["arguments"] += part.function.arguments or ""
            if not call["id"]:
                return text
            function = {"name": call["name"], "arguments": call["arguments"]}
            asked = {"id": call["id"], "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
            result = await search(**json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
