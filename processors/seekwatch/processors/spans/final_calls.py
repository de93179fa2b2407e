"""Tool calls that are an agent's answer: some frameworks have the model answer by a tool.

Such a call asks for nothing: its argument is what the user gets.
"""

import json
from typing import Any, Final

from seekwatch.processors.spans.values import as_mapping, as_text, opened

_SMOLAGENTS: Final = "final_answer"
_PYDANTIC_AI: Final = "final_result"
_QUESTION_PREFACE: Final = "New task:\n"
"""What smolagents puts before what the user asked."""


def without_preface(question: str) -> str:
    """Return a question as it was asked."""
    return question.removeprefix(_QUESTION_PREFACE)


def final_words(calls: list[dict[str, Any]]) -> str | None:
    """Return the answer that one of these calls gives, None where none does."""
    call = next(filter(is_final, calls), None)
    if call is None:
        return None
    function = as_mapping(call.get("function"))
    given = call.get("arguments", call.get("input", function.get("arguments")))
    return _words(as_mapping(opened(given)))


def is_final(call: dict[str, Any]) -> bool:
    """Tell a call by which a model answers from one that asks for a tool."""
    name = as_text(call.get("name")) or as_text(as_mapping(call.get("function")).get("name")) or ""
    # Of several kinds of structured answer, each has a tool of its own.
    return name in (_SMOLAGENTS, _PYDANTIC_AI) or name.startswith(f"{_PYDANTIC_AI}_")


def _words(arguments: dict[str, Any]) -> str | None:
    for key in ("answer", "response"):
        words = as_text(arguments.get(key))
        if words is not None:
            return words
    return json.dumps(arguments, ensure_ascii=False) if arguments else None
