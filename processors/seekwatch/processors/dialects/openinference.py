"""OpenInference spans, by `openinference.span.kind`, from any instrumentor or by hand."""

from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.model import Generation, Provenance, RailResult, Search
from seekwatch.core.otlp.view import LogView, SpanView
from seekwatch.processors.answers.structured_citations import read_citations
from seekwatch.processors.dialects.base import Role, SpanFacts, cleaned, error_of
from seekwatch.processors.spans.asked_and_told import asked_text, told_text
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import extract_documents, flattened_documents
from seekwatch.processors.spans.genai_content import Content
from seekwatch.processors.spans.generations import count, finish_reasons
from seekwatch.processors.spans.hosted_search import (
    annotated_citations,
    hosted_searches,
    response_messages,
)
from seekwatch.processors.spans.messages import Message, final_text, settled
from seekwatch.processors.spans.tools import ToolCall, query_argument, read_tool
from seekwatch.processors.spans.values import as_text, opened

_ROLES: Final = {
    "AGENT": Role.AGENT,
    "CHAIN": Role.CHAIN,
    "PROMPT": Role.CHAIN,
    "LLM": Role.LLM,
    "RETRIEVER": Role.RETRIEVER,
    "TOOL": Role.TOOL,
    "EMBEDDING": Role.EMBEDDING,
    "RERANKER": Role.RERANKER,
    "GUARDRAIL": Role.GUARDRAIL,
    "EVALUATOR": Role.EVALUATOR,
}
_PREPARING: Final = "._prepare_chat_with_tools"
"""LlamaIndex's step before a model call, which its instrumentor marks as one."""
_REDACTED: Final = "__REDACTED__"
"""What OpenInference writes in place of content that the user hides."""

_INPUT_MESSAGES: Final = "llm.input_messages"
_OUTPUT_MESSAGES: Final = "llm.output_messages"
_MAX_MESSAGES: Final = 500
_MAX_PARTS: Final = 100


class OpenInference:
    """Spans of the OpenInference conventions."""

    name = "openinference"

    def claims(self, span: SpanView) -> bool:
        """Tell by the one attribute that every such span has."""
        return names.SPAN_KIND in span

    def read(self, span: SpanView, logs: list[LogView], cleaner: Cleaner) -> SpanFacts:
        """Read a span."""
        kind = (span.text(names.SPAN_KIND) or "").upper()
        role = _ROLES.get(kind, Role.OTHER)
        if role is Role.LLM and span.name.endswith(_PREPARING):
            role = Role.OTHER
        facts = SpanFacts(
            span,
            self.name,
            role,
            error=error_of(span, cleaner),
            session=cleaner.name(span.text(names.SESSION_ID) or span.text(names.CONVERSATION_ID)),
            user=span.text(names.USER_ID),
            withheld=_content(span, names.INPUT_VALUE) is None
            and span.text(names.INPUT_VALUE) == _REDACTED,
        )
        _READERS.get(facts.role, _read_nothing)(facts, cleaner)
        return facts


def _read_nothing(facts: SpanFacts, cleaner: Cleaner) -> None:
    """Embeddings and rerankers are work of no axis."""


def _read_run(facts: SpanFacts, cleaner: Cleaner) -> None:
    span = facts.view
    facts.agent = cleaner.name(span.text("agent.name") or span.text(names.AGENT_NAME))
    if span.text(names.QUESTION):
        facts.question = cleaned(facts, names.QUESTION, span.text(names.QUESTION), cleaner)
    else:
        asked = asked_text(_content(span, names.INPUT_VALUE))
        facts.question = cleaned(facts, names.INPUT_VALUE, asked, cleaner)
    if span.text(names.ANSWER):
        facts.answer = cleaned(facts, names.ANSWER, span.text(names.ANSWER), cleaner)
        facts.explicit_answer = True
    else:
        told = told_text(_content(span, names.OUTPUT_VALUE))
        facts.answer = cleaned(facts, names.OUTPUT_VALUE, told, cleaner)
    facts.citations = read_citations(span, facts.answer, cleaner)


def _read_model(facts: SpanFacts, cleaner: Cleaner) -> None:
    span = facts.view
    facts.generations.append(_generation(span, cleaner))
    output = _flat_messages(span, _OUTPUT_MESSAGES)
    response = response_messages(opened(_content(span, names.OUTPUT_VALUE)))
    told = final_text(output) if output else final_text(response)
    facts.asked_for_tools = any(message.waits_for_tools for message in (output or response))
    if told is None and not facts.asked_for_tools:
        told = final_text(response)
    facts.answer = cleaned(facts, _OUTPUT_MESSAGES, told, cleaner)
    facts.sent = lambda: Content(_flat_messages(span, _INPUT_MESSAGES), _INPUT_MESSAGES)
    facts.searches.extend(hosted_searches(span, names.OUTPUT_VALUE, response, cleaner))
    facts.citations = annotated_citations(response, cleaner)
    if facts.searches:
        # The provider's own calls are no tools that the agent still has to run.
        facts.asked_for_tools = any(message.waits_for_tools for message in response)
        if facts.answer is None and not facts.asked_for_tools:
            facts.answer = cleaned(facts, names.OUTPUT_VALUE, final_text(response), cleaner)


def _generation(span: SpanView, cleaner: Cleaner) -> Generation:
    return Generation(
        span=span.span_id,
        start=span.start,
        end=span.end,
        model=cleaner.name(span.text("llm.model_name") or span.text("llm.request.model_name")),
        provider=cleaner.name(span.text("llm.provider") or span.text("llm.system")),
        input_tokens=count(span, "llm.token_count.prompt"),
        output_tokens=count(span, "llm.token_count.completion"),
        cached_input_tokens=count(span, "llm.token_count.prompt_details.cache_read"),
        reasoning_tokens=count(span, "llm.token_count.completion_details.reasoning"),
        cost=span.number("llm.cost.total"),
        finish_reasons=finish_reasons(span.get("llm.finish_reason"), cleaner),
        time_to_first_token=span.number(names.TIME_TO_FIRST_CHUNK),
        error=error_of(span, cleaner),
    )


def _read_retriever(facts: SpanFacts, cleaner: Cleaner) -> None:
    span = facts.view
    query = query_argument(_content(span, names.INPUT_VALUE))
    results = flattened_documents(span, names.RETRIEVAL_DOCUMENTS, cleaner, span.end)
    output = _content(span, names.OUTPUT_VALUE)
    if results is None and output is not None:
        results = extract_documents(output, cleaner, span.end)
    facts.searches.append(
        Search(
            span=span.span_id,
            start=span.start,
            end=span.end,
            query=cleaner.optional(query),
            provider=cleaner.name(span.name),
            results=results,
            error=facts.error,
            provenance=(
                None if query is None else Provenance(span=span.span_id, key=names.INPUT_VALUE)
            ),
        )
    )


def _read_tool(facts: SpanFacts, cleaner: Cleaner) -> None:
    span = facts.view
    name = span.text(names.TOOL_NAME) or span.text(names.GENAI_TOOL_NAME) or span.name
    arguments = _content(span, names.INPUT_VALUE)
    if arguments is None:
        # Agno puts the actual arguments where others put the schema.
        arguments = span.get("tool.parameters")
    call = ToolCall(
        name=name,
        arguments=arguments,
        result=_content(span, names.OUTPUT_VALUE),
        argument_key=names.INPUT_VALUE,
        result_key=names.OUTPUT_VALUE,
    )
    read_tool(facts, call, cleaner)


def _read_rail(facts: SpanFacts, cleaner: Cleaner) -> None:
    span = facts.view
    label = span.text("evaluation.label") or span.text(names.EVALUATION_LABEL)
    score = span.number("evaluation.score")
    facts.rails.append(
        RailResult(
            span=span.span_id,
            name=cleaner.name(span.text("evaluation.name") or span.name) or "rail",
            label=cleaner.name(label or _short(_content(span, names.OUTPUT_VALUE))),
            score=score if score is not None else span.number(names.EVALUATION_SCORE),
        )
    )


_READERS: Final = {
    Role.AGENT: _read_run,
    Role.CHAIN: _read_run,
    Role.LLM: _read_model,
    Role.RETRIEVER: _read_retriever,
    Role.TOOL: _read_tool,
    Role.GUARDRAIL: _read_rail,
    Role.EVALUATOR: _read_rail,
}


def _content(span: SpanView, key: str) -> Any:
    """Return a content attribute; one that the user hides reads as not sent."""
    value = span.get(key)
    return None if value == _REDACTED else value


def _short(value: Any) -> str | None:
    text = as_text(value)
    return text if text is not None and len(text) <= 40 else None


def _flat_messages(span: SpanView, prefix: str) -> list[Message]:
    """Rebuild messages from `<prefix>.N.message.*`, by look-ups in order of N."""
    messages: list[Message] = []
    for index in range(_MAX_MESSAGES):
        base = f"{prefix}.{index}.message."
        role = span.text(base + "role")
        text = _flat_text(span, base)
        calls = _flat_calls(span, base)
        if role is None and text is None and not calls:
            if index == 0:
                # Kept free for instructions by an instrumentor that found none.
                continue
            break
        message = Message(role=role or "", text=None if text == _REDACTED else text)
        message.tool_calls.extend(calls)
        if role == "tool":
            call_id = span.text(base + "tool_call_id")
            message.tool_results.append({"id": call_id, "response": message.text})
        messages.append(settled(message))
    return messages


def _flat_calls(span: SpanView, base: str) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []
    for index in range(_MAX_PARTS):
        key = f"{base}tool_calls.{index}.tool_call."
        name = span.text(key + "function.name")
        if name is None:
            break
        arguments = span.text(key + "function.arguments")
        calls.append({"id": span.text(key + "id"), "name": name, "arguments": arguments})
    if not calls and (name := span.text(base + "function_call_name")) is not None:
        calls.append({"name": name})
    return calls


def _flat_text(span: SpanView, base: str) -> str | None:
    text = span.text(base + "content")
    if text:
        return text
    parts: list[str] = []
    for index in range(_MAX_PARTS):
        key = f"{base}contents.{index}.message_content."
        part = span.text(key + "text")
        if part is not None:
            parts.append(part)
        elif key + "type" not in span:
            break
    return "".join(parts) or None
