"""The question of a run, by one documented order of trust.

What the run's span was asked; else what the first agent span was asked; else the user's message to
a model. The latter is a prompt: it may hold what the run has found beside the question, and the
first call may be about the question only, as where a query is rewritten. What the SDK read there
itself, for a run that nobody has marked, is read again here, where the results are known.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from seekwatch.core import attributes as names
from seekwatch.core.model import Answer, Fetch, Search
from seekwatch.processors.dialects.base import Role, SpanFacts, Text, cleaned
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.messages import user_question
from seekwatch.processors.text.prompts import Brought, may_be_prompt, question_in

_IMPLICIT: Final = "implicit"
_CUT: Final = 200
"""Characters at the beginning by which two copies of one message are the same, however cut."""
_BEFORE_PART: Final = re.compile(r"(?:^|[\n:：>\"'“「«([]\s*|[.!?。！？]\s*)$")
_BEHIND_PART: Final = re.compile(r"\s*(?:$|[\n<\"'”」»)\].!?。！？])")


def find_question(
    root: SpanFacts,
    facts: list[SpanFacts],
    answer: Answer | None,
    found: tuple[tuple[Search, ...], tuple[Fetch, ...]],
    cleaner: Cleaner,
) -> Text | None:
    """Return what the person asked, None when no span says or nothing said can be trusted.

    Args:
        root: the run's span.
        facts: every span, in the order in which they began.
        answer: of the run: the model call that gave it was told the question.
        found: what the run searched and fetched.
        cleaner: what every kept string goes through.
    """
    agents = [fact for fact in facts if fact.role in (Role.AGENT, Role.WORKFLOW)]
    stated = next((fact for fact in (root, *agents) if fact.question is not None), None)
    if stated is not None and stated.view.text(names.RUN_ROOT) != _IMPLICIT:
        return stated.question
    first, last = _prompts(facts, answer, cleaner)
    if stated is not None and stated.question is not None:
        said = stated.question
        if first is None:
            first = last = said
        elif not any(_is_one(said, prompt) for prompt in (first, last) if prompt is not None):
            # Somebody knew it: a framework's function was called with it.
            return said
    if first is not None:
        return _read(first, last or first, _brought(*found))
    chains = (fact.question for fact in facts if fact.role is Role.CHAIN)
    return next((question for question in chains if question is not None), None)


def _prompts(
    facts: list[SpanFacts], answer: Answer | None, cleaner: Cleaner
) -> tuple[Text | None, Text | None]:
    """Return the user's message of the first model call that has one, and of the answering one."""
    messages = (_message(fact, cleaner) for fact in facts if fact.sent is not None)
    first = next((message for message in messages if message is not None), None)
    writers = (fact for fact in facts if answer is not None and fact.span == answer.span)
    writer = next((fact for fact in writers if fact.sent is not None), None)
    if first is None or writer is None or first.provenance.span == writer.span:
        return first, first
    return first, _message(writer, cleaner)


def _message(fact: SpanFacts, cleaner: Cleaner) -> Text | None:
    if fact.sent is None:
        return None
    sent = fact.sent()
    return cleaned(fact, sent.key, user_question(sent.messages), cleaner)


def _is_one(said: Text, prompt: Text) -> bool:
    return said.value.strip()[:_CUT] == prompt.value.strip()[:_CUT]


def _read(first: Text, last: Text, brought: Brought) -> Text | None:
    """Read the first call's prompt, unless the answering call's tells what it was made around."""
    asked = _asked(first, brought)
    if last.value == first.value:
        return asked
    answered = _asked(last, brought)
    if answered is None:
        return asked
    if asked is None or _is_part(answered.value, first.value):
        return answered
    return asked


def _asked(prompt: Text, brought: Brought) -> Text | None:
    if not may_be_prompt(prompt.value):
        return prompt
    question = question_in(prompt.value, brought)
    return None if question is None else Text(question, prompt.provenance)


def _is_part(question: str, prompt: str) -> bool:
    """Tell whether a question stands in a longer prompt, as a part of its own."""
    start = prompt.find(question)
    if start < 0 or len(question) >= len(prompt.strip()):
        return False
    before, behind = prompt[:start], prompt[start + len(question) :]
    return bool(_BEFORE_PART.search(before[-20:]) and _BEHIND_PART.match(behind[:20]))


def _brought(searches: tuple[Search, ...], fetches: tuple[Fetch, ...]) -> Brought:
    return Brought(
        texts=[text for text in _texts(searches, fetches) if text],
        queries=[search.query for search in searches if search.query is not None],
    )


def _texts(searches: Iterable[Search], fetches: Iterable[Fetch]) -> Iterator[str | None]:
    for search in searches:
        for result in search.results or ():
            yield from (result.title, result.snippet, result.url)
    for fetch in fetches:
        yield fetch.url
        if fetch.page is not None:
            yield from (fetch.page.title, fetch.page.text)
