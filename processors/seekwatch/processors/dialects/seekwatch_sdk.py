"""Spans of our own SDK, by the names in `core/attributes.py`: the contract both sides read."""

from typing import Final

from seekwatch.core import attributes as names
from seekwatch.core.model import (
    Action,
    Adapter,
    CacheState,
    Fetch,
    Hop,
    Page,
    Provenance,
    RailResult,
    Search,
    Validators,
)
from seekwatch.core.otlp.view import LogView, SpanView
from seekwatch.processors.answers.structured_citations import read_citations
from seekwatch.processors.dialects.base import Role, SpanFacts, cleaned, error_of
from seekwatch.processors.pages.reader import Body, page_reader
from seekwatch.processors.spans.actions import action_of
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import extract_documents, flattened_documents
from seekwatch.processors.spans.genai_calls import read_model_call
from seekwatch.processors.spans.headers import read_validators
from seekwatch.processors.spans.moments import parse_moment
from seekwatch.processors.spans.tools import ToolCall, read_tool
from seekwatch.processors.spans.values import as_count, as_list, as_mapping, as_text, open_json

SCOPE: Final = "seekwatch.sdk"

_ROLES: Final = {
    names.KIND_AGENT: Role.AGENT,
    names.KIND_CHAIN: Role.CHAIN,
    names.KIND_EVALUATOR: Role.EVALUATOR,
    names.KIND_GUARDRAIL: Role.GUARDRAIL,
    names.KIND_LLM: Role.LLM,
    names.KIND_RETRIEVER: Role.RETRIEVER,
    names.KIND_TOOL: Role.TOOL,
}
_MAX_HOPS: Final = 50


class SeekwatchSdk:
    """Our own spans."""

    name = "seekwatch"

    def claims(self, span: SpanView) -> bool:
        """Tell by the scope; a span that another tool re-exported keeps our keys."""
        return (
            (span.scope_name == SCOPE and names.SPAN_KIND in span)
            or names.FETCH_ADAPTER in span
            or names.SEARCH_PROVIDER in span
            or (names.ANSWER in span and names.QUESTION in span)
        )

    def read(self, span: SpanView, logs: list[LogView], cleaner: Cleaner) -> SpanFacts:
        """Read one of our spans."""
        role = _ROLES.get(span.text(names.SPAN_KIND) or "", Role.OTHER)
        facts = SpanFacts(
            span,
            self.name,
            role,
            authoritative=True,
            error=error_of(span, cleaner),
            agent=cleaner.name(span.text(names.AGENT_NAME)),
            session=cleaner.name(span.text(names.SESSION_ID) or span.text(names.CONVERSATION_ID)),
            user=span.text(names.USER_ID),
            withheld=span.flag(names.CONTENT_WITHHELD) is True,
        )
        if role is Role.AGENT:
            _read_run(facts, cleaner)
        elif role is Role.RETRIEVER:
            facts.searches.append(_search(span, cleaner))
        elif role is Role.LLM:
            read_model_call(facts, logs, cleaner)
        elif role in (Role.GUARDRAIL, Role.EVALUATOR):
            facts.rails.append(_rail(span, cleaner))
        elif role is Role.TOOL and names.URL_FULL in span:
            facts.fetches.append(_fetch(span, cleaner))
        elif role is Role.TOOL:
            _read_decorated_tool(facts, cleaner)
        return facts


def _read_run(facts: SpanFacts, cleaner: Cleaner) -> None:
    span = facts.view
    facts.question = cleaned(facts, names.QUESTION, span.text(names.QUESTION), cleaner) or cleaned(
        facts, names.INPUT_VALUE, span.text(names.INPUT_VALUE), cleaner
    )
    facts.answer = cleaned(facts, names.ANSWER, span.text(names.ANSWER), cleaner)
    facts.explicit_answer = facts.answer is not None
    if facts.answer is None:
        facts.answer = cleaned(facts, names.OUTPUT_VALUE, span.text(names.OUTPUT_VALUE), cleaner)
    facts.citations = read_citations(span, facts.answer, cleaner)


def _read_decorated_tool(facts: SpanFacts, cleaner: Cleaner) -> None:
    """Read a function that the agent marked as a tool: it tells of a request, it is none."""
    span = facts.view
    facts.authoritative = False
    call = ToolCall(
        name=span.text(names.GENAI_TOOL_NAME) or span.text(names.TOOL_NAME) or span.name,
        arguments=span.get(names.TOOL_CALL_ARGUMENTS),
        result=span.get(names.TOOL_CALL_RESULT),
        argument_key=names.TOOL_CALL_ARGUMENTS,
        result_key=names.TOOL_CALL_RESULT,
    )
    read_tool(facts, call, cleaner)


def _search(span: SpanView, cleaner: Cleaner) -> Search:
    query_key = names.SEARCH_QUERY if names.SEARCH_QUERY in span else names.RETRIEVAL_QUERY_TEXT
    query = span.text(query_key)
    unread = span.text(names.SEARCH_UNREAD)
    carrier = span.text(names.GENAI_RETRIEVAL_DOCUMENTS)
    results = None
    if carrier is not None:
        results = extract_documents(carrier, cleaner, span.end)
    if results is None:
        results = flattened_documents(span, names.RETRIEVAL_DOCUMENTS, cleaner, span.end)
    if results is None and span.integer(names.SEARCH_RESULT_COUNT) == 0:
        results = ()
    return Search(
        span=span.span_id,
        start=span.start,
        end=span.end,
        query=cleaner.optional(query),
        provider=cleaner.name(span.text(names.SEARCH_PROVIDER) or span.text(names.DATA_SOURCE_ID)),
        results=results,
        unread_reason=cleaner.name(unread),
        error=error_of(span, cleaner),
        provenance=None if query is None else Provenance(span=span.span_id, key=query_key),
    )


def _fetch(span: SpanView, cleaner: Cleaner) -> Fetch:
    retrieved_at = parse_moment(span.get(names.RETRIEVED_AT))
    final_url = span.text(names.FETCH_FINAL_URL)
    duration = span.number(names.HTTP_DURATION)
    validators = read_validators(span, cleaner)
    status = span.integer(names.HTTP_STATUS)
    adapter = _adapter(span)
    return Fetch(
        span=span.span_id,
        start=span.start,
        end=span.end,
        adapter=adapter,
        url=cleaner.url(span.text(names.URL_FULL) or ""),
        method=(cleaner.name(span.text(names.HTTP_METHOD)) or "GET").upper(),
        final_url=None if final_url is None else cleaner.url(final_url),
        hops=_hops(span, cleaner),
        status=status,
        duration=duration if duration is not None else max(0, span.end - span.start) / 1e9,
        error=error_of(span, cleaner),
        validators=validators,
        cache_state=_cache_state(span, adapter, status, validators),
        cache_scope=cleaner.name(span.text(names.FETCH_CACHE_SCOPE)),
        attempt=max(1, span.integer(names.FETCH_ATTEMPT) or 1),
        crawl_depth=span.integer(names.FETCH_CRAWL_DEPTH),
        page_load=cleaner.name(span.text(names.FETCH_PAGE_LOAD)),
        action=_action(span, adapter),
        page=_page(
            span,
            retrieved_at or span.end,
            None if validators is None else validators.last_modified,
            cleaner,
        ),
        retrieved_at=retrieved_at,
    )


def _adapter(span: SpanView) -> Adapter:
    if span.flag(names.FETCH_FROM_CACHE):
        return Adapter.CACHE
    try:
        return Adapter(span.text(names.FETCH_ADAPTER) or "")
    except ValueError:
        return Adapter.FETCH


def _action(span: SpanView, adapter: Adapter) -> Action:
    try:
        return Action(span.text(names.FETCH_ACTION) or "")
    except ValueError:
        return action_of(span.text(names.HTTP_METHOD), adapter)


def _cache_state(
    span: SpanView, adapter: Adapter, status: int | None, validators: Validators | None
) -> CacheState | None:
    if adapter is not Adapter.CACHE:
        return CacheState.REVALIDATED if status == 304 else None
    if status == 304:
        return CacheState.REVALIDATED
    return CacheState.STALE if _past_freshness(span, validators) else CacheState.HIT


def _past_freshness(span: SpanView, validators: Validators | None) -> bool:
    """Tell whether a cached response was older than its own `max-age` (RFC 9111, section 4.2)."""
    if validators is None or validators.age is None or validators.cache_control is None:
        return False
    for directive in validators.cache_control.lower().split(","):
        name, _, seconds = directive.strip().partition("=")
        if name == "max-age":
            limit, age = as_count(seconds.strip('"')), as_count(validators.age)
            return limit is not None and age is not None and age > limit
    return False


def _hops(span: SpanView, cleaner: Cleaner) -> tuple[Hop, ...]:
    raw = span.text(names.FETCH_HOPS)
    hops: list[Hop] = []
    for item in as_list(open_json(raw) if raw else None)[:_MAX_HOPS]:
        fields = as_mapping(item)
        url, status = as_text(fields.get("url")), as_count(fields.get("status"))
        if url is None or status is None:
            continue
        location = as_text(fields.get("location"))
        hops.append(
            Hop(
                url=cleaner.url(url),
                status=status,
                location=None if location is None else cleaner.url(location),
            )
        )
    return tuple(hops)


def _page(
    span: SpanView, retrieved_at: int, last_modified: str | None, cleaner: Cleaner
) -> Page | None:
    content_type = span.text(names.CONTENT_TYPE)
    content_hash = span.text(names.CONTENT_HASH)
    packed = span.text(names.CONTENT_BODY)
    if content_hash is None and packed is None and names.CONTENT_OMITTED not in span:
        return None
    body = Body(
        packed=packed,
        encoding=span.text(names.CONTENT_ENCODING),
        content_type=cleaner.name(content_type),
        url=span.text(names.FETCH_FINAL_URL) or span.text(names.URL_FULL),
    )
    return page_reader(cleaner.redactor).page(
        body,
        retrieved_at=retrieved_at,
        content_hash=cleaner.name(content_hash),
        byte_count=span.integer(names.RESPONSE_BODY_SIZE),
        truncated=span.flag(names.CONTENT_TRUNCATED) is True,
        last_modified=last_modified,
    )


def _rail(span: SpanView, cleaner: Cleaner) -> RailResult:
    return RailResult(
        span=span.span_id,
        name=cleaner.name(span.text(names.EVALUATION_NAME) or span.name) or "rail",
        label=cleaner.name(span.text(names.EVALUATION_LABEL)),
        score=span.number(names.EVALUATION_SCORE),
    )
