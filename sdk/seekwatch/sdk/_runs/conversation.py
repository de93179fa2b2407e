"""What the model calls of one run say: its question, its answer, and whether there were two.

Read from the attributes of ended LLM spans, whoever made them, off the agent's threads.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from seekwatch.core import attributes
from seekwatch.sdk._shapes import as_list, as_mapping

_MODEL_OPERATIONS: Final = frozenset({"chat", "generate_content", "text_completion"})
_LLM_REQUEST_TYPE: Final = "llm.request.type"
"""OpenLLMetry's mark of a model call."""
_FINISHED: Final = frozenset({"stop", "end_turn", "stop_sequence", "completed", "complete"})
_MAX_MESSAGES: Final = 64
"""Messages of OpenInference's flattened form that are looked at."""
_MAX_QUESTIONS: Final = 1000
_FINAL_TOOLS: Final = ("final_answer", "final_result")
"""Tools of smolagents and Pydantic AI whose call is the answer; nothing follows it."""
_BEFORE_QUESTION: Final = "New task:\n"
"""What smolagents puts before what the user asked."""
_TOKENS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_MAX_TOKENS: Final = 4000
_SHINGLE: Final = 3
"""Words in a row that two texts share when one quotes the other."""

_MAX_SAID: Final = 50_000
"""Of these that models said, those that are kept; a little more where a call goes beyond it."""
_MAX_BARE: Final = 500
"""Characters of a question that is no prompt."""
_MAX_COMPARED: Final = 20
_MARKS: Final = ("?", "？", "؟")
_BEHIND_MARK: Final = " \n\t\"'”’»)*"


@dataclass(frozen=True, slots=True)
class _Message:
    """One message, as far as the conversation goes."""

    role: str
    text: str
    calls: tuple[tuple[str, object], ...] = ()
    """Names and arguments of the tools that it calls."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call, as far as the conversation goes."""

    started_ns: int
    ended_ns: int
    instructions: str
    """What the system told the model; empty where nothing did."""
    asked: str | None
    """The first message of the user: as the conversation goes on it stays."""
    turn: str | None
    """The last message of the user."""
    answer: str | None
    """What the model said, where it asked for no tool."""
    final: bool
    """Whether the model was done: it asked for no tool."""
    said: str
    """All its words and what it gave to tools."""


def is_model_call(described: Mapping[str, Any]) -> bool:
    """Tell the attributes of a model call's span, in any of the usual conventions."""
    kind = described.get(attributes.SPAN_KIND)
    if kind is not None:
        return bool(kind == attributes.KIND_LLM)
    if described.get(attributes.OPERATION_NAME) in _MODEL_OPERATIONS:
        return True
    return _LLM_REQUEST_TYPE in described


def read_turn(described: Mapping[str, Any], started_ns: int, ended_ns: int) -> Turn:
    """Read a model call's span; what it does not say, or what is withheld, stays unknown."""
    asked = _messages(described.get(attributes.INPUT_MESSAGES)) or _flattened(
        described, "llm.input_messages"
    )
    answered = _messages(described.get(attributes.OUTPUT_MESSAGES)) or _flattened(
        described, "llm.output_messages"
    )
    told = [each.text for each in asked if each.role in {"system", "developer"}]
    system = described.get(attributes.SYSTEM_INSTRUCTIONS)
    if isinstance(system, str):
        told.append(system)
    calls = [call for each in answered for call in each.calls]
    words = [text for name, given in calls if (text := _final_words(name, given))]
    if not calls:
        words = [each.text for each in answered if each.text]
    ends = not calls or any(_is_final(name) for name, _ in calls)
    failed = attributes.ERROR_TYPE in described
    final = not failed and ends and (bool(words) or bool(calls) or _says_finished(described))
    user = [
        each.text.removeprefix(_BEFORE_QUESTION)
        for each in asked
        if each.role == "user" and each.text
    ]
    said = [each.text for each in answered] + [str(given) for _, given in calls]
    return Turn(
        started_ns,
        ended_ns,
        "\n".join(told),
        user[0] if user else None,
        user[-1] if user else None,
        "\n".join(words) if final and words else None,
        final,
        "\n".join(said),
    )


def _is_final(tool: str) -> bool:
    """Tell a tool whose call is the answer; of several kinds of answer each has one."""
    return tool in _FINAL_TOOLS or tool.startswith(f"{_FINAL_TOOLS[1]}_")


def _final_words(tool: str, arguments: object) -> str | None:
    """Return the answer that a call of such a tool gives."""
    if not _is_final(tool):
        return None
    if isinstance(arguments, str):
        try:
            given = as_mapping(json.loads(arguments))
        except ValueError:
            return None
    else:
        given = as_mapping(arguments)
    # A structured answer is all of its fields.
    for name in ("answer", "response"):
        if isinstance(given.get(name), str):
            return str(given[name])
    return json.dumps(given, ensure_ascii=False) if given else None


def _says_finished(described: Mapping[str, Any]) -> bool:
    """Tell whether the finish reasons say that the model was done, where its words are unknown."""
    reasons = as_list(described.get(attributes.FINISH_REASONS))
    if not reasons:
        return f"{attributes.OUTPUT_MESSAGES}{attributes.WITHHELD_LENGTH}" in described
    return all(str(each).lower() in _FINISHED for each in reasons)


def _messages(encoded: object) -> list[_Message]:
    """Return messages in the GenAI form."""
    if not isinstance(encoded, str):
        return []
    try:
        decoded = json.loads(encoded)
    except ValueError:
        # Cut by a limit on the length of values.
        return []
    found: list[_Message] = []
    for message in map(as_mapping, as_list(decoded)):
        parts = [as_mapping(part) for part in as_list(message.get("parts"))]
        texts = [
            str(part["content"])
            for part in parts
            if part.get("type") == "text" and isinstance(part.get("content"), str)
        ]
        calls = [
            (str(part.get("name", "")), part.get("arguments"))
            for part in parts
            if part.get("type") == "tool_call"
        ]
        found.append(_Message(str(message.get("role", "")), "\n".join(texts), tuple(calls)))
    return found


def _flattened(described: Mapping[str, Any], prefix: str) -> list[_Message]:
    """Return the same of OpenInference's flattened messages."""
    found: list[_Message] = []
    for index in range(_MAX_MESSAGES):
        start = f"{prefix}.{index}.message."
        role = described.get(f"{start}role")
        text = described.get(f"{start}content")
        if text is None:
            text = described.get(f"{start}contents.0.message_content.text")
        calls = _flattened_calls(described, f"{start}tool_calls")
        if role is None and text is None and not calls:
            break
        words = text if isinstance(text, str) else ""
        found.append(_Message(str(role or "assistant"), words, calls))
    return found


def _flattened_calls(described: Mapping[str, Any], prefix: str) -> tuple[tuple[str, object], ...]:
    calls: list[tuple[str, object]] = []
    for index in range(_MAX_MESSAGES):
        start = f"{prefix}.{index}.tool_call.function."
        name = described.get(f"{start}name")
        if name is None:
            break
        calls.append((str(name), described.get(f"{start}arguments")))
    return tuple(calls)


class Conversation:
    """The model calls of one run, as they end.

    A run asks its model many things: a query to be rewritten, a page to be summed up, the work of
    a sub-agent. A second question is only counted after an answer, under the instructions of the
    run's first call, and where the text neither was asked before nor quotes what was asked first.
    """

    def __init__(self) -> None:
        self._first: Turn | None = None
        self._last: Turn | None = None
        self._questions: list[str] = []
        self._said: set[tuple[str, ...]] = set()
        self._done = False

    def add(self, turn: Turn) -> None:
        """Note a model call that has ended."""
        if self._first is None or turn.started_ns < self._first.started_ns:
            self._first = turn
        if turn.asked is not None and self._is_new(turn, turn.asked):
            self._questions.append(turn.asked)
            self._done = False
        if len(self._said) < _MAX_SAID:
            self._said |= _shingles(_tokens(turn.said), _SHINGLE)
        if turn.final:
            self._done = True
            if turn.answer is not None and (
                self._last is None or turn.ended_ns >= self._last.ended_ns
            ):
                self._last = turn

    def _is_new(self, turn: Turn, asked: str) -> bool:
        first = self._first
        if not self._questions or first is None:
            return not self._questions
        if not self._done or asked in self._questions or len(self._questions) >= _MAX_QUESTIONS:
            return False
        if turn.instructions == first.instructions:
            return not quotes(asked, self._questions[-1])
        bare = len(asked) <= _MAX_BARE and asked.rstrip(_BEHIND_MARK).endswith(_MARKS)
        return bare and not self._came_from_model(asked) and not self._is_told_again(asked)

    def _came_from_model(self, asked: str) -> bool:
        """Tell a question that a model has asked: most of it stands in what models said."""
        runs = _shingles(_tokens(asked), _SHINGLE)
        return 2 * len(runs & self._said) >= len(runs)

    def _is_told_again(self, asked: str) -> bool:
        return any(quotes(asked, earlier) for earlier in self._questions[-_MAX_COMPARED:])

    @property
    def answered(self) -> bool:
        """Whether a model has said something final."""
        return self._done

    @property
    def question(self) -> str | None:
        """The last message of the user in the first model call: before it is its history."""
        return None if self._first is None else self._first.turn

    @property
    def answer(self) -> str | None:
        """The last final words of a model."""
        return None if self._last is None else self._last.answer

    @property
    def questions(self) -> int:
        """How many different questions there were."""
        return len(self._questions)


def quotes(text: str, earlier: str) -> bool:
    """Tell whether a text asks about the same as an earlier one, in other words around it.

    Where both begin alike (a template), what they begin and end with is left aside; of the rest, a
    few words in a row that stand in both make one a quotation of the other.
    """
    left, right = _tokens(text), _tokens(earlier)
    shortest = min(len(left), len(right))
    head = 0
    while head < shortest and left[head] == right[head]:
        head += 1
    tail = 0
    while head and tail < shortest - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    left, right = left[head : len(left) - tail], right[head : len(right) - tail]
    if not left or not right:
        # One goes on where the other ends.
        return True
    size = min(_SHINGLE, len(left), len(right))
    return not _shingles(left, size).isdisjoint(_shingles(right, size))


def _tokens(text: str) -> list[str]:
    found = _TOKENS.findall(text.lower())
    # Of a long prompt the middle is documents; what is asked stands before or after them.
    half = _MAX_TOKENS // 2
    return found if len(found) <= _MAX_TOKENS else found[:half] + found[-half:]


def _shingles(tokens: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)}
