"""A small web on one loopback port: a search API, pages on many hosts, and an OpenAI-shaped model.

It serves as a forward proxy for plain HTTP, so that an ordinary client sees real host names,
redirects and status codes without any name being resolved. It can be told to decay.
"""

import json
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast
from urllib.parse import parse_qs, urlsplit

from demo.topics import NEWS_HOSTS, TOPICS, Topic

SEARCH_HOST: Final = "search.example"
MODEL_HOST: Final = "model.example"
MODEL_NAME: Final = "demo-reader-1"

_LOGIN_PAGE: Final = """<!doctype html><html lang="en"><head><title>Sign in</title></head><body>
<h1>Sign in to continue</h1><form method="post" action="/login">
<label>E-mail <input name="email" type="email"></label>
<label>Password <input name="password" type="password"></label>
<button>Sign in</button></form></body></html>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """What is wrong with the web at a moment.

    Attributes:
        dead_hosts: hosts whose pages answer 404.
        login_hosts: hosts whose pages answer 200 with a login form.
        moved_hosts: hosts whose pages redirect to another site's front page.
        stale_years: how many years old every page and result is.
    """

    dead_hosts: frozenset[str] = frozenset()
    login_hosts: frozenset[str] = frozenset()
    moved_hosts: frozenset[str] = frozenset()
    stale_years: int = 0


HEALTHY: Final = Decay()


@dataclass(slots=True)
class Answered:
    """One response of the local web."""

    status: int
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class LocalWeb:
    """The web as a whole: what each host answers, at the present state of decay."""

    def __init__(self) -> None:
        self.decay = HEALTHY

    def worsen(self, **changes: Any) -> None:
        """Let something more go wrong."""
        self.decay = replace(self.decay, **changes)

    def answer(self, method: str, url: str, body: bytes) -> Answered:
        """Answer one request for an absolute URL."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        if host == SEARCH_HOST:
            query = parse_qs(parts.query).get("q", [""])[0]
            return _json({"query": query, "results": self._results(query)})
        if host == MODEL_HOST:
            if method != "POST" or not parts.path.endswith("/chat/completions"):
                return _json({"error": {"message": "no such endpoint"}}, status=404)
            return _json(completion(cast("dict[str, Any]", json.loads(body))))
        return self._page(host, parts.path)

    def _page(self, host: str, path: str) -> Answered:
        topic = next((t for t in TOPICS if path == f"/{t.slug}"), None)
        if topic is None or host not in (topic.official, *NEWS_HOSTS):
            return Answered(404, b"<h1>404 Not Found</h1>")
        if host in self.decay.dead_hosts:
            return Answered(404, b"<!doctype html><title>404 Not Found</title><h1>Not Found</h1>")
        if host in self.decay.login_hosts:
            return Answered(200, _LOGIN_PAGE.encode())
        if host in self.decay.moved_hosts:
            return Answered(301, headers={"Location": "http://parked-names.example/"})
        published = self._published(host)
        headers = {
            "Last-Modified": published.strftime("%a, %d %b %Y %H:%M:%S GMT"),
            "Cache-Control": "max-age=60",
        }
        return Answered(200, _article(topic, host, published).encode(), headers=headers)

    def _results(self, query: str) -> list[dict[str, Any]]:
        topic = max(TOPICS, key=lambda t: _overlap(query, t.question))
        hosts = (topic.official, *NEWS_HOSTS)
        return [
            {
                "url": f"http://{host}/{topic.slug}",
                "title": _title(topic, host),
                "content": topic.statement(host, self._published(host).year),
                "published_date": self._published(host).isoformat(),
                "score": round(0.98 - 0.07 * rank, 2),
            }
            for rank, host in enumerate(hosts)
        ]

    def _published(self, host: str) -> datetime:
        age = timedelta(days=2 + len(host) % 5 + 365 * self.decay.stale_years)
        return (datetime.now(UTC) - age).replace(microsecond=0)


def completion(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a chat completion from the numbered pages in its last message.

    The model quotes the first sentence of each page that shares most words with the question, and
    cites it as a Markdown link, as models do that are told to cite.
    """
    prompt = str(request["messages"][-1]["content"])
    question, _, material = prompt.partition("\n\n")
    sources = [json.loads(line) for line in material.splitlines() if line.startswith("{")]
    sentences = [
        f"{_best_sentence(source['text'], question)} [{source['title']}]({source['url']})"
        for source in sources
    ]
    text = " ".join(sentences) or "I could not find an answer to this question."
    return {
        "id": f"chatcmpl-{abs(hash(prompt)):x}",
        "object": "chat.completion",
        "model": request.get("model", MODEL_NAME),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": len(prompt) // 4,
            "completion_tokens": len(text) // 4,
            "total_tokens": (len(prompt) + len(text)) // 4,
        },
    }


class WebServer:
    """Serves a `LocalWeb` on a free loopback port until it is closed."""

    def __init__(self, web: LocalWeb) -> None:
        self._server = _Server(("127.0.0.1", 0), _handler(web))
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="local-web", daemon=True
        )
        self._thread.start()

    @property
    def proxy(self) -> str:
        """The URL to use as an HTTP proxy."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away, and raise what is our own mistake."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(cast("Any", request), client_address)


def _handler(web: LocalWeb) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._respond()

        def do_POST(self) -> None:
            self._respond()

        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answered = web.answer(self.command, self.path, body)
            self.send_response(answered.status)
            for name, value in answered.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", answered.content_type)
            self.send_header("Content-Length", str(len(answered.body)))
            self.end_headers()
            self.wfile.write(answered.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep the terminal for the demo."""

    return Handler


def _json(document: Mapping[str, Any], *, status: int = 200) -> Answered:
    return Answered(status, json.dumps(document).encode(), content_type="application/json")


def _article(topic: Topic, host: str, published: datetime) -> str:
    title = escape(_title(topic, host))
    return f"""<!doctype html>
<html lang="en"><head><title>{title}</title>
<meta property="article:published_time" content="{published.isoformat()}">
<link rel="canonical" href="http://{host}/{topic.slug}"></head>
<body><nav><a href="/">Home</a></nav><article><h1>{title}</h1>
<p><time datetime="{published.date().isoformat()}">{published:%d %B %Y}</time></p>
<p>{escape(topic.statement(host, published.year))}</p>
<p>{escape(_SURROUNDINGS.get(host, _OFFICIAL_NOTE))}</p>
</article></body></html>"""


_OFFICIAL_NOTE: Final = (
    "These figures are published by the operator and audited once a year. Earlier editions can be "
    "ordered from the archive by letter."
)
_SURROUNDINGS: Final = {
    NEWS_HOSTS[0]: "Our correspondent visited the site and spoke to people who work there daily. "
    "Several of them had been there since it opened.",
    NEWS_HOSTS[1]: "Readers near the coast wrote to us about what the change means for them. Their "
    "letters fill a page in the printed edition.",
    NEWS_HOSTS[2]: "We compared the figure with the two reports before and found no contradiction. "
    "The method is described in our handbook.",
}
"""What each site writes around the statement, in words that no other uses."""


def _title(topic: Topic, host: str) -> str:
    subject = topic.slug.replace("-", " ").title()
    return f"{subject}: the figures" if host == topic.official else f"{subject} | {host}"


def _best_sentence(text: str, question: str) -> str:
    sentences = [f"{part.strip()}." for part in text.split(". ") if part.strip()]
    best = max(sentences, key=lambda sentence: _overlap(sentence, question), default="")
    return best.replace("..", ".")


def _overlap(one: str, other: str) -> int:
    return len(_words(one) & _words(other))


def _words(text: str) -> set[str]:
    return {word.strip("?.,").lower() for word in text.split()}
