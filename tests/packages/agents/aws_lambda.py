"""A function of AWS Lambda: `agent.handler`."""

from typing import Any

import requests

from seekwatch.sdk import flush, instrument

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


def handler(event: dict[str, Any], _: object) -> str:
    try:
        return answer(event["question"])
    finally:
        # What is not sent before it returns is frozen with the function.
        flush()
