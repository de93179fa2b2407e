"""What the answer of a provider's own search does not say: told, so that nobody has to guess."""

from collections.abc import Iterable
from typing import Any, Final

from seekwatch.sdk._shapes import as_mapping, is_list

from .telling import Message, Part, word

QUERY: Final = "query"
RESULTS: Final = "results"
URLS: Final = "urls"
DATES: Final = "dates"

_DATES: Final = ("date", "page_age", "published_date", "last_updated")
_FACTS: Final = (QUERY, RESULTS, URLS, DATES)


def missing_facts(messages: Iterable[Message]) -> list[str]:
    """Return what searches in these messages do not say.

    `query`, `results` (not even a list of them); where results are there, `urls` and `dates` when
    none of them has one. A search that found nothing lacks nothing.
    """
    missing: set[str] = set()
    for message in messages:
        parts: list[Part] = message.get("parts") or []
        answers = {
            word(part.get("id")): part for part in parts if _is(part, "server_tool_call_response")
        }
        for part in parts:
            if _is(part, "server_tool_call") and "search" in str(part.get("name")):
                missing |= _missing(part, answers.get(word(part.get("id"))))
    return [fact for fact in _FACTS if fact in missing]


def _is(part: Part, kind: str) -> bool:
    return part.get("type") == kind


def _missing(call: Part, answer: Part | None) -> set[str]:
    details = as_mapping(call.get("server_tool_call"))
    asked = (as_mapping(details.get(key)) for key in ("action", "input"))
    missing: set[str] = set()
    if not any(place.get(key) for place in (details, *asked) for key in ("query", "queries")):
        missing.add(QUERY)
    given = as_mapping((answer or {}).get("server_tool_call_response"))
    if given.get("error"):
        return missing
    results: Any = given.get("results")
    if not is_list(results):
        return missing | {RESULTS}
    found = [as_mapping(result) for result in results]
    if found and not any(result.get("url") for result in found):
        missing.add(URLS)
    if found and not any(result.get(key) for result in found for key in _DATES):
        missing.add(DATES)
    return missing
