"""Model calls and runs by the GenAI conventions: what several dialects read in the same way."""

from seekwatch.core.otlp.view import LogView
from seekwatch.processors.dialects.base import SpanFacts, cleaned
from seekwatch.processors.spans.cleaning import Cleaner
from seekwatch.processors.spans.genai_content import read_input, read_output
from seekwatch.processors.spans.generations import read_generation
from seekwatch.processors.spans.hosted_search import annotated_citations, hosted_searches
from seekwatch.processors.spans.messages import final_text, user_question


def read_model_call(facts: SpanFacts, logs: list[LogView], cleaner: Cleaner) -> None:
    """Read a model call into its facts: usage, what it said, what its provider searched."""
    span = facts.view
    output = read_output(span, logs)
    facts.generations.append(read_generation(span, cleaner))
    facts.answer = cleaned(facts, output.key, final_text(output.messages), cleaner)
    facts.asked_for_tools = any(message.waits_for_tools for message in output.messages)
    facts.searches.extend(hosted_searches(span, output.key, output.messages, cleaner))
    facts.citations = annotated_citations(output.messages, cleaner)
    facts.sent = lambda: read_input(span, logs)


def read_run_texts(facts: SpanFacts, logs: list[LogView], cleaner: Cleaner) -> None:
    """Read what an agent or workflow was asked and answered."""
    asked, told = read_input(facts.view, logs), read_output(facts.view, logs)
    facts.question = cleaned(facts, asked.key, user_question(asked.messages), cleaner)
    facts.answer = cleaned(facts, told.key, final_text(told.messages), cleaner)
