"""What a model answered, read with suspicion: a judgement, or the reason why it is none."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from seekwatch.core.verdicts import Reason
from seekwatch.processors.text.passages import searchable, stands_on

from .prompts import QUOTE_LENGTH, RATIONALE_LENGTH
from .rubrics import Rubric

_FENCE: Final = re.compile(r"^\s*```(?:json)?\s*\n(.*?)\n\s*```\s*$", re.DOTALL | re.IGNORECASE)
_MAX_REPLY: Final = 20_000


@dataclass(frozen=True, slots=True)
class Reply:
    """What was read out of an answer.

    Attributes:
        score: 0 (worst) to 1 (best).
        label: as answered; None for a number.
        reason: why it is no verdict; None where it is one.
        rationale: the model's, or what was wrong with the answer.
        quote: the words that it judged by, which stand in the item.
    """

    score: float | None = None
    label: str | None = None
    reason: Reason | None = None
    rationale: str = ""
    quote: str = ""


def read_reply(rubric: Rubric, text: str, item: Mapping[str, Any]) -> Reply:
    """Read an answer; whatever is not exactly what was asked for is no verdict.

    Args:
        rubric: that was asked.
        text: the model's answer.
        item: that was judged; the quotation must stand in it.
    """
    fields = _fields(text)
    if isinstance(fields, str):
        return _invalid(fields)
    verdict, quote, rationale = (fields.get(key) for key in ("verdict", "quote", "rationale"))
    if not isinstance(quote, str) or not isinstance(rationale, str):
        return _invalid("the answer lacks quote or rationale")
    if not _is_verdict(rubric, verdict):
        return _invalid(f"{str(verdict)[:80]!r} is no verdict of the rubric")
    rationale, quote = rationale[:RATIONALE_LENGTH], quote[:QUOTE_LENGTH]
    if not stands_on(quote, searchable("\n".join(_texts(item)))):
        # An answer that rests on words that are not there was made up, or dictated.
        return _invalid(f"«{quote[:120]}» does not stand in what was judged")
    label = verdict if isinstance(verdict, str) else None
    if label in rubric.undecided:
        return Reply(label=label, reason=Reason.NOT_APPLICABLE, rationale=rationale, quote=quote)
    score = rubric.score_of(cast("float | str", verdict))
    return Reply(score=score, label=label, rationale=rationale, quote=quote)


def _invalid(why: str) -> Reply:
    return Reply(reason=Reason.INVALID_SCORE, rationale=why)


def _fields(text: str) -> dict[str, Any] | str:
    """Return the one JSON object of an answer, or what is wrong with it."""
    if len(text) > _MAX_REPLY:
        return f"the answer has {len(text)} characters"
    fenced = _FENCE.match(text)
    try:
        found = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return f"the answer is no JSON: {text[:120]!r}"
    if not isinstance(found, dict):
        return f"the answer is no JSON object: {text[:120]!r}"
    return cast("dict[str, Any]", found)


def _is_verdict(rubric: Rubric, verdict: object) -> bool:
    if rubric.scale is None:
        return isinstance(verdict, str) and verdict in rubric.labels
    if isinstance(verdict, bool) or not isinstance(verdict, int | float):
        return False
    low, high = rubric.scale
    return math.isfinite(verdict) and verdict == int(verdict) and low <= verdict <= high


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for each in cast("Mapping[str, Any]", value).values() for text in _texts(each)]
    if isinstance(value, list | tuple):
        return [text for each in cast("list[Any]", value) for text in _texts(each)]
    return []
