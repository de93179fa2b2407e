"""LiteLLM as the client of a model, with a search tool of one's own."""

import json
from typing import Any

import httpx
import litellm

from seekwatch.sdk import instrument

instrument("my-agent")
SEARCH: Any = {
    "type": "function",
    "function": {
        "name": "web_search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}


def web_search(query: str) -> str:
    asked = {"q": query, "format": "json"}
    return httpx.get("https://searx.example/search", params=asked).text


def answer(question: str) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        reply = litellm.completion(model="openai/gpt-4o-mini", messages=messages, tools=[SEARCH])
        said = reply.choices[0].message
        messages.append(said.model_dump())
        if not said.tool_calls:
            return str(said.content)
        for call in said.tool_calls:
            found = web_search(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": found})
