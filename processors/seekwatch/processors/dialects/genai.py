"""OpenTelemetry GenAI spans, by `gen_ai.operation.name`; content on the span, in logs or events."""

from typing import Any, Final

from seekwatch.core import attributes as names
from seekwatch.core.model import Provenance, Search
from seekwatch.core.otlp.view import LogView, SpanView
from seekwatch.processors.answers.structured_citations import read_citations
from seekwatch.processors.dialects.base import Role, SpanFacts, cleaned, error_of
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.documents import extract_documents
from seekwatch.processors.spans.genai_calls import read_model_call, read_run_texts
from seekwatch.processors.spans.tools import ToolCall, read_tool

_ROLES: Final = {
    "chat": Role.LLM,
    "text_completion": Role.LLM,
    "generate_content": Role.LLM,
    "retrieval": Role.RETRIEVER,
    "execute_tool": Role.TOOL,
    "invoke_agent": Role.AGENT,
    "invoke_workflow": Role.WORKFLOW,
    "plan": Role.CHAIN,
    "execute_task": Role.CHAIN,
    "execute_event_loop_cycle": Role.CHAIN,
    "chain": Role.CHAIN,
    "embeddings": Role.EMBEDDING,
}
"""`create_agent` is no run and has no role."""


class GenAi:
    """Spans of the GenAI conventions, from 1.27 on."""

    name = "genai"

    def claims(self, span: SpanView) -> bool:
        """Tell by the operation; some old spans name only the tool or the model."""
        return (
            names.OPERATION_NAME in span
            or names.GENAI_TOOL_NAME in span
            or names.REQUEST_MODEL in span
        )

    def read(self, span: SpanView, logs: list[LogView], cleaner: Cleaner) -> SpanFacts:
        """Read a span."""
        facts = SpanFacts(
            span,
            self.name,
            _role(span),
            error=error_of(span, cleaner),
            session=cleaner.name(span.text(names.CONVERSATION_ID) or span.text(names.SESSION_ID)),
            user=span.text(names.USER_ID),
        )
        if facts.role is Role.LLM:
            read_model_call(facts, logs, cleaner)
        elif facts.role in (Role.AGENT, Role.WORKFLOW):
            _read_run(facts, logs, cleaner)
        elif facts.role is Role.RETRIEVER:
            facts.searches.append(_search(span, cleaner))
        elif facts.role is Role.TOOL:
            read_tool(facts, _tool_call(span, logs), cleaner)
        return facts


def _role(span: SpanView) -> Role:
    operation = span.text(names.OPERATION_NAME)
    if operation is not None:
        return _ROLES.get(operation, Role.OTHER)
    return Role.TOOL if names.GENAI_TOOL_NAME in span else Role.LLM


def _read_run(facts: SpanFacts, logs: list[LogView], cleaner: Cleaner) -> None:
    span = facts.view
    facts.agent = cleaner.name(span.text(names.AGENT_NAME))
    read_run_texts(facts, logs, cleaner)
    question, answer = span.text(names.QUESTION), span.text(names.ANSWER)
    if question:
        facts.question = cleaned(facts, names.QUESTION, question, cleaner)
    if answer:
        facts.answer = cleaned(facts, names.ANSWER, answer, cleaner)
        facts.explicit_answer = True
    facts.citations = read_citations(span, facts.answer, cleaner)


def _search(span: SpanView, cleaner: Cleaner) -> Search:
    query = span.text(names.RETRIEVAL_QUERY_TEXT)
    documents = span.get(names.GENAI_RETRIEVAL_DOCUMENTS)
    results = None
    if documents is not None:
        results = extract_documents(documents, cleaner, span.end, markdown=False)
    return Search(
        span=span.span_id,
        start=span.start,
        end=span.end,
        query=cleaner.optional(query),
        provider=cleaner.name(span.text(names.DATA_SOURCE_ID) or span.text(names.PROVIDER_NAME)),
        results=results,
        error=error_of(span, cleaner),
        provenance=(
            None if query is None else Provenance(span=span.span_id, key=names.RETRIEVAL_QUERY_TEXT)
        ),
    )


def _tool_call(span: SpanView, logs: list[LogView]) -> ToolCall:
    arguments: Any = span.get(names.TOOL_CALL_ARGUMENTS)
    result: Any = span.get(names.TOOL_CALL_RESULT)
    for log in logs:
        arguments = arguments if arguments is not None else log.get(names.TOOL_CALL_ARGUMENTS)
        result = result if result is not None else log.get(names.TOOL_CALL_RESULT)
    if arguments is None and result is None:
        arguments, result = _from_events(span)
    return ToolCall(
        name=span.text(names.GENAI_TOOL_NAME) or span.name,
        arguments=arguments,
        result=result,
        argument_key=names.TOOL_CALL_ARGUMENTS,
        result_key=names.TOOL_CALL_RESULT,
    )


def _from_events(span: SpanView) -> tuple[Any, Any]:
    """Read a tool call out of span events (the conventions before 1.37)."""
    arguments: Any = None
    result: Any = None
    for event in span.events():
        if event.name == "gen_ai.tool.message":
            arguments = event.attributes.get("content")
        elif event.name == "gen_ai.choice":
            result = event.attributes.get("message")
    return arguments, result
