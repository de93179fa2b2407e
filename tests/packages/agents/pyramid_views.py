"""A Pyramid application."""

import requests
from pyramid.config import Configurator
from pyramid.request import Request
from pyramid.response import Response

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


def ask(request: Request) -> Response:
    return Response(answer(request.params["question"]))


with Configurator() as config:
    config.add_route("ask", "/ask")
    config.add_view(ask, route_name="ask")
    app = config.make_wsgi_app()
