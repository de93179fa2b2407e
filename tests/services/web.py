"""A small local web: pages that behave and misbehave, search APIs and a model in their wire shapes.

Plain sockets by the standard library, so that the clients under test meet a real server.
"""

import functools
import gzip
import json
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.services.loopback import LoopbackServer

PAGE = "<html><head><title>A page</title></head><body><p>Snow fell in the valley.</p></body></html>"
BIG_PAGE_BYTES = 3 * 1024 * 1024


@dataclass(frozen=True)
class Received:
    """One request as the server saw it."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Answer:
    """What the server says."""

    status: int = 200
    body: bytes = b""
    content_type: str | None = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    """Seconds before the status line."""
    cut: int | None = None
    """Close the connection after so many bytes of the body."""
    chunks: int = 1
    pause: float = 0.0
    """Seconds between two chunks."""
    chunked: bool = False
    """Announce no length and send chunks of the protocol's own."""


Page = Callable[[Received], Answer]


class LocalWeb(LoopbackServer):
    """A context manager that serves `pages` on a free port of loopback."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.pages: dict[str, Page] = {**_pages(), **_search_apis(), **_models()}
        super().__init__(self._handler())

    def _answer(self, received: Received) -> Answer:
        self.requests.append(received)
        page = self.pages.get(received.path)
        if page is None:
            return Answer(404, b"<p>There is no such page.</p>")
        return page(received)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer_to = self._answer

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                parts = urlsplit(self.path)
                answer = answer_to(
                    Received(
                        self.command,
                        parts.path,
                        parse_qs(parts.query, keep_blank_values=True),
                        {name.lower(): value for name, value in self.headers.items()},
                        self.rfile.read(length),
                    )
                )
                time.sleep(answer.delay)
                self._say(answer)

            do_GET = do_POST = do_HEAD = do_DELETE = do_PUT = handle_any  # noqa: N815 - their names

            def _say(self, answer: Answer) -> None:
                self.send_response(answer.status)
                if answer.content_type is not None:
                    self.send_header("Content-Type", answer.content_type)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header(*_framing(answer))
                self.end_headers()
                if self.command == "HEAD" or answer.status == 304:
                    return
                try:
                    self._say_body(answer)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _say_body(self, answer: Answer) -> None:
                if answer.cut is not None:
                    self.wfile.write(_framed(answer, answer.body[: answer.cut]))
                    self.close_connection = True
                    return
                step = max(1, -(-len(answer.body) // answer.chunks))
                for start in range(0, len(answer.body), step):
                    self.wfile.write(_framed(answer, answer.body[start : start + step]))
                    time.sleep(answer.pause)
                self.wfile.write(_framed(answer, b""))

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
                """Say nothing: what came is in the list."""

        return Handler


def _framing(answer: Answer) -> tuple[str, str]:
    if answer.chunked:
        return "Transfer-Encoding", "chunked"
    return "Content-Length", str(len(answer.body))


def _framed(answer: Answer, part: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(part), part) if answer.chunked else part


def _json_answer(value: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), "application/json")


def _constant(answer: Answer) -> Page:
    return lambda _: answer


def _redirect(location: str, status: int = 302) -> Page:
    return _constant(Answer(status, b"moved", headers={"Location": location}))


_VALIDATORS = {
    "ETag": '"v1"',
    "Last-Modified": "Sun, 01 Nov 2026 08:00:00 GMT",
    "Cache-Control": "max-age=60",
    "Vary": "Accept-Language",
    "Expires": "Sun, 01 Nov 2026 09:00:00 GMT",
    "Age": "12",
}


def _validated(received: Received) -> Answer:
    if received.headers.get("if-none-match") == '"v1"':
        return Answer(304, b"", headers=dict(_VALIDATORS))
    return Answer(200, PAGE.encode(), headers=dict(_VALIDATORS))


class _FlakyPage:
    """Answers 503 with Retry-After every first time a request comes for a key."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, received: Received) -> Answer:
        key = str(received.query)
        if key in self._seen:
            return Answer(200, PAGE.encode())
        self._seen.add(key)
        return Answer(503, b"<p>Later.</p>", headers={"Retry-After": "1"})


def _pages() -> dict[str, Page]:
    big = (PAGE * (BIG_PAGE_BYTES // len(PAGE) + 1)).encode()[:BIG_PAGE_BYTES]
    inflate = zlib.compressobj(wbits=-15)
    return {
        "/page": _constant(Answer(200, PAGE.encode())),
        "/latin": _constant(Answer(200, "Zürich".encode("latin-1"), "text/html; charset=latin-1")),
        "/redirect": _redirect("/hop"),
        "/hop": _redirect("/page", 301),
        "/loop": _redirect("/loop"),
        "/validated": _validated,
        "/flaky": _FlakyPage(),
        "/gone": _constant(Answer(410, b"<p>Gone.</p>")),
        "/slow": _constant(Answer(200, PAGE.encode(), delay=0.5)),
        # Later than anybody waits, even where the machine stands still meanwhile.
        "/stuck": _constant(Answer(200, PAGE.encode(), delay=60)),
        "/stream": _constant(Answer(200, PAGE.encode() * 100, chunks=20, pause=0.005)),
        "/broken": _constant(Answer(200, PAGE.encode(), cut=10)),
        "/chunked": _constant(Answer(200, PAGE.encode() * 100, chunks=20, chunked=True)),
        "/chunked-gzip": _constant(
            Answer(
                200,
                gzip.compress(PAGE.encode() * 100),
                headers={"Content-Encoding": "gzip"},
                chunks=3,
                chunked=True,
            )
        ),
        "/chunked-broken": _constant(Answer(200, PAGE.encode() * 9, cut=100, chunked=True)),
        "/big": _constant(Answer(200, big)),
        "/empty": _constant(Answer(200, b"")),
        "/image": _constant(Answer(200, b"\x89PNG\r\n\x1a\n\0\0", "image/png")),
        "/gzip": _constant(
            Answer(200, gzip.compress(PAGE.encode()), headers={"Content-Encoding": "gzip"})
        ),
        "/deflate": _constant(
            Answer(
                200,
                inflate.compress(PAGE.encode()) + inflate.flush(),
                headers={"Content-Encoding": "deflate"},
            )
        ),
        "/bomb": lambda _: _bomb(),
    }


@functools.cache
def _bomb() -> Answer:
    """Made when it is first asked for: compressing it takes longer than most tests."""
    return Answer(200, gzip.compress(b"a" * 50_000_000), headers={"Content-Encoding": "gzip"})


def _result(number: int, **fields: object) -> dict[str, object]:
    return {"url": f"https://site{number}.example/article", "title": f"Result {number}", **fields}


def _search_apis() -> dict[str, Page]:
    """Each under the path of its API, in the shape of its documented answer."""
    two = (1, 2)
    tavily = [
        _result(
            n, content=f"text {n}", score=1 - n / 10, published_date="2026-11-20", raw_content=None
        )
        for n in two
    ]
    brave = [
        _result(n, description=f"text {n}", age="November 20, 2026", page_age="2026-11-20T09:00:00")
        for n in two
    ]
    exa = [
        _result(
            n, id="x", publishedDate="2026-11-20T09:00:00.000Z", author=None, score=0.5, text="t"
        )
        for n in two
    ]
    serp = [
        {"position": n, "title": f"Result {n}", "link": f"https://site{n}.example/article",
         "snippet": f"text {n}", "date": "10 days ago"}
        for n in two
    ]  # fmt: skip
    bing = [
        {"id": "x", "name": f"Result {n}", "url": f"https://site{n}.example/article",
         "snippet": f"text {n}", "datePublished": "2026-11-20T09:00:00.0000000Z"}
        for n in two
    ]  # fmt: skip
    google = [
        {"kind": "customsearch#result", "title": f"Result {n}",
         "link": f"https://site{n}.example/article", "snippet": f"text {n}",
         "pagemap": {"metatags": [{"article:published_time": "2026-11-20T09:00:00+00:00"}]}}
        for n in two
    ]  # fmt: skip
    searxng = [
        _result(
            n,
            content=f"text {n}",
            engine="duckduckgo",
            score=2.0,
            publishedDate="2026-11-20T09:00:00",
        )
        for n in two
    ]
    jina = [
        _result(n, description=f"text {n}", content="long", date="2026-11-20", usage={"tokens": 1})
        for n in two
    ]
    answers: dict[str, dict[str, Any]] = {
        "/tavily/search": {"query": "q", "results": tavily, "response_time": 1.0},
        "/brave/res/v1/web/search": {"type": "search", "web": {"type": "search", "results": brave}},
        "/exa/search": {"requestId": "r", "results": exa},
        "/serpapi/search.json": {"search_metadata": {"id": "x"}, "organic_results": serp},
        "/serper/search": {"searchParameters": {"q": "q"}, "organic": serp},
        "/bing/v7.0/search": {"_type": "SearchResponse", "webPages": {"value": bing}},
        "/google/customsearch/v1": {"kind": "customsearch#search", "items": google},
        "/perplexity/search": {
            "id": "x",
            "results": [
                _result(n, snippet=f"text {n}", date="2026-11-20", last_updated=None) for n in two
            ],
        },
        "/searxng/search": {"query": "q", "number_of_results": 2, "results": searxng},
        "/you/v1/search": {
            "results": {
                "web": [
                    _result(n, description="d", snippets=["s"], page_age="2026-11-20T09:00:00")
                    for n in two
                ]
            },
            "metadata": {"query": "q"},
        },
        "/jina/": {"code": 200, "status": 20000, "data": jina},
        "/search/none": {"results": []},
        "/search/absent": {"query": "q"},
        "/search/odd": {"results": {"not": "a list"}, "error": "odd"},
    }
    pages: dict[str, Page] = {path: _constant(_json_answer(body)) for path, body in answers.items()}
    pages["/search/html"] = _constant(Answer(200, PAGE.encode()))
    pages["/search/failing"] = _constant(_json_answer({"error": "quota"}, 429))
    return pages


def _chat(received: Received) -> Answer:
    asked = json.loads(received.body)
    return _json_answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": f"{asked['model']}-2026",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "It snowed."},
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 21,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
        }
    )


def _responses(received: Received) -> Answer:
    asked = json.loads(received.body)
    text = {"type": "output_text", "text": "It snowed.", "annotations": []}
    return _json_answer(
        {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "model": asked["model"],
            "output": [
                {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{}"},
                {"type": "message", "role": "assistant", "content": [text]},
            ],
            "usage": {"input_tokens": 11, "output_tokens": 3},
        }
    )


def _models() -> dict[str, Page]:
    return {
        "/v1/chat/completions": _chat,
        "/v1/responses": _responses,
        "/nousage/chat/completions": _constant(_json_answer({"id": "x", "choices": []})),
        "/failing/chat/completions": _constant(_json_answer({"error": {"message": "no"}}, 500)),
        "/v1/embeddings": _constant(_json_answer({"data": []})),
    }
