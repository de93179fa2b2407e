"""A Django project in one file: `agent:application`."""

import requests
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

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


def ask(request: HttpRequest) -> HttpResponse:
    return HttpResponse(answer(request.GET["question"]))


settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="not-a-key")
urlpatterns = [path("ask", ask)]
application = get_wsgi_application()
