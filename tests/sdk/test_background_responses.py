"""Responses in the background: asked for, looked at until they are there, told once."""

import json

import httpx
import pytest

from seekwatch.sdk import agent_run, flush, instrument, uninstrument
from seekwatch.sdk._llm.background import MAX_WAITING, BackgroundCalls, looked_for
from tests.services.otlp_sink import HttpSink
from tests.services.web import Answer, LocalWeb, Received

ASKED = {"model": "deep", "input": "Did it snow?", "background": True}


class Background:
    """The responses API, for answers that take a few looks."""

    def __init__(self, web: LocalWeb, looks: int = 2, status: str = "completed") -> None:
        self._left = looks
        self._status = status
        web.pages["/v1/responses"] = self._begin
        web.pages["/v1/responses/resp_7"] = self._look
        web.pages["/v1/responses/resp_7/cancel"] = lambda _: _said("cancelled")

    def _begin(self, _: Received) -> Answer:
        return _said("queued")

    def _look(self, received: Received) -> Answer:
        self._left -= 1
        if self._left > 0:
            return _said("in_progress")
        if received.query.get("stream"):
            event = {"type": "response.completed", "response": _response(self._status)}
            body = f"event: response.completed\ndata: {json.dumps(event)}\n\n"
            return Answer(200, body.encode(), "text/event-stream")
        return _said(self._status)


def _response(status: str) -> dict[str, object]:
    text: object = {"type": "output_text", "text": "It snowed.", "annotations": []}
    message: object = {"type": "message", "role": "assistant", "content": [text]}
    done = status == "completed"
    return {
        "id": "resp_7",
        "object": "response",
        "background": True,
        "status": status,
        "model": "deep-2026",
        "output": [message] if done else [],
        "usage": {"input_tokens": 11, "output_tokens": 3} if done else None,
    }


def _said(status: str) -> Answer:
    return Answer(200, json.dumps(_response(status)).encode(), "application/json")


@pytest.fixture(autouse=True)
def instrumented(sink: HttpSink) -> None:
    instrument("thinker", endpoint=sink.url)


def test_asking_and_looking_until_the_answer_is_there_is_one_model_call(
    web: LocalWeb, sink: HttpSink
) -> None:
    Background(web, looks=3)
    url = f"{web.url}/v1/responses"
    with agent_run("q"):
        identity = httpx.post(url, json=ASKED).json()["id"]
        while httpx.get(f"{url}/{identity}").json()["status"] != "completed":
            assert flush(), "what is sent in between does not end the call"
        httpx.get(f"{url}/{identity}")
    assert flush()
    span = sink.one("LLM")
    found = span.attributes
    assert span.name == "chat deep"
    assert span.parent_id == sink.one("AGENT").span_id
    assert found["gen_ai.response.id"] == "resp_7"
    assert found["gen_ai.response.model"] == "deep-2026"
    assert found["gen_ai.response.finish_reasons"] == ["stop"]
    assert found["gen_ai.usage.input_tokens"] == 11
    assert found["gen_ai.usage.output_tokens"] == 3
    assert "Did it snow?" in found["gen_ai.input.messages"]
    assert "It snowed." in found["gen_ai.output.messages"]
    assert (found["http.request.method"], found["url.full"]) == ("POST", url)
    assert "seekwatch.llm.unread_reason" not in found
    assert sink.of_kind("TOOL") == [], "looking for an answer is no page fetch"


def test_an_answer_that_is_streamed_when_it_is_looked_at_completes_the_call(
    web: LocalWeb, sink: HttpSink
) -> None:
    Background(web, looks=1)
    url = f"{web.url}/v1/responses"
    httpx.post(url, json=ASKED)
    with httpx.stream("GET", f"{url}/resp_7", params={"stream": "true"}) as answer:
        answer.read()
    assert flush()
    found = sink.one("LLM").attributes
    assert found["gen_ai.usage.output_tokens"] == 3
    assert "It snowed." in found["gen_ai.output.messages"]


@pytest.mark.parametrize("ending", ["failed", "incomplete"])
def test_a_failure_completes_the_call_too(web: LocalWeb, sink: HttpSink, ending: str) -> None:
    Background(web, looks=1, status=ending)
    url = f"{web.url}/v1/responses"
    httpx.post(url, json=ASKED)
    httpx.get(f"{url}/resp_7")
    assert flush()
    found = sink.one("LLM").attributes
    assert found["gen_ai.response.finish_reasons"] == [ending]
    assert "gen_ai.usage.output_tokens" not in found


def test_cancelling_completes_the_call(web: LocalWeb, sink: HttpSink) -> None:
    Background(web)
    url = f"{web.url}/v1/responses"
    httpx.post(url, json=ASKED)
    httpx.post(f"{url}/resp_7/cancel")
    assert flush()
    assert sink.one("LLM").attributes["gen_ai.response.finish_reasons"] == ["cancelled"]
    assert sink.of_kind("TOOL") == []


def test_a_call_whose_answer_nobody_came_back_for_is_told_at_the_end(
    web: LocalWeb, sink: HttpSink
) -> None:
    Background(web)
    httpx.post(f"{web.url}/v1/responses", json=ASKED)
    assert flush()
    assert sink.of_kind("LLM") == []
    uninstrument()
    found = sink.one("LLM").attributes
    assert found["seekwatch.llm.unread_reason"] == "background"
    assert found["gen_ai.response.id"] == "resp_7"
    assert "Did it snow?" in found["gen_ai.input.messages"]


def test_an_answer_that_another_process_asked_for_is_not_told(
    web: LocalWeb, sink: HttpSink
) -> None:
    """Nothing says that it is new: who reads an old answer again would be counted again."""
    Background(web, looks=1)
    httpx.get(f"{web.url}/v1/responses/resp_7")
    assert flush()
    kinds = sink.kinds()
    assert not {"AGENT", "LLM", "TOOL"}.intersection(kinds), kinds


@pytest.mark.parametrize(
    ("method", "path", "identity"),
    [
        ("GET", "/v1/responses/resp_7", "resp_7"),
        ("GET", "/openai/v1/responses/resp_a-b_c", "resp_a-b_c"),
        ("POST", "/v1/responses/resp_7/cancel", "resp_7"),
        ("GET", "/v1/responses/resp_7/input_items", None),
        ("DELETE", "/v1/responses/resp_7", None),
        ("GET", "/survey/responses/12", None),
        ("GET", "/v1/responses", None),
    ],
)
def test_a_look_is_told_by_method_and_path(method: str, path: str, identity: str | None) -> None:
    assert looked_for(method, path) == identity


class Call:
    """One that waits, and notes what comes of it."""

    def __init__(self) -> None:
        self.given_up = False

    def answer(self, answered: object, /) -> None:
        """Not called here."""

    def give_up(self) -> None:
        self.given_up = True


def test_calls_that_wait_are_bounded_in_number_and_in_bytes() -> None:
    waiting = BackgroundCalls()
    made = [Call() for _ in range(MAX_WAITING + 2)]
    for number, call in enumerate(made):
        waiting.hold(f"resp_{number}", call, 10)
    assert [call.given_up for call in made] == [True, True] + [False] * MAX_WAITING
    large = Call()
    waiting.hold("resp_large", large, 2**40)
    assert large.given_up
    assert all(call.given_up for call in made)
    assert "resp_large" not in waiting
