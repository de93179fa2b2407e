"""Search APIs in the wire formats of Tavily, Brave, Serper and SearXNG, and the pages they find.

One small library behind all of them, on loopback, so that every result of a search can be fetched
and every citation resolves.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from http.server import BaseHTTPRequestHandler
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tests.services.library import Document, document_at, topic_searched
from tests.services.loopback import LoopbackServer

Parameters = Mapping[str, Any]
Found = Sequence[Document]
"""Best first."""

APIS: Final = {
    "api.tavily.com": ("tavily", "/search"),
    "api.search.brave.com": ("brave", "/res/v1/web/search"),
    "google.serper.dev": ("serper", "/search"),
    "searx.example": ("searxng", "/search"),
}
"""Name and path of each API, by its host."""


class SearchServer(LoopbackServer):
    """A context manager that serves the search APIs and the pages."""

    def __init__(self) -> None:
        self.queries: list[tuple[str, str]] = []
        """API and query of every search, in order."""
        self.fetched: list[str] = []
        """URLs of the pages that were fetched, in order."""
        super().__init__(self._handler())

    def base(self, api: str) -> str:
        """Return the address of an API for clients that come here without a proxy."""
        return f"{self.url}/{api}"

    def _search(self, host: str, path: str, parameters: Parameters) -> Any:
        """Return the answer of the API that a call goes to, None when it goes to none."""
        api = next(
            (
                name
                for of_host, (name, of_path) in APIS.items()
                if path == f"/{name}{of_path}" or (host, path) == (of_host, of_path)
            ),
            None,
        )
        if api is None:
            return None
        query = str(parameters.get("query") or parameters.get("q") or "")
        self.queries.append((api, query))
        topic = topic_searched(query)
        return _WRITERS[api](query, () if topic is None else topic.documents)

    def _page(self, url: str) -> str | None:
        document = document_at(url)
        if document is None:
            return None
        self.fetched.append(url)
        return document.html

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        search, page = self._search, self._page

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                parts = urlsplit(self.path)
                parameters: dict[str, Any] = dict(parse_qsl(parts.query))
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if body and "json" in self.headers.get("Content-Type", ""):
                    parameters |= json.loads(body)
                elif body:
                    parameters |= dict(parse_qsl(body.decode()))
                host = self.headers.get("Host", "")
                answer = search(host, parts.path, parameters)
                html = page(f"https://{host}{parts.path}")
                if answer is not None:
                    self._say(200, json.dumps(answer), "application/json")
                elif html is not None:
                    self._say(200, html, "text/html; charset=utf-8")
                else:
                    self._say(404, "<p>There is no such page.</p>", "text/html; charset=utf-8")

            do_GET = do_POST = do_HEAD = handle_any  # noqa: N815 - their names

            def _say(self, status: int, text: str, content_type: str) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        return Handler


def _tavily(query: str, found: Found) -> dict[str, Any]:
    return {
        "query": query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [
            {
                "url": document.url,
                "title": document.title,
                "content": document.sentence,
                "score": 0.9 - place / 10,
                "raw_content": None,
                "published_date": document.published,
            }
            for place, document in enumerate(found)
        ],
        "response_time": 0.02,
        "request_id": "req-local",
    }


def _brave(query: str, found: Found) -> dict[str, Any]:
    results = [
        {
            "type": "search_result",
            "subtype": "generic",
            "title": document.title,
            "url": document.url,
            "description": document.sentence,
            "age": _long_date(document.published),
            "page_age": f"{document.published}T08:00:00",
            "language": "en",
            "family_friendly": True,
            "is_live": False,
            "meta_url": {
                "scheme": "https",
                "netloc": urlsplit(document.url).netloc,
                "path": "› pages",
            },
        }
        for document in found
    ]
    return {
        "type": "search",
        "query": {"original": query, "country": "us", "more_results_available": False},
        "mixed": {"type": "mixed", "main": [], "top": [], "side": []},
        "web": {"type": "search", "results": results, "family_friendly": True},
    }


def _serper(query: str, found: Found) -> dict[str, Any]:
    return {
        "searchParameters": {"q": query, "type": "search", "engine": "google"},
        "organic": [
            {
                "title": document.title,
                "link": document.url,
                "snippet": document.sentence,
                "date": _short_date(document.published),
                "position": place,
            }
            for place, document in enumerate(found, 1)
        ],
        "credits": 1,
    }


def _searxng(query: str, found: Found) -> dict[str, Any]:
    return {
        "query": query,
        "number_of_results": 0,
        "results": [
            {
                "url": document.url,
                "title": document.title,
                "content": document.sentence,
                "publishedDate": f"{document.published}T08:00:00",
                "thumbnail": None,
                "engine": "duckduckgo",
                "template": "default.html",
                "parsed_url": [*urlsplit(document.url), ""],
                "img_src": "",
                "priority": "",
                "engines": ["duckduckgo"],
                "positions": [place],
                "score": 1.0 / place,
                "category": "general",
            }
            for place, document in enumerate(found, 1)
        ],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


_WRITERS: Final[Mapping[str, Callable[[str, Found], dict[str, Any]]]] = {
    "tavily": _tavily,
    "brave": _brave,
    "serper": _serper,
    "searxng": _searxng,
}


def _site(document: Document) -> str:
    return urlsplit(document.url).netloc


def _long_date(published: str) -> str:
    day = date.fromisoformat(published)
    return f"{day:%B} {day.day}, {day.year}"


def _short_date(published: str) -> str:
    day = date.fromisoformat(published)
    return f"{day:%b} {day.day}, {day.year}"
