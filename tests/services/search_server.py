"""Search APIs, each in its own wire format, and the pages they find: by themselves or by scrapers.

One small library behind all of them, on loopback, so that every result of a search can be fetched
and every citation resolves.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tests.services.library import document_at, topic_searched
from tests.services.loopback import LoopbackServer
from tests.services.search_wires import WRITERS

Parameters = Mapping[str, Any]

APIS: Final = {
    "api.tavily.com": ("tavily", "/search"),
    "api.search.brave.com": ("brave", "/res/v1/web/search"),
    "google.serper.dev": ("serper", "/search"),
    "searx.example": ("searxng", "/search"),
    "api.exa.ai": ("exa", "/search"),
    "serpapi.com": ("serpapi", "/search"),
    "api.firecrawl.dev": ("firecrawl", "/v2/search"),
    "app.scrapingbee.com": ("scrapingbee", "/api/v1/store/google"),
    "duckduckgo.com": ("duckduckgo", "/news.js"),
}
"""Name and path of each API, by its host."""
_QUERIES: Final = ("query", "q", "search")
_HTML: Final = "text/html; charset=utf-8"


@dataclass(frozen=True)
class _Said:
    """What the server answers."""

    text: str
    content_type: str = _HTML
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def _json(value: object) -> _Said:
    return _Said(json.dumps(value), "application/json")


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

    def _answer(self, host: str, path: str, parameters: Parameters) -> _Said:
        found = self._search(host, path, parameters)
        if found is not None:
            return _json(found)
        if (host, path) == ("duckduckgo.com", "/"):
            # The page on which its clients find the token that the search wants.
            return _Said('<script>vqd="4-123456789012345678901234567890123456789";</script>')
        scraped = self._scraped(host, path, str(parameters.get("url") or ""))
        if scraped is not None:
            return scraped
        html = self._page(f"https://{host}{path}")
        return _Said("<p>There is no such page.</p>", status=404) if html is None else _Said(html)

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
        query = next((str(parameters[name]) for name in _QUERIES if parameters.get(name)), "")
        self.queries.append((api, query))
        topic = topic_searched(query)
        return WRITERS[api](query, () if topic is None else topic.documents)

    def _scraped(self, host: str, path: str, url: str) -> _Said | None:
        """Return the page that a scraper is asked for; None where none is asked."""
        call = (host, path.rstrip("/"))
        if call == ("app.scrapingbee.com", "/api/v1"):
            html = self._page(url)
            status = 404 if html is None else 200
            told = {"Spb-Initial-Status-Code": str(status), "Spb-Resolved-Url": url}
            return _Said(html or "", status=status, headers=told)
        if call == ("api.firecrawl.dev", "/v2/scrape"):
            html = self._page(url)
            metadata = {"sourceURL": url, "url": url, "statusCode": 404 if html is None else 200}
            data = {"rawHtml": html, "metadata": metadata}
            return _json({"success": True, "data": data})
        return None

    def _page(self, url: str) -> str | None:
        document = document_at(url)
        if document is None:
            return None
        self.fetched.append(url)
        return document.html

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer = self._answer

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
                self._say(answer(self.headers.get("Host", ""), parts.path, parameters))

            do_GET = do_POST = do_HEAD = handle_any  # noqa: N815 - their names

            def _say(self, said: _Said) -> None:
                data = said.text.encode()
                self.send_response(said.status)
                self.send_header("Content-Type", said.content_type)
                self.send_header("Content-Length", str(len(data)))
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        return Handler
