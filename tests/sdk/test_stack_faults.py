"""Our adapters are made to fail wherever a library calls into them; the agent must not notice."""

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from seekwatch.sdk import flush, instrument
from seekwatch.sdk._guard import failures, reset_failures
from tests.services.http_stacks import STACKS, Got
from tests.services.otlp_sink import HttpSink
from tests.services.web import PAGE, LocalWeb

POINTS = [
    "sending:Sending.covers",
    "sending:Sending.begin_exchange",
    "sending:Sending.end_exchange",
    "sending:Sending.__init__",
    "sending:Wire",
    "sending:Wire.ended",
    "sending:HttpCall.leave",
    "texts:TextRequest.__init__",
    "texts:TextAnswer.__init__",
    "texts:TextAnswer.header",
    "texts:TextRequest._split",
    "urllib3_pools:absolute",
    "urllib3_bodies:put",
    "urllib3_bodies:Capture.add",
    "requests_sessions:_answer",
    "requests_sessions:redirect_target",
    "requests_sessions:_is_session",
    "aiohttp_messages:AiohttpRequest.__init__",
    "aiohttp_messages:AiohttpRequest.sent_as",
    "aiohttp_sessions:asked_for",
    "aiohttp_bodies:put",
    "aiohttp_bodies:TeeBuffer.begin",
    "aiohttp_bodies:TeeBuffer.closed",
    "aiohttp_bodies:TeeBuffer.failed",
]


class OurFaultError(RuntimeError):
    """Raised by our own code."""


@pytest.fixture(params=POINTS)
def fault(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, sink: HttpSink
) -> Iterator[str]:
    instrument("faulty", endpoint=sink.url)
    point: str = request.param
    module, _, inside = point.partition(":")
    *path, name = inside.split(".")
    owner: Any = importlib.import_module(f"seekwatch.sdk._stacks.{module}")
    for part in path:
        owner = getattr(owner, part)

    def fail(*_: object, **__: object) -> None:
        raise OurFaultError(point)

    monkeypatch.setattr(owner, name, fail)
    yield point
    monkeypatch.undo()
    flush(0.5)
    reset_failures()


def test_the_agent_sees_the_same_whatever_fails_in_us(web: LocalWeb, fault: str) -> None:
    for stack in STACKS:
        assert stack.fetch(web.url + "/redirect") == Got(200, PAGE.encode()), stack.name
        assert stack.fetch(web.url + "/gzip", "HEAD").status == 200
        for path in ("/stream", "/chunked"):
            assert stack.stream(web.url + path) == PAGE.encode() * 100
        assert PAGE.encode().startswith(stack.peek(web.url + "/page")[:10])
        assert stack.ignore(web.url + "/stream") == 200
        with pytest.raises(Exception, match=r"(?i)incomplete|payload|peer closed") as raised:
            stack.stream(web.url + "/broken")
        assert not isinstance(raised.value, OurFaultError)
        with pytest.raises(stack.refused):
            stack.fetch("http://127.0.0.1:9/")
        with pytest.raises(stack.timed_out):
            stack.fetch(web.url + "/slow", timeout=0.2)
    flush(2)
    assert failures(), f"{fault} was never reached"
