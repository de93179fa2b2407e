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
    for call in calls:
        function = as_mapping(call.get("function"))
        name = as_text(call.get("name")) or as_text(function.get("name")) or ""
        # Of several kinds of structured answer, each has a tool of its own.
        if name in (_SMOLAGENTS, _PYDANTIC_AI) or name.startswith(f"{_PYDANTIC_AI}_"):
            given = call.get("arguments", call.get("input", function.get("arguments")))
            return _words(as_mapping(opened(given)))
    return None


def _words(arguments: dict[str, Any]) -> str | None:
    for key in ("answer", "response"):
        words = as_text(arguments.get(key))
        if words is not None:
            return words
    return json.dumps(arguments, ensure_ascii=False) if arguments else None
