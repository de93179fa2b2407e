"""SerpApi's client (google-search-results), and chat completions by requests."""

import json
import os

import requests
from serpapi import GoogleSearch

from seekwatch.sdk import instrument

instrument("my-agent")
MODEL = "https://api.openai.com/v1/chat/completions"


def answer(question: str) -> str:
    found = GoogleSearch({"q": question, "api_key": os.environ["SERPAPI_API_KEY"]}).get_dict()
    told = "Answer from these results, with links: " + json.dumps(found["organic_results"])
    messages = [{"role": "system", "content": told}, {"role": "user", "content": question}]
    asked = {"model": "gpt-4o-mini", "messages": messages}
    key = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    reply = requests.post(MODEL, json=asked, headers=key).json()
    text: str = reply["choices"][0]["message"]["content"]
    return text
