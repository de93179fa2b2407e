"""Frameworks whose model answers by a tool call, and put words before the question."""

import json
from typing import Any

import pytest

from seekwatch.processors.spans.messages import final_text, read_messages, user_question


def called(name: str, arguments: Any, *, openai: bool) -> str:
    if openai:
        call = {"id": "1", "function": {"name": name, "arguments": json.dumps(arguments)}}
        return json.dumps([{"role": "assistant", "content": None, "tool_calls": [call]}])
    part = {"type": "tool_call", "id": "1", "name": name, "arguments": arguments}
    return json.dumps([{"role": "assistant", "parts": [part]}])


@pytest.mark.parametrize("openai", [True, False])
@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("final_answer", {"answer": "In 1889."}, "In 1889."),
        ("final_result", {"year": 1889}, '{"year": 1889}'),
        ("final_result_Year", {"response": "In 1889."}, "In 1889."),
    ],
)
def test_a_call_by_which_the_model_answers_is_its_text(
    name: str, arguments: Any, answer: str, openai: bool
) -> None:
    [message] = read_messages(called(name, arguments, openai=openai))
    assert message.tool_calls == []
    assert final_text([message]) == answer


def test_a_call_beside_the_answer_is_still_a_call_and_the_answer_an_answer() -> None:
    """Pydantic AI runs, or skips, what the model asks for in the message that ends the run."""
    parts = [
        {"type": "tool_call", "id": "1", "name": "search", "arguments": {"query": "tower"}},
        {"type": "tool_call", "id": "2", "name": "final_result", "arguments": {"year": 1889}},
    ]
    [message] = read_messages([{"role": "assistant", "parts": parts}])
    assert message.tool_calls == parts[:1]
    assert final_text([message]) == '{"year": 1889}'
    assert not message.waits_for_tools


@pytest.mark.parametrize(("name", "arguments"), [("search", {"answer": "x"}), ("final_answer", {})])
def test_any_other_call_asks_for_a_tool(name: str, arguments: Any) -> None:
    [message] = read_messages(called(name, arguments, openai=False))
    assert len(message.tool_calls) == 1
    assert message.waits_for_tools
    assert final_text([message]) is None


def test_the_question_is_without_the_preface_of_the_framework() -> None:
    asked = read_messages([{"role": "user", "content": "New task:\nWhen was it built?"}])
    assert user_question(asked) == "When was it built?"
