"""Searches that the model's provider ran itself: no tool span, no HTTP span, only message parts."""

from typing import Any, Final

from seekwatch.core.model import Citation, Provenance, Search
from seekwatch.core.otlp.view import SpanView
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import extract_documents
from seekwatch.processors.spans.messages import Message, read_message
from seekwatch.processors.spans.tools import query_argument
from seekwatch.processors.spans.values import as_count, as_list, as_mapping, as_text, first_text
from seekwatch.processors.urls import is_web_url

HOSTED: Final = "hosted"
NOT_TOLD: Final = "not-told"
"""The provider does not say what it found."""
_PAGE_ACTIONS: Final = ("open_page", "find_in_page")
"""What a call of OpenAI's search tool may do instead: look at a page that was found."""


def hosted_searches(
    span: SpanView, key: str, messages: list[Message], cleaner: Cleaner
) -> list[Search]:
    """Return the searches that stand in a model's output messages."""
    found: list[Search] = []
    for message in messages:
        for index, call in enumerate(message.server_calls):
            answer = _answer(message, index, call)
            search = _search(span, key, call, answer, cleaner)
            if search is not None:
                found.append(search)
    return found


def _answer(message: Message, index: int, call: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a call: by its id, else, where results have none, by its place."""
    identity = as_text(call.get("id"))
    for result in message.server_results:
        if identity is not None and identity in (result.get("id"), result.get("tool_use_id")):
            return result
    placed = message.server_results[index] if index < len(message.server_results) else {}
    named = as_text(placed.get("id")) or as_text(placed.get("tool_use_id"))
    return placed if placed and named is None else None


def _search(
    span: SpanView, key: str, call: dict[str, Any], answer: dict[str, Any] | None, cleaner: Cleaner
) -> Search | None:
    inner = as_mapping(call.get("server_tool_call")) or call
    action = as_mapping(inner.get("action")) or as_mapping(inner.get("input")) or inner
    name = first_text(call, ("name", "type")) or ""
    query = query_argument({k: action[k] for k in ("query", "queries") if action.get(k)})
    if query is None and ("search" not in name or action.get("type") in _PAGE_ACTIONS):
        return None
    results = None
    if answer is not None:
        found = answer.get("server_tool_call_response") or answer
        results = extract_documents(found, cleaner, span.end, markdown=False)
    if results is None and action.get("sources"):
        results = extract_documents(action["sources"], cleaner, span.end, markdown=False)
    return Search(
        span=span.span_id,
        start=span.start,
        end=span.end,
        query=cleaner.optional(query),
        provider=HOSTED,
        results=results,
        unread_reason=NOT_TOLD if results is None else None,
        provenance=None if query is None else Provenance(span=span.span_id, key=key),
    )


def annotated_citations(messages: list[Message], cleaner: Cleaner) -> tuple[Citation, ...] | None:
    """Return the structured citations of the last message that has some."""
    for message in reversed(messages):
        found = [
            citation
            for item in message.annotations
            if (citation := _citation(as_mapping(item), cleaner)) is not None
        ]
        if found:
            return tuple(found)
    return None


def _citation(annotation: dict[str, Any], cleaner: Cleaner) -> Citation | None:
    fields = as_mapping(annotation.get("url_citation")) or annotation
    url = as_text(fields.get("url"))
    if url is None or not is_web_url(url):
        return None
    start, end = as_count(fields.get("start_index")), as_count(fields.get("end_index"))
    placed = start is not None and end is not None and start <= end
    return Citation(
        url=cleaner.url(url),
        title=cleaner.optional(as_text(fields.get("title")), 1_000),
        quote=cleaner.optional(as_text(fields.get("cited_text")), 10_000),
        start=start if placed else None,
        end=end if placed else None,
    )


def response_messages(response: Any) -> list[Message]:
    """Read a provider's own response body (OpenAI chat and responses, Anthropic) as messages."""
    items = as_list(response)
    if items:
        return [message for item in items[:50] for message in response_messages(item)]
    fields = as_mapping(response)
    choices = as_list(fields.get("choices"))
    if choices:
        return [
            read_message(as_mapping(as_mapping(c).get("message")), "assistant") for c in choices
        ]
    output = as_list(fields.get("output"))
    parts: list[Any] = list(as_list(fields.get("content")))
    for item in output:
        kind = as_mapping(item).get("type")
        parts.extend(as_list(as_mapping(item).get("content")) if kind == "message" else [item])
    return [read_message({"role": "assistant", "content": parts})] if parts else []
