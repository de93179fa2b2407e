"""Tasks of Celery: `agent:app`. The broker and the results are folders."""

from pathlib import Path

import requests
from celery import Celery

from seekwatch.sdk import instrument

instrument("my-agent")
FOLDER = Path(__file__).parent / "queue"
RESULTS = Path(__file__).parent / "results"
for each in (FOLDER, RESULTS):
    each.mkdir(exist_ok=True)
app = Celery("agent", broker="filesystem://", backend=RESULTS.as_uri())
app.conf.broker_transport_options = {
    "data_folder_in": FOLDER,
    "data_folder_out": FOLDER,
    "control_folder": FOLDER,
}

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


@app.task(name="ask")
def ask(question: str) -> str:
    return answer(question)
