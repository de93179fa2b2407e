"""LiteLLM, asynchronous and streaming, in front of Anthropic's API, which it speaks itself."""

import httpx
import litellm

from seekwatch.sdk import instrument

instrument("my-agent")


async def answer(question: str) -> str:
    asked = {"q": question, "format": "json"}
    async with httpx.AsyncClient() as web:
        found = (await web.get("https://searx.example/search", params=asked)).text
    told = "Answer from these results, with links: " + found
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    text = ""
    async for chunk in await litellm.acompletion(
        model="anthropic/claude-sonnet-4-6",
        messages=messages,
        stream=True,
        stream_options={"include_usage": True},
    ):
        text += "".join(choice.delta.content or "" for choice in chunk.choices)
    return text
