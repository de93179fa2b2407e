"""Tool calls without spans of their own, read from the messages between agent and model.

Where only the model's client is instrumented, the model's request for a tool and the tool's result
stand nowhere but in the next call's messages. They are read only in traces without any tool or
retriever span, so that nothing is told twice.
"""

from typing import Any, Final

import msgspec

from seekwatch.core.model import Fetch, Search
from seekwatch.processors.dialects.base import Role, SpanFacts
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.messages import Message
from seekwatch.processors.spans.tools import ToolCall, read_tool
from seekwatch.processors.spans.values import as_mapping, as_text
from seekwatch.processors.urls import url_key

MESSAGES_KEY: Final = "messages"
"""Provenance of what was read from a model's messages."""


def add_exchanges(facts: list[SpanFacts], cleaner: Cleaner) -> None:
    """Give each model call the searches and fetches that it asked for.

    Args:
        facts: every span, in order of start; model calls among them are added to.
        cleaner: what every kept string goes through.
    """
    if any(fact.role in (Role.TOOL, Role.RETRIEVER) for fact in facts):
        return
    wire = [fact for fact in facts if fact.role is Role.HTTP and fact.fetches]
    done: set[str] = set()
    asker: SpanFacts | None = None
    for fact in facts:
        if fact.role is not Role.LLM:
            continue
        if asker is not None:
            for call in _answered(_sent(fact), done):
                _add(asker, fact, call, wire, cleaner)
        else:
            # What stands in the first call's messages was done in an earlier run.
            done.update(_ids(_sent(fact)))
        asker = fact


def _sent(fact: SpanFacts) -> list[Message]:
    return [] if fact.sent is None else fact.sent().messages


def _answered(messages: list[Message], done: set[str]) -> list[ToolCall]:
    """Return the calls whose result came since the last look, in order of their results."""
    asked: dict[str, dict[str, Any]] = {}
    found: list[ToolCall] = []
    for message in messages:
        for call in message.tool_calls:
            identity = _call_id(call)
            if identity is not None:
                asked[identity] = call
        for result in message.tool_results:
            identity = _call_id(result)
            request = asked.get(identity or "")
            if identity is None or request is None or identity in done:
                continue
            done.add(identity)
            found.append(_tool_call(request, result))
    return found


def _ids(messages: list[Message]) -> set[str]:
    return {
        identity
        for message in messages
        for result in message.tool_results
        if (identity := _call_id(result)) is not None
    }


def _call_id(fields: dict[str, Any]) -> str | None:
    for key in ("call_id", "tool_call_id", "tool_use_id", "id"):
        identity = as_text(fields.get(key))
        if identity is not None:
            return identity
    return None


def _tool_call(call: dict[str, Any], result: dict[str, Any]) -> ToolCall:
    function = as_mapping(call.get("function")) or call
    arguments = function.get("arguments")
    values = (result.get(key) for key in ("response", "result", "output", "content"))
    return ToolCall(
        name=as_text(function.get("name")) or "",
        arguments=function.get("input") if arguments is None else arguments,
        result=next((value for value in values if value is not None), None),
        argument_key=MESSAGES_KEY,
        result_key=MESSAGES_KEY,
    )


def _add(
    asker: SpanFacts, teller: SpanFacts, call: ToolCall, wire: list[SpanFacts], cleaner: Cleaner
) -> None:
    """Add a call to the model call that asked for it, timed by the pause between the two."""
    read = SpanFacts(asker.view, asker.dialect)
    read_tool(read, call, cleaner)
    start = asker.view.end
    end = max(start, teller.view.start)
    for fetch in read.fetches:
        timed = msgspec.structs.replace(
            fetch, start=start, end=end, duration=None, error=_said(fetch.error, asker)
        )
        if not _told_by_wire(timed, wire):
            asker.fetches.append(timed)
    for search in read.searches:
        timed_search = msgspec.structs.replace(
            search, start=start, end=end, error=_said(search.error, asker)
        )
        if not _completed_on_wire(timed_search, wire):
            asker.searches.append(timed_search)


def _said(error: str | None, asker: SpanFacts) -> str | None:
    """Drop the model call's own error, which the tool did not make."""
    return None if error == asker.error else error


def _told_by_wire(fetch: Fetch, wire: list[SpanFacts]) -> bool:
    """Give the page to the HTTP span of the same URL in the same pause, where there is one."""
    for fact in wire:
        for index, seen in enumerate(fact.fetches):
            inside = fetch.start <= seen.start <= fetch.end
            if inside and url_key(seen.url) == url_key(fetch.url) and seen.page is None:
                fact.fetches[index] = msgspec.structs.replace(seen, page=fetch.page)
                return True
    return False


def _completed_on_wire(search: Search, wire: list[SpanFacts]) -> bool:
    """Give the results to the HTTP span of the same query, where there is one."""
    for fact in wire:
        for index, seen in enumerate(fact.searches):
            if seen.query == search.query and seen.results is None:
                fact.searches[index] = msgspec.structs.replace(
                    seen, results=search.results, unread_reason=search.unread_reason
                )
                return True
    return False
