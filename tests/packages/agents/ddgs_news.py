"""The news search of ddgs, whose requests no Python library sends."""

import json
import os

import requests
from ddgs import DDGS

from seekwatch.sdk import instrument

instrument("my-agent")
MODEL = "https://api.openai.com/v1/chat/completions"


def answer(question: str) -> str:
    with DDGS(proxy=os.environ["HTTPS_PROXY"], verify=False) as web:
        found = web.news(question, max_results=5, backend="duckduckgo")
    told = "Answer from these results, with links: " + json.dumps(found)
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    asked = {"model": "gpt-4o-mini", "messages": messages}
    key = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    reply = requests.post(MODEL, json=asked, headers=key).json()
    text: str = reply["choices"][0]["message"]["content"]
    return text
