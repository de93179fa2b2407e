"""The demo's agent: rewrites the question, searches, reads pages, asks a model, cites what it used.

It is an ordinary httpx agent and knows nothing of Seekwatch: `demo/traffic.py` instruments it from
outside with one call.
"""

import asyncio
import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any, cast

import httpx

from demo.web import MODEL_HOST, MODEL_NAME, SEARCH_HOST

_PAGES_READ = 3


@dataclass(frozen=True, slots=True)
class Model:
    """Where the model is and what it is called."""

    url: str
    name: str
    key: str | None

    @classmethod
    def from_environment(cls) -> "Model":
        """The user's own model where a key is set, else the one of the local web."""
        key = os.environ.get("OPENAI_API_KEY")
        if key is None:
            return cls(f"http://{MODEL_HOST}/v1", MODEL_NAME, None)
        base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
        return cls(base.rstrip("/"), os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), key)


class Agent:
    """Answers questions from the web.

    Args:
        web: client for searches and pages.
        models: client for the model.
        forget_year_after: seconds since the epoch from which the rewriter drops the year.
    """

    def __init__(
        self,
        web: httpx.AsyncClient,
        models: httpx.AsyncClient,
        model: Model,
        *,
        forget_year_after: float = float("inf"),
    ) -> None:
        self._web = web
        self._models = models
        self._model = model
        self._forget_year_after = forget_year_after

    async def answer(self, question: str) -> str:
        """Answer one question with citations as Markdown links."""
        query = self._rewrite(question)
        response = await self._web.get(f"http://{SEARCH_HOST}/search", params={"q": query})
        results = cast("list[dict[str, Any]]", response.json()["results"])[:_PAGES_READ]
        texts = await asyncio.gather(*(self._read(result) for result in results))
        sources = [
            {"url": result["url"], "title": result["title"], "text": text}
            for result, text in zip(results, texts, strict=True)
        ]
        return await self._ask(question, sources)

    def _rewrite(self, question: str) -> str:
        year = str(datetime.now(UTC).year)
        words = question.rstrip("?").split()
        dropped = {year, "in"} if time.time() >= self._forget_year_after else set[str]()
        skipped = {"how", "what", "which", "is", "the", "did", "does", "of"} | dropped
        return " ".join(word for word in words if word.lower() not in skipped)

    async def _read(self, result: dict[str, Any]) -> str:
        """Read a result's page; what cannot be read is answered from the snippet.

        This is the habit that the demo is about: the page is gone, and it is cited all the same.
        """
        response = await self._web.get(result["url"], follow_redirects=True)
        text = _visible_text(response.text) if response.is_success else ""
        return text if "." in text and len(text) > len(result["content"]) else result["content"]

    async def _ask(self, question: str, sources: list[dict[str, Any]]) -> str:
        material = "\n".join(json.dumps(source) for source in sources)
        headers = {"Authorization": f"Bearer {self._model.key}"} if self._model.key else {}
        response = await self._models.post(
            f"{self._model.url}/chat/completions",
            headers=headers,
            json={
                "model": self._model.name,
                "messages": [
                    {
                        "role": "system",
                        "content": "Answer from the sources only. After each statement cite its "
                        "source as a Markdown link.",
                    },
                    {"role": "user", "content": f"{question}\n\n{material}"},
                ],
            },
        )
        response.raise_for_status()
        return str(response.json()["choices"][0]["message"]["content"])


class _TextOfPage(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipped += tag in {"title", "nav", "h1", "time"}

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in {"title", "nav", "h1", "time"}

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.parts.append(data.strip())


def _visible_text(html: str) -> str:
    parser = _TextOfPage()
    parser.feed(html)
    return " ".join(parser.parts)
