"""How an answer compares to a truth record: facts stated, facts cited, citations that support.

Only where such a record exists: live traffic has none. 0/0 is None, never a number.
"""

import re
from collections.abc import Sequence
from typing import Final

from seekwatch.core.evidence import ExpectedFact
from seekwatch.core.scorecard import AxisVerdict, Truth
from seekwatch.core.verdicts import Verdict, ratio
from seekwatch.processors.sources.run_view import RunView
from seekwatch.processors.text.fold import fold
from seekwatch.processors.text.numbers import numbers
from seekwatch.processors.text.passages import searchable

_MAX_ANSWER: Final = 60_000
_MAX_PATTERN: Final = 500


def truth(run: RunView, citation_axis: AxisVerdict) -> Truth | None:
    """Compare the answer with the truth record, if there is one.

    `fact_coverage` = matched required facts / required facts; `citation_coverage` = matched facts
    whose claim has a citation / matched facts; `citation_support` = supported claims / judged ones.
    """
    record = run.evidence.truth
    if record is None:
        return None
    answer = run.episode.answer
    text = "" if answer is None else answer.text[:_MAX_ANSWER]
    matched = [fact for fact in record.facts if states(fact, text)]
    required = [fact for fact in record.facts if fact.required]
    found = [fact for fact in required if fact in matched]
    support = [check for check in citation_axis.checks if check.name == "support"]
    judged = [check for check in support if check.verdict is not Verdict.UNSCORABLE]
    good = sum(1 for check in judged if check.verdict is Verdict.GOOD)
    return Truth(
        fact_coverage=ratio(len(found), len(required)),
        citation_coverage=ratio(_cited(run, matched), len(matched)),
        citation_support=ratio(good, len(judged)),
        matched_facts=tuple(fact.name for fact in matched),
        missing_facts=tuple(fact.name for fact in required if fact not in matched),
    )


def states(fact: ExpectedFact, text: str) -> bool:
    """Tell whether a text states an expected fact, by the fact's own way of matching."""
    if fact.match == "number":
        held = numbers(fold(text))
        wanted = [number for value in fact.values for number in numbers(fold(value))]
        return any(number.equals(other) for number in wanted for other in held)
    if fact.match == "regex":
        return any(_matches(value, text) for value in fact.values)
    if not fact.values:
        return False
    plain = searchable(text)
    stated = [_contains(value, plain) for value in fact.values]
    return any(stated) if fact.match == "any" else all(stated)


def _contains(value: str, plain: str) -> bool:
    needle = searchable(value)
    return bool(needle.strip()) and (
        needle in plain or (not needle.isascii() and needle.strip() in plain)
    )


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern[:_MAX_PATTERN], text, re.IGNORECASE) is not None
    except re.error:
        return False


def _cited(run: RunView, facts: Sequence[ExpectedFact]) -> int:
    """How many facts stand in a claim that has a citation."""
    answer = run.episode.answer
    if answer is None:
        return 0
    texts = [claim.text for claim in answer.claims if claim.citations]
    if not texts and answer.citations:
        texts = [answer.text]
    return sum(1 for fact in facts if any(states(fact, text) for text in texts))
