"""A WSGI application without a framework: only the server tells where a request ends."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import requests

from seekwatch.sdk import instrument

instrument("my-agent")
SEARCH = "https://google.serper.dev/search"
MODEL = "https://api.openai.com/v1/chat/completions"
KEYS = {"X-API-KEY": "your-key", "Authorization": "Bearer your-key"}


def answer(question: str) -> str:
    found = requests.post(SEARCH, json={"q": question}, headers=KEYS)
    told = "Answer from these results, with links: " + found.text
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    asked = {"model": "gpt-4o-mini", "messages": messages}
    reply = requests.post(MODEL, json=asked, headers=KEYS).json()
    text: str = reply["choices"][0]["message"]["content"]
    return text


def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    asked = parse_qs(environ["QUERY_STRING"]).get("question")
    start_response("200 OK" if asked else "404 Not Found", [("Content-Type", "text/plain")])
    return [answer(asked[0]).encode()] if asked else []
