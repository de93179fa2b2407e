"""A model behind the wire formats of OpenAI, Anthropic and Gemini, on loopback.

Agents of real frameworks talk to it by their real client libraries, streaming too; it searches
first, then answers from what was found, and keeps what it counted.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.services import model_anthropic, model_gemini, model_openai
from tests.services.loopback import LoopbackServer
from tests.services.model_turns import Model, Turn

_PAUSE_SECONDS: Final = 0.001
"""Between two events of a stream, so that it is one on the wire."""
_GEMINI: Final = re.compile(r"/v1(?:beta)?/models/(?P<model>[^/:]+):(?P<verb>\w+)$")

Reply = dict[str, Any] | Iterable[bytes]
Body = dict[str, Any]


class ModelServer(LoopbackServer):
    """A context manager that serves the model."""

    def __init__(self) -> None:
        self.model = Model()
        self.requests: list[tuple[str, Body]] = []
        """Path and body of every request, in order."""
        super().__init__(self._handler())

    @property
    def turns(self) -> list[Turn]:
        """What the model said, in order."""
        return self.model.turns

    def _reply(self, path: str, query: dict[str, list[str]], body: Body) -> tuple[Reply, str]:
        """Return the reply, and the content type of it when it is a stream."""
        self.requests.append((path, body))
        gemini = _GEMINI.search(path)
        if gemini is not None:
            stream = gemini["verb"] == "streamGenerateContent"
            turn = self.model.turn(model_gemini.asked(gemini["model"], body, stream=stream))
            if not stream:
                return model_gemini.whole(turn), ""
            if query.get("alt") == ["sse"]:
                return model_gemini.events(turn), "text/event-stream"
            return model_gemini.array(turn), "application/json"
        for ending, reply in self._routes().items():
            if path.endswith(ending):
                return reply(body), "text/event-stream; charset=utf-8"
        raise LookupError(path)

    def _routes(self) -> dict[str, Callable[[Body], Reply]]:
        return {
            "/chat/completions": self._chat,
            "/responses": self._responses,
            "/messages": self._messages,
            # Where the OpenAI Agents SDK sends traces of its own.
            "/traces/ingest": lambda _: {},
        }

    def _chat(self, body: Body) -> Reply:
        asked = model_openai.chat_asked(body)
        turn = self.model.turn(asked)
        return model_openai.chat_events(turn) if asked.stream else model_openai.chat_whole(turn)

    def _responses(self, body: Body) -> Reply:
        asked = model_openai.responses_asked(body)
        turn = self.model.turn(asked)
        if asked.stream:
            return model_openai.responses_events(body, turn)
        return model_openai.responses_whole(body, turn)

    def _messages(self, body: Body) -> Reply:
        asked = model_anthropic.asked(body)
        turn = self.model.turn(asked)
        return model_anthropic.events(turn) if asked.stream else model_anthropic.whole(turn)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        reply_to = self._reply

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body: Body = json.loads(self.rfile.read(length))
                parts = urlsplit(self.path)
                try:
                    reply, content_type = reply_to(parts.path, parse_qs(parts.query), body)
                except LookupError:
                    self._whole({"error": {"message": "no such path", "type": "not_found"}}, 404)
                    return
                if isinstance(reply, dict):
                    self._whole(reply)
                else:
                    self._stream(iter(reply), content_type)

            def _whole(self, value: Body, status: int = 200) -> None:
                data = json.dumps(value).encode()
                self._begin("application/json", status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, events: Iterator[bytes], content_type: str) -> None:
                self._begin(content_type)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                try:
                    for event in events:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                        time.sleep(_PAUSE_SECONDS)
                    self.wfile.write(b"0\r\n\r\n")
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _begin(self, content_type: str, status: int = 200) -> None:
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("x-request-id", "req_local")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        return Handler
