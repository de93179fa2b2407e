"""The news search of duckduckgo-search, as ddgs was called: no Python library sends its calls."""

import json
import os
import warnings

import requests
from duckduckgo_search import DDGS

from seekwatch.sdk import instrument

instrument("my-agent")
MODEL = "https://api.openai.com/v1/chat/completions"


def answer(question: str) -> str:
    with warnings.catch_warnings():
        # That it has another name now.
        warnings.simplefilter("ignore")
        web = DDGS(proxy=os.environ["HTTPS_PROXY"], verify=False)
    found = web.news(question, max_results=5)
    told = "Answer from these results, with links: " + json.dumps(found)
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    asked = {"model": "gpt-4o-mini", "messages": messages}
    key = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    reply = requests.post(MODEL, json=asked, headers=key).json()
    text: str = reply["choices"][0]["message"]["content"]
    return text
