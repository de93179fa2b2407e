"""The side of AWS Lambda's runtime API that a function talks to: it asks for events, one by one.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import json
import queue
import re
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from tests.services.loopback import LoopbackServer

_NEXT: Final = "/2018-06-01/runtime/invocation/next"
_DONE: Final = re.compile(r"/2018-06-01/runtime/invocation/(?P<id>[^/]+)/(?P<how>response|error)$")
_FAR_AWAY_MS: Final = "9999999999999"
_TIMEOUT_SECONDS: Final = 60.0


class LambdaRuntime(LoopbackServer):
    """A context manager that serves the runtime API to the environments of one function."""

    def __init__(self, handler: str) -> None:
        self._handler_name = handler
        self._events: queue.SimpleQueue[tuple[str, Mapping[str, Any]] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        super().__init__(self._handler())

    @property
    def variables(self) -> dict[str, str]:
        """What an environment of the function is started with."""
        return {
            "AWS_LAMBDA_FUNCTION_NAME": "finder",
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
            "AWS_LAMBDA_RUNTIME_API": self.authority,
            "AWS_REGION": "eu-north-1",
            "_HANDLER": self._handler_name,
        }

    def invoke(self, events: list[Mapping[str, Any]]) -> list[Any]:
        """Hand out events to whoever asks next, and return what became of each.

        Raises:
            AssertionError: the function failed.
        """
        for number, event in enumerate(events):
            self._events.put((f"request-{number}", event))
        results: list[Any] = []
        for _ in events:
            how, result = self._results.get(timeout=_TIMEOUT_SECONDS)
            if how != "response":
                raise AssertionError(result)
            results.append(result)
        return results

    def end(self, environments: int) -> None:
        """Send away the environments that wait for an event."""
        for _ in range(environments):
            self._events.put(None)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        events, results = self._events, self._results

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                event = events.get() if self.path == _NEXT else None
                if event is None:
                    self._say(403, {"errorMessage": "no more events"})
                    return
                identity, told = event
                arn = "arn:aws:lambda:eu-north-1:123456789012:function:finder"
                self._say(
                    200,
                    told,
                    {
                        "Lambda-Runtime-Aws-Request-Id": identity,
                        "Lambda-Runtime-Deadline-Ms": _FAR_AWAY_MS,
                        "Lambda-Runtime-Invoked-Function-Arn": arn,
                    },
                )

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                found = _DONE.search(self.path)
                results.put((found["how"] if found else self.path, json.loads(body or b"null")))
                self._say(202, {"status": "OK"})

            def _say(
                self, status: int, value: object, headers: Mapping[str, str] | None = None
            ) -> None:
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, text in (headers or {}).items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                pass

        return Handler
