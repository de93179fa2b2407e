"""A Bottle application, whose answers are streamed: the model is asked while they are sent."""

from collections.abc import Iterator

import requests
from bottle import Bottle, request

from seekwatch.sdk import instrument

instrument("my-agent")
app = Bottle()

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


@app.get("/ask")
def ask() -> Iterator[str]:
    question = request.query["question"]
    yield "So: "
    yield answer(question)
